// The page: reads the document that it carries and puts the parts together.

import "./style.css";
import { Cuts } from "./cut";
import { DiagramView } from "./diagramview";
import { button, h, saved } from "./dom";
import { dotOf, dotOfRun } from "./dot";
import { layoutOf } from "./layout";
import { LatticeView, SliceView } from "./lattice";
import { kept, restore, restorePlace, whenReleased } from "./keep";
import { Live, type Answer } from "./live";
import { propertiesOf, readDocument, Run, type PictureDocument } from "./model";
import { AtCut, Chosen, Explained, filters, Player, PropertyList } from "./panels";
import { found } from "./search";
import type { Stage } from "./stage";
import { State } from "./state";
import { toggleTheme } from "./theme";
import { GraphView, StackView, TreeView, type Operate } from "./trees";

interface View {
  name: string;
  title: string;
  element: HTMLElement;
  stage: Stage | null;
}

const KEYS: [string, string][] = [
  ["/", "search"], ["space", "play or pause"], ["n  p", "one step on, one step back"], ["m", "to the moment that decides"],
  ["← → ↑ ↓", "choose an event (in the diagram), move a drawing, go to the next node (on a node: Tab)"], ["shift ← →", "move the cut of the lane"], ["enter", "the least cut with the chosen event; choose a node"],
  ["+ − 0", "scale, and fit"], ["home end page", "move along the run"], ["1 … 9", "the picture of that number"], ["t", "light or dark"], ["?", "this help"],
];

class Page {
  private readonly state: State;
  private readonly views: View[] = [];
  private readonly tabs: HTMLButtonElement[] = [];
  private readonly middle = h("div", { class: "middle" });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly field = h("input", { type: "search", placeholder: "search events ( / )", "aria-label": "search events", "data-keep": "search" });
  private readonly hits = h("span", { class: "hits" });
  private readonly help: HTMLDialogElement;
  private readonly trouble = h("p", { class: "trouble-text" });
  private readonly alarm = h("div", { class: "trouble", role: "alert", hidden: true }, this.trouble, button("close", "close the message", () => (this.alarm.hidden = true)));
  private readonly body: HTMLElement;
  private readonly trees: TreeView[] = [];
  private asked = 0;
  private diagram: DiagramView | null = null;
  private player: Player | null = null;
  private active = 0;

  constructor(private readonly source: PictureDocument, private readonly live: Live | null, before: Page | null = null) {
    const run = before ? before.state.run : source.trace ? new Run(source.trace) : null;
    const cuts = before ? before.state.cuts : run ? new Cuts(run) : null;
    this.state = new State(source, run, cuts, propertiesOf(source));
    if (before) this.state.follow(before.state);
    this.help = this.makeHelp();
    this.makeViews(source);
    this.body = h("div", { class: "app" }, this.head(source), this.left(source), this.middle, this.right(), this.status, this.alarm, this.help);
    document.title = `${source.title} – possibly`;
    this.state.listen(() => this.tell());
    if (before) return;
    const failing = this.state.properties.findIndex((property) => property.truth === "violated");
    this.choose(failing >= 0 ? failing : null);
    this.place();
    this.show(0);
  }

  private place(): void {
    document.querySelector("#app")!.replaceChildren(this.body);
  }

  /** The page after an answer: new where something is new, else as the person left it. */
  follow(before: Page, path: string): void {
    const isNew = path === "check";
    const name = before.state.chosen()?.name;
    const same = this.state.properties.findIndex((property) => property.name === name);
    if (before.diagram) this.diagram?.follow(before.diagram);
    this.choose(isNew ? 0 : same >= 0 ? same : null);
    if (!isNew && before.player) this.player?.resume(before.player);
    if (!isNew && before.diagram) this.diagram?.follow(before.diagram);
    if (this.source.cut && this.state.cuts) this.state.moveCut(this.source.cut);
    this.views.forEach((view) => {
      const old = before.views.find((each) => each.name === view.name);
      if (old?.stage) view.stage?.follow(old.stage);
    });
    this.trees.forEach((tree, index) => before.trees[index] && tree.follow(before.trees[index]));
    const found = kept(before.roots());
    for (const key of isNew ? ["order", "cuts to mark"] : path === "slice" ? ["predicate"] : []) found.values.delete(key);
    restore(this.roots(), found);
    this.asked = before.asked;
    this.hits.textContent = before.hits.textContent;
    before.state.gone.abort();
    this.place();
    this.showNamed(path === "slice" ? "slice" : isNew ? "diagram" : (before.views[before.active]?.name ?? null));
    restorePlace(this.roots(), found);
    requestAnimationFrame(() => restorePlace(this.roots(), found));
    this.state.changed();
  }

  /** Everything of the page, with the views that are not shown now. */
  private roots(): Element[] {
    return [this.body, ...this.views.filter((view) => !view.element.isConnected || !this.body.contains(view.element)).map((view) => view.element)];
  }

  // ---- parts ------------------------------------------------------------------------------------------

  private makeViews(source: PictureDocument): void {
    const { state } = this;
    const add = (name: string, title: string, element: HTMLElement, stage: Stage | null = null) => this.views.push({ name, title, element, stage });
    const operate: Operate = this.live && ((what, index, action, values) => this.ask("operate", { what, index, action, values }));
    if (state.run) {
      this.diagram = new DiagramView(state.run, state);
      const reveal = (event: number) => this.reveal(event);
      this.player = new Player(state.run, state, (event) => this.diagram!.reveal(event));
      const explained = new Explained(state.run, state, reveal);
      add("diagram", "Run", h("div", { class: "diagram-view" }, this.player.element, this.diagram.element, explained.element));
    }
    if (source.lattice && state.run) {
      const view = new LatticeView(state, source.lattice);
      add("lattice", "Cuts", view.element, view.stage);
    }
    if (source.slices.length && state.run) {
      const view = new SliceView(state, source.slices);
      add("slice", "Slice", view.element, view.stage);
    }
    source.stacks.forEach((stack, index) => {
      const view = new StackView(stack, index, operate);
      add(`stack-${index}`, stack.title || "Stack", view.element, view.stage);
    });
    source.trees.forEach((tree, index) => {
      const view = new TreeView(tree, index, operate);
      this.trees.push(view);
      add(`tree-${index}`, tree.title || "Tree", view.element, view.stage);
    });
    if (source.graphs.length) {
      const view = new GraphView(source.graphs);
      const { title } = source.graphs[0]!;
      add("graphs", source.graphs.length > 1 ? "Graphs" : title.length > 18 ? "Graph" : title, view.element, view.stage);
    }
  }

  private head(source: PictureDocument): HTMLElement {
    this.views.forEach((view, index) => {
      this.tabs.push(h("button", { type: "button", role: "tab", "data-view": view.name, "data-keep": `tab/${view.name}`, click: () => this.show(index) }, view.title));
    });
    this.field.addEventListener("input", () => this.search());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.nextHit(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") (this.field.value = ""), this.search();
    });
    const search = this.state.run ? h("div", { class: "search" }, this.field, this.hits) : null;
    return h("header", {}, h("div", { class: "title" }, h("h1", { title: source.title }, source.title), h("p", {}, source.subtitle)),
      h("nav", { role: "tablist", "aria-label": "pictures" }, ...this.tabs), search,
      h("div", { class: "tools" },
        button("SVG", "save the picture as SVG", () => void this.save("svg"), { "data-save": "svg" }),
        button("PNG", "save the picture as PNG", () => void this.save("png"), { "data-save": "png" }),
        button("DOT", "save the picture as DOT, for Graphviz", () => void this.save("dot"), { "data-save": "dot" }),
        button("◐", "light or dark (t)", () => this.theme(), { class: "theme" }),
        button("?", "help (?)", () => this.help.showModal(), { class: "help" })));
  }

  private left(source: PictureDocument): HTMLElement | null {
    const { run } = this.state;
    if (!run) return null;
    const list = new PropertyList(this.state, (index) => this.choose(index));
    const warnings = source.warnings.map((warning) => h("p", { class: "warning" }, `warning: ${warning}`));
    return h("aside", { class: "left", "data-keep": "left" }, ...warnings, list.element, this.live ? this.asking() : null, filters(run, this.state));
  }

  /** In the live page: another property, another slice. */
  private asking(): HTMLElement {
    const language = h("select", { "aria-label": "language", "data-keep": "language" }, ...["ctl", "ltl", "tl", "expect", "never", "watch", "slice"].map((name) => h("option", {}, name)));
    const formula = h("input", { type: "text", "aria-label": "formula", "data-keep": "formula", placeholder: "AG(!(P1.x & P2.x))" });
    const submit = (event: Event) => {
      event.preventDefault();
      void this.ask(language.value === "slice" ? "slice" : "check", { language: language.value, formula: formula.value });
    };
    return h("form", { class: "ask", submit }, h("h2", {}, "Ask"), language, formula, h("button", { type: "submit", "data-keep": "check" }, "check"));
  }

  private right(): HTMLElement | null {
    const { run } = this.state;
    if (!run) return null;
    return h("aside", { class: "right", "data-keep": "right" }, new Chosen(run, this.state).element, new AtCut(run, this.state).element);
  }

  private makeHelp(): HTMLDialogElement {
    const rows = KEYS.flatMap(([keys, what]) => [h("dt", {}, keys), h("dd", {}, what)]);
    const forms = "Triangles send and receive, diamonds write and read, squares acquire and release, pentagons enter and leave functions, hexagons start and end tasks, circles do anything else. "
      + "Solid arrows are messages, dashed ones other order, thick lines tie joint events. The shaded part lies before the cut; drag a handle to move the cut of a process, with shift to take along what has to come with it, or drag in the ruler to move all of it.";
    return h("dialog", { class: "help-box" }, h("h2", {}, "Keys"), h("dl", { class: "facts" }, ...rows), h("h2", {}, "Signs"), h("p", {}, forms),
      button("close", "close the help", () => this.help.close()));
  }

  // ---- what happens -----------------------------------------------------------------------------------

  private choose(index: number | null): void {
    this.state.property = index;
    this.player?.follow(index);
    this.state.changed();
  }

  show(index: number): void {
    if (index < 0 || index >= this.views.length) return;
    this.active = index;
    this.tabs.forEach((tab, at) => tab.setAttribute("aria-selected", String(at === index)));
    this.middle.replaceChildren(this.views[index]!.element);
  }

  showNamed(name: string | null): void {
    this.show(this.views.findIndex((view) => view.name === name));
  }

  private reveal(event: number): void {
    this.state.selected = event;
    this.state.lane = this.state.run!.process[event]!;
    this.diagram?.reveal(event);
    this.state.changed();
  }

  private search(): void {
    const { state } = this;
    state.hits = found(state.run!, this.field.value);
    state.hit = -1;
    this.hits.textContent = this.field.value.trim() ? `${state.hits.length.toLocaleString("en")} found` : "";
    if (state.hits.length) this.nextHit(1);
    else state.changed();
  }

  private nextHit(by: number): void {
    const { state } = this;
    if (!state.hits.length) return;
    state.hit = (state.hit + by + state.hits.length) % state.hits.length;
    this.hits.textContent = `${(state.hit + 1).toLocaleString("en")} of ${state.hits.length.toLocaleString("en")}`;
    this.reveal(state.hits[state.hit]!);
  }

  private theme(): void {
    toggleTheme();
    document.dispatchEvent(new Event("themechange"));
    this.state.changed();
  }

  private tell(): void {
    const { flash } = this.state;
    const arrows = this.diagram?.diagram.arrows;
    const some = arrows && arrows.drawn < arrows.visible ? `${arrows.drawn.toLocaleString("en")} of ${arrows.visible.toLocaleString("en")} arrows are drawn; scale up to see all.` : "";
    this.status.textContent = flash ? flash.text : this.asked ? "asking …" : some;
    this.status.classList.toggle("refused", flash !== null);
  }

  private async ask(path: string, body: unknown): Promise<void> {
    page!.busy(1);
    try {
      const answer = await this.live!.ask(path, body);
      await new Promise<void>((done) => whenReleased(done));
      redrawn(answer, path);
    } catch (error) {
      page!.warn(error instanceof Error ? error.message : String(error));
    } finally {
      page!.busy(-1);
    }
  }

  private busy(by: number): void {
    this.asked += by;
    this.body.setAttribute("aria-busy", String(this.asked > 0));
    this.tell();
  }

  /** What could not be done stays to be read until it is closed or something succeeds. */
  private warn(text: string): void {
    this.trouble.textContent = text;
    this.alarm.hidden = false;
  }

  after(answer: Answer, path: string): Page {
    const next = new Page({ ...this.source, ...answer }, this.live, this);
    next.follow(this, path);
    return next;
  }

  /** Saves the picture that is shown: of the run what is in sight, of any other all of it. */
  async save(form: "svg" | "png" | "dot"): Promise<void> {
    const view = this.views[this.active]!;
    const { stage } = view;
    const name = `${this.state.source.title.replace(/[^\w.-]+/g, "-").slice(-60)}.${view.name}.${form}`;
    if (form === "svg") {
      saved(name, new Blob([stage ? stage.exported().text : this.diagram!.exportedSvg()], { type: "image/svg+xml" }));
    } else if (form === "dot") {
      const text = stage ? dotOf(view.title, stage.drawn, stage.direction) : dotOfRun(view.title, this.state.run!, this.diagram!.diagram.eventsInSight());
      saved(name, new Blob([text], { type: "text/vnd.graphviz" }));
    } else {
      const image = stage ? await painted(stage.exported()) : await this.diagram!.exportedPng();
      if (image) saved(name, image);
    }
  }

  key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    if (event.key === " " && target.tagName === "BUTTON") return;
    const actions: Record<string, () => void> = {
      "/": () => this.field.focus(),
      " ": () => this.player?.toggle(),
      n: () => this.player?.by(1),
      p: () => this.player?.by(-1),
      m: () => this.player?.toMoment(),
      t: () => this.theme(),
      "?": () => this.help.showModal(),
    };
    const action = /^[1-9]$/.test(event.key) ? () => this.show(Number(event.key) - 1) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** For tests and for the curious. */
  get inside() {
    return { state: this.state, diagram: this.diagram, views: this.views };
  }
}

/** A drawing as an image: the browser paints the SVG. */
async function painted(drawing: { text: string; width: number; height: number }): Promise<Blob | null> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing.text)}`;
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(drawing.width * 2), height: Math.ceil(drawing.height * 2) });
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

let page: Page | null = null;

function open(source: PictureDocument): void {
  page = new Page(source, source.live ? new Live(source.live.token) : null);
}

/** The same page after an answer of the server. */
function redrawn(answer: Answer, path: string): void {
  page = page!.after(answer, path);
}

/** On paper everything is light, and the diagram is as high as its lanes. */
function printing(on: boolean): void {
  document.documentElement.toggleAttribute("data-printing", on);
  page?.inside.diagram?.printed(on);
}

const ready = readDocument(document.querySelector("#document")!.textContent!).then((source) => {
  open(source);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
});

document.addEventListener("keydown", (event) => page?.key(event));
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  document.dispatchEvent(new Event("themechange"));
  page?.inside.state.changed();
});

Object.assign(window, { possibly: { ready, open, page: () => page!.inside, Run, Cuts, layoutOf } });
