// The page: reads the document that it carries and puts the parts together.

import "./style.css";
import { Cuts } from "./cut";
import { DiagramView } from "./diagramview";
import { button, h, saved } from "./dom";
import { layoutOf } from "./layout";
import { LatticeView, SliceView } from "./lattice";
import { Live } from "./live";
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
  ["← → ↑ ↓", "choose an event (in the diagram)"], ["shift ← →", "move the cut of the lane"], ["enter", "the least cut with the chosen event"],
  ["+ − 0", "scale, and fit"], ["home end page", "move along the run"], ["1 … 9", "the picture of that number"], ["t", "light or dark"], ["?", "this help"],
];

class Page {
  private readonly state: State;
  private readonly views: View[] = [];
  private readonly tabs: HTMLButtonElement[] = [];
  private readonly middle = h("div", { class: "middle" });
  private readonly status = h("p", { class: "status", role: "status" });
  private readonly field = h("input", { type: "search", placeholder: "search events ( / )", "aria-label": "search events" });
  private readonly hits = h("span", { class: "hits" });
  private readonly help: HTMLDialogElement;
  private diagram: DiagramView | null = null;
  private player: Player | null = null;
  private active = 0;

  constructor(source: PictureDocument, private readonly live: Live | null, private readonly reopen: (source: PictureDocument, view: string | null) => void) {
    const run = source.trace ? new Run(source.trace) : null;
    const cuts = run ? new Cuts(run) : null;
    this.state = new State(source, run, cuts, propertiesOf(source));
    this.help = this.makeHelp();
    this.makeViews(source);
    const body = h("div", { class: "app" }, this.head(source), this.left(source), this.middle, this.right(), this.status, this.help);
    document.querySelector("#app")!.replaceChildren(body);
    document.title = `${source.title} – possibly`;
    this.state.listen(() => this.tell());
    const failing = this.state.properties.findIndex((property) => property.truth === "violated");
    this.choose(failing >= 0 ? failing : null);
    if (source.cut && cuts) this.state.moveCut(source.cut);
    this.show(0);
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
    source.stacks.forEach((stack, index) => add(`stack-${index}`, stack.title || "Stack", new StackView(stack, index, operate).element));
    source.trees.forEach((tree, index) => {
      const view = new TreeView(tree, index, operate);
      add(`tree-${index}`, tree.title || "Tree", view.element, view.stage);
    });
    if (source.graphs.length) {
      const view = new GraphView(source.graphs);
      add("graphs", source.graphs.length > 1 ? "Graphs" : source.graphs[0]!.title, view.element, view.stage);
    }
  }

  private head(source: PictureDocument): HTMLElement {
    this.views.forEach((view, index) => {
      this.tabs.push(h("button", { type: "button", role: "tab", "data-view": view.name, click: () => this.show(index) }, view.title));
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
        button("◐", "light or dark (t)", () => this.theme(), { class: "theme" }),
        button("?", "help (?)", () => this.help.showModal(), { class: "help" })));
  }

  private left(source: PictureDocument): HTMLElement | null {
    const { run } = this.state;
    if (!run) return null;
    const list = new PropertyList(this.state, (index) => this.choose(index));
    const warnings = source.warnings.map((warning) => h("p", { class: "warning" }, `warning: ${warning}`));
    return h("aside", { class: "left" }, ...warnings, list.element, this.live ? this.asking() : null, filters(run, this.state));
  }

  /** In the live page: another property, another slice. */
  private asking(): HTMLElement {
    const language = h("select", { "aria-label": "language" }, ...["ctl", "ltl", "tl", "expect", "never", "watch", "slice"].map((name) => h("option", {}, name)));
    const formula = h("input", { type: "text", "aria-label": "formula", placeholder: "AG(!(P1.x & P2.x))" });
    const submit = (event: Event) => {
      event.preventDefault();
      void this.ask(language.value === "slice" ? "slice" : "check", { language: language.value, formula: formula.value });
    };
    return h("form", { class: "ask", submit }, h("h2", {}, "Ask"), language, formula, h("button", { type: "submit" }, "check"));
  }

  private right(): HTMLElement | null {
    const { run } = this.state;
    if (!run) return null;
    return h("aside", { class: "right" }, new Chosen(run, this.state).element, new AtCut(run, this.state).element);
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
    this.status.textContent = flash ? flash.text : some;
    this.status.classList.toggle("refused", flash !== null);
  }

  private async ask(path: string, body: unknown): Promise<void> {
    this.status.textContent = "asking …";
    try {
      const source = await this.live!.ask(path, body);
      this.reopen(source, path === "slice" ? "slice" : path === "check" ? "diagram" : (this.views[this.active]?.name ?? null));
    } catch (error) {
      this.status.textContent = error instanceof Error ? error.message : String(error);
      this.status.classList.add("refused");
    }
  }

  async save(form: "svg" | "png"): Promise<void> {
    const view = this.views[this.active]!;
    const name = `${this.state.source.title.replace(/[^\w.-]+/g, "-").slice(-60)}.${view.name}.${form}`;
    if (view.stage === null && view.name !== "diagram") return;
    const isDiagram = view.stage === null;
    if (form === "svg") {
      const text = isDiagram ? this.diagram!.exportedSvg() : view.stage!.exported().text;
      saved(name, new Blob([text], { type: "image/svg+xml" }));
    } else {
      const image = isDiagram ? await this.diagram!.exportedPng() : await painted(view.stage!.exported());
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

function open(source: PictureDocument, view: string | null = null): Page {
  const live = source.live ? new Live(source.live.token) : null;
  page = new Page(source, live, (next, name) => open({ ...next, live: source.live }, name));
  if (view !== null) page.showNamed(view);
  return page;
}

const ready = readDocument(document.querySelector("#document")!.textContent!).then((source) => {
  open(source);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
});

document.addEventListener("keydown", (event) => page?.key(event));
addEventListener("beforeprint", () => page?.inside.diagram?.draw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  document.dispatchEvent(new Event("themechange"));
  page?.inside.state.changed();
});

Object.assign(window, { possibly: { ready, open, page: () => page!.inside, Run, Cuts, layoutOf } });
