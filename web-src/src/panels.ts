// What stands around the picture: the properties, the two orders side by side, the state at the cut, the filters.

import { button, h, LongList } from "./dom";
import { isPressedIn, whenReleased } from "./keep";
import { variableName } from "./strokes";
import { glyphOf, outline } from "./glyphs";
import type { PropertyModel, Run } from "./model";
import type { State } from "./state";
import { colours } from "./theme";
import { describe } from "./words";

const SIGNS: Record<string, string> = { holds: "✓", violated: "✗", unknown: "?", matched: "●", absent: "○" };

const MOST_CARDS = 60;
const MOST_CHECKS = 500;
const counted = (count: number) => `${count.toLocaleString("en")}${count > MOST_CHECKS ? `, the first ${MOST_CHECKS}` : ""}`;

export function badge(truth: string): HTMLElement {
  return h("span", { class: `badge ${truth}` }, `${SIGNS[truth] ?? "?"} ${truth}`);
}

export class PropertyList {
  readonly element: HTMLElement;
  private readonly items: HTMLButtonElement[];

  constructor(private readonly state: State, choose: (index: number | null) => void) {
    this.items = state.properties.map((property, index) =>
      h("button", { type: "button", class: "property", "data-property": property.name, "data-keep": `property/${property.name}`, click: () => choose(state.property === index ? null : index) },
        badge(property.truth), h("span", { class: "name" }, property.name), h("code", {}, property.formula)));
    const empty = h("p", { class: "note" }, "No property was checked. Give some with --spec or --ctl.");
    this.element = h("section", { class: "properties", "aria-label": "properties" }, h("h2", {}, "Properties"), ...(this.items.length ? this.items : [empty]));
    state.listen(() => this.draw());
    this.draw();
  }

  private draw(): void {
    this.items.forEach((item, index) => item.setAttribute("aria-pressed", String(index === this.state.property)));
  }
}

/** Why a property fails: in words, and its order beside the observed one. */
export class Explained {
  readonly element: HTMLElement;
  private readonly words = h("div", { class: "words", "data-keep": "words" });
  private readonly observed = new LongList("the observed order");
  private readonly other = new LongList("the order that decides");
  private readonly orders: HTMLElement;
  private shown: PropertyModel | null = null;
  private step: number | null = null;

  constructor(private readonly run: Run | null, private readonly state: State, private readonly reveal: (event: number) => void) {
    this.orders = h("div", { class: "orders" },
      h("div", {}, h("h3", {}, "Observed order"), this.observed.element),
      h("div", {}, h("h3", { class: "deciding" }, "Deciding order"), this.other.element));
    this.element = h("section", { class: "explained", "aria-label": "explanation", hidden: true }, this.words, this.orders);
    state.listen(() => this.draw());
  }

  private draw(): void {
    const property = this.state.chosen();
    this.element.hidden = property === null;
    if (property === null) {
      this.shown = null;
      return;
    }
    if (property !== this.shown) {
      this.shown = property;
      this.fill(property);
    }
    if (this.state.step !== this.step) {
      this.step = this.state.step;
      this.observed.draw();
      this.other.draw();
      if (this.step !== null && this.step > 0 && this.state.order?.events === property.path) this.other.reveal(this.step - 1);
    }
  }

  private fill(property: PropertyModel): void {
    const title = h("h2", {}, badge(property.truth), " ", property.name);
    const formula = h("p", {}, h("code", {}, `${property.language} ${property.formula}`));
    const parts: HTMLElement[] = [title, formula, ...property.facts.map((fact) => h("p", {}, fact))];
    if (property.summary) parts.push(h("p", {}, property.summary));
    if (property.missing) parts.push(h("p", { class: "missing" }, property.missing.text));
    if (property.atoms.length) {
      parts.push(h("ul", {}, ...property.atoms.map((atom) => {
        const read = atom.operands.filter(([name, value]) => name !== atom.text || value !== String(atom.value));
        const values = read.map(([name, value]) => `${name} = ${value}`).join(", ");
        return h("li", {}, h("code", {}, atom.text), ` is ${atom.value}`, values ? ` (${values})` : "");
      })));
    }
    if (property.state.length) {
      const state = property.state.map(([name, value]) => `${name} = ${value}`).join(", ");
      parts.push(h("p", {}, "State at the end: ", h("code", {}, state)));
    }
    for (const [what, command] of property.commands) {
      parts.push(h("p", { class: "command" }, `${what}: `, h("code", {}, command), " ",
        button("copy", "copy the command", () => void navigator.clipboard?.writeText(command))));
    }
    for (const note of property.notes) parts.push(h("p", { class: "note" }, note));
    this.words.replaceChildren(...parts);
    this.orders.hidden = property.path === null;
    this.element.classList.toggle("wordy", property.path === null);
    const { run } = this;
    if (property.path === null || run === null) return;
    const path = property.path;
    const inPath = new Set(path);
    // An execution that failed is its own failing order: it is shown once, with room for what its steps did.
    const isObserved = path.length === run.count && path.every((event, index) => event === index);
    this.observed.element.parentElement!.hidden = isObserved;
    this.orders.classList.toggle("single", isObserved);
    const deciding = this.orders.querySelector(".deciding")!;
    deciding.textContent = property.truth === "violated" ? "Failing order" : "Order that satisfies it";
    this.observed.show(run.count, (index) => this.row(property, index, index, inPath));
    this.other.show(path.length, (index) => this.row(property, path[index]!, index, null));
    const first = property.missing ? Math.min(property.missing.first, property.missing.second) : path[path.length - 1];
    requestAnimationFrame(() => {
      if (first !== undefined) this.observed.reveal(first);
      this.other.reveal(Math.max(0, (property.moment ?? path.length) - 1));
    });
  }

  private row(property: PropertyModel, event: number, index: number, inside: Set<number> | null): HTMLElement {
    const run = this.run!;
    const { state } = this;
    const classes = ["row"];
    const mark = event === property.missing?.first ? "A" : event === property.missing?.second ? "B" : "";
    if (mark) classes.push("marked");
    if (inside && !inside.has(event)) classes.push("outside");
    if (!inside && index + 1 === (property.moment ?? property.path!.length)) classes.push("decides");
    if (!inside && state.step === index + 1 && state.order?.events === property.path) classes.push("here");
    if (inside && state.cuts!.contains(state.cut, event)) classes.push("done");
    const place = run.text("place", event);
    const what = [run.action(event), assigned(run, event), place === null ? "" : place.slice(place.lastIndexOf("/") + 1)];
    return h("div", { class: classes.join(" "), title: [run.name(event), run.action(event), place].filter(Boolean).join(" "), click: () => this.reveal(event) },
      h("span", { class: "number" }, String(index + 1)),
      h("span", { class: "sign" }, mark),
      h("span", { class: "process" }, run.processes[run.process[event]!]!.name),
      h("span", { class: "event" }, run.shortName(event)),
      h("span", { class: "what" }, what.filter(Boolean).join("  ")));
  }
}

function assigned(run: Run, event: number): string {
  const found: string[] = [];
  for (const what of ["set", "write"] as const) {
    for (const [name, value] of run.entries(what, event)) found.push(`${run.strings[name]} = ${run.values[value]}`);
  }
  return found.join(", ");
}

/** The state at the cut: each process with its neighbouring events and variables. */
export class AtCut {
  readonly element: HTMLElement;
  private readonly body = h("div");
  private waiting = false;

  constructor(private readonly run: Run, private readonly state: State) {
    this.element = h("section", { class: "at-cut", "aria-label": "at the cut" }, h("h2", {}, "At the cut"), this.body);
    state.listen(() => this.soon());
    this.draw();
  }

  private soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      const draw = () => {
        this.waiting = false;
        this.draw();
      };
      if (isPressedIn(this.body)) whenReleased(draw);
      else draw();
    });
  }

  private draw(): void {
    const { run, state } = this;
    const { cuts } = state;
    const all = run.processes.map((_, process) => process).filter((process) => !state.filter.hidden.has(process));
    const shown = all.slice(0, MOST_CARDS);
    const parts = shown.map((process) => this.process(process));
    if (all.length > shown.length) parts.push(h("p", { class: "note" }, `${all.length - shown.length} more processes: hide some to see them here.`));
    const shared = cuts!.timelines.filter((line) => line.owner === null);
    if (shared.length) parts.push(h("section", { class: "process-card" }, h("h3", {}, "shared"), this.variables(shared)));
    const focus = this.body.contains(document.activeElement) ? document.activeElement!.getAttribute("data-keep") : null;
    this.body.replaceChildren(...parts);
    if (focus) this.body.querySelector<HTMLElement>(`[data-keep="${CSS.escape(focus)}"]`)?.focus();
  }

  private process(process: number): HTMLElement {
    const { run, state } = this;
    const { cuts, cut } = state;
    const previous = cuts!.previous(cut, process);
    const next = cuts!.next(cut, process);
    const name = run.processes[process]!.name;
    const move = (by: 1 | -1, event: number | null, sign: string) =>
      button(sign, event === null ? `no event ${by > 0 ? "after" : "before"}` : `${by > 0 ? "execute" : "take back"} ${run.name(event)}`,
        () => state.advance(process, by), { disabled: event === null, "data-keep": `move/${process}/${by}` });
    const events = h("div", { class: "neighbours" },
      move(-1, previous, "◀"),
      h("span", { title: previous === null ? "" : run.action(previous) }, previous === null ? "initial" : run.shortName(previous)),
      h("span", { class: "bar-sign" }, "|"),
      h("span", { title: next === null ? "" : run.action(next) }, next === null ? "done" : run.shortName(next)),
      move(1, next, "▶"));
    const lines = cuts!.timelines.filter((line) => line.owner === process);
    return h("section", { class: "process-card", "data-process": name },
      h("h3", {}, name, h("span", { class: "count" }, `${cut[process]!.toLocaleString("en")} of ${run.chains[process]!.length.toLocaleString("en")}`)), events, lines.length ? this.variables(lines) : null);
  }

  private variables(lines: { owner: number | null; name: string }[]): HTMLElement {
    const { state, run } = this;
    const rows = lines.slice(0, 40).flatMap((line) => {
      const values = state.cuts!.valuesAt(line as never, state.cut);
      const text = values.length ? values.join(" or ") : "–";
      return [h("dt", {}, line.name), h("dd", { "data-variable": variableName(run, line as never) }, text)];
    });
    return h("dl", { class: "facts" }, ...rows);
  }
}

export class Chosen {
  readonly element = h("section", { class: "chosen", "aria-label": "chosen event", "aria-live": "polite" });
  private shown: number | null = -1;

  constructor(private readonly run: Run, private readonly state: State) {
    state.listen(() => this.draw());
    this.draw();
  }

  private draw(): void {
    const { selected } = this.state;
    if (selected === this.shown) return;
    this.shown = selected;
    this.element.hidden = selected === null;
    if (selected !== null) this.element.replaceChildren(h("h2", {}, "Event"), ...describe(this.run, this.state, selected));
  }
}

/** What is shown: processes, kinds, variables as lanes, folding. */
export function filters(run: Run, state: State): HTMLElement {
  const check = (group: string, label: string, isOn: boolean, change: (on: boolean) => void, sign: HTMLElement | null = null) => {
    const box = h("input", { type: "checkbox", checked: isOn, "data-keep": `shown/${group}/${label}` });
    box.addEventListener("change", () => (change(box.checked), state.changed()));
    return h("label", { class: "check" }, box, sign, h("span", {}, label));
  };
  const toggled = <T>(set: Set<T>, value: T, isIn: boolean) => (isIn ? set.add(value) : set.delete(value));
  const processes = run.processes.slice(0, MOST_CHECKS).map((process, number) =>
    check("process", process.name, !state.filter.hidden.has(number), (on) => toggled(state.filter.hidden, number, !on)));
  const kinds = [...new Set(run.kind)].map((kind) =>
    check("kind", run.strings[kind]!, !state.filter.kinds.has(kind), (on) => toggled(state.filter.kinds, kind, !on), sample(run.strings[kind]!, state)));
  const all = state.cuts!.timelines.length;
  const names = state.cuts!.timelines.slice(0, MOST_CHECKS).map((line) => variableName(run, line));
  const lanes = names.map((name) => check("variable", name, state.variables.has(name), (on) => toggled(state.variables, name, on)));
  const only = h("select", { "aria-label": "only events that touch a variable", "data-keep": "touches", change: () => {
    state.filter.variable = only.value || null;
    state.changed();
  } }, h("option", { value: "" }, "every event"), ...names.map((name) => h("option", { value: name }, `touches ${name}`)));
  const fold = check("fold", "fold repeated stretches", state.folded, (on) => (state.folded = on));
  fold.classList.add("fold");
  const group = (title: string, parts: HTMLElement[], open = false) =>
    parts.length ? h("details", { open, "data-keep": `shown/${title}` }, h("summary", { "data-keep": `summary/${title}` }, title), ...parts) : null;
  return h("section", { class: "filters", "aria-label": "what is shown" }, h("h2", {}, "Shown"), fold, only,
    group("Kinds of event", kinds, kinds.length < 9), group(`Processes (${counted(run.processes.length)})`, processes), group(`Variables as lanes (${counted(all)})`, lanes));
}

function sample(kind: string, state: State): HTMLElement {
  const canvas = h("canvas", { width: 36, height: 36, class: "glyph", "aria-hidden": "true" });
  const draw = () => {
    const pen = canvas.getContext("2d")!;
    const ink = colours();
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, 18, 18);
    outline(pen, glyphOf(kind).form, 9, 9, 5);
    pen.fillStyle = glyphOf(kind).filled ? ink.text : ink.paper;
    pen.strokeStyle = ink.text;
    pen.lineWidth = 1.3;
    pen.fill();
    pen.stroke();
  };
  draw();
  document.addEventListener("themechange", draw, { signal: state.gone.signal });
  return canvas;
}

/** The player: the observed run, or the way of a witness, step by step. */
export class Player {
  readonly element: HTMLElement;
  private readonly slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "step of the order", "data-keep": "step" });
  private readonly note = h("span", { class: "step-note", "aria-live": "polite" });
  private readonly choice: HTMLSelectElement;
  private readonly playing: HTMLButtonElement;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly run: Run, private readonly state: State, private readonly reveal: (event: number) => void) {
    const withPath = state.properties.map((property, index) => [property, index] as const).filter(([property]) => property.path);
    this.choice = h("select", { "aria-label": "order to play", "data-keep": "order", change: () => this.choose() },
      h("option", { value: "observed" }, "observed run"),
      ...withPath.map(([property, index]) => h("option", { value: index }, `${property.truth === "violated" ? "failing" : "satisfying"} order of ${property.name}`)));
    this.playing = button("▶", "play (space)", () => this.toggle(), { class: "play" });
    this.slider.addEventListener("input", () => this.goto(Number(this.slider.value)));
    this.element = h("div", { class: "player", role: "toolbar", "aria-label": "player" }, this.choice,
      button("⇤", "to the beginning", () => this.goto(0)), button("←", "one step back (p)", () => this.by(-1)), this.playing,
      button("→", "one step on (n)", () => this.by(1)), button("⇥", "to the end", () => this.goto(this.state.order?.events.length ?? 0)),
      button("⚑", "to the moment that decides (m)", () => this.toMoment(), { class: "moment" }), this.slider, this.note);
    state.listen(() => this.draw());
    state.gone.signal.addEventListener("abort", () => this.stop());
    this.draw();
  }

  /** Shows the property's order, or the observed one. */
  follow(property: number | null): void {
    const path = property === null ? null : this.state.properties[property]!.path;
    this.choice.value = path ? String(property) : "observed";
    this.choose();
  }

  /** Goes on where the player of the page before was. */
  resume(before: Player): void {
    const wanted = before.choice.selectedOptions[0]?.text;
    const option = [...this.choice.options].find((each) => each.text === wanted);
    if (option) this.choice.value = option.value;
    const { step, cut } = before.state;
    const isPlaying = before.timer !== null;
    before.stop();
    this.choose();
    Object.assign(this.state, { step, cut });
    if (isPlaying) this.toggle();
  }

  private choose(): void {
    this.stop();
    const { state, run } = this;
    const property = this.choice.value === "observed" ? null : state.properties[Number(this.choice.value)]!;
    const events = property?.path ?? run.steps;
    const lines = property || !run.joint.size ? events : [...run.steps].flatMap((step) => run.lines(step));
    const moment = property?.path ? (property.moment ?? property.path.length) : null;
    state.order = { title: this.choice.selectedOptions[0]!.textContent!, events: lines, moment };
    if (moment === null) state.goto(state.step ?? 0);
    else {
      state.goto(moment);
      if (moment > 0) this.reveal(lines[moment - 1]!);
    }
  }

  private goto(step: number): void {
    this.state.goto(step);
    const last = step > 0 ? this.state.order?.events[step - 1] : undefined;
    if (last !== undefined) this.reveal(last);
  }

  by(by: 1 | -1): void {
    this.state.stepBy(by);
    const step = this.state.step ?? 0;
    if (step > 0) this.reveal(this.state.order!.events[step - 1]!);
  }

  toMoment(): void {
    const moment = this.state.order?.moment;
    if (moment !== null && moment !== undefined) this.goto(moment);
  }

  toggle(): void {
    if (this.timer !== null) return this.stop();
    const { state } = this;
    if (state.step === null || state.step >= (state.order?.events.length ?? 0)) state.goto(0);
    this.playing.textContent = "‖";
    const tick = () => {
      const length = state.order?.events.length ?? 0;
      this.by(1);
      if ((state.step ?? length) >= length) return this.stop();
      // The moment that decides is worth a longer look.
      this.timer = setTimeout(tick, state.step === state.order?.moment ? 1500 : Math.max(60, Math.min(700, 12000 / length)));
    };
    this.timer = setTimeout(tick, 250);
  }

  private stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.playing.textContent = "▶";
  }

  private draw(): void {
    const { order, step } = this.state;
    if (!order) return;
    this.slider.max = String(order.events.length);
    if (step !== null) this.slider.value = String(step);
    const event = step ? order.events[step - 1]! : null;
    const flag = order.moment !== null && step === order.moment ? " — here it is decided" : "";
    this.note.textContent = step === null ? "cut moved by hand"
      : `step ${step.toLocaleString("en")} of ${order.events.length.toLocaleString("en")}${event === null ? "" : `: ${this.run.name(event)} ${this.run.action(event)}`}${flag}`;
    this.note.classList.toggle("decided", flag !== "");
    (this.element.querySelector(".moment") as HTMLButtonElement).disabled = order.moment === null;
  }
}
