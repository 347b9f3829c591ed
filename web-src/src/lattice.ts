// The cuts as a Hasse diagram, the initial cut at the bottom: satisfying cuts filled, the slice outlined, the way
// of a witness drawn in. For runs with too many cuts, the slice as a graph of its components.

import { h } from "./dom";
import type { LatticeModel, MarkModel, SliceModel } from "./model";
import { placed, sized, Stage, type Link, type Node } from "./stage";
import type { State } from "./state";

const STEP = 46;

export class LatticeView {
  readonly element: HTMLElement;
  readonly stage: Stage;
  private readonly choice: HTMLSelectElement;
  private readonly note: HTMLElement;
  private readonly nodes: Node[] = [];
  private readonly links: Link[] = [];
  private readonly numbers = new Map<string, number>();
  private shownFor: string | null = null;

  constructor(private readonly state: State, private readonly lattice: LatticeModel) {
    this.stage = new Stage("Hasse diagram of the cuts", (id) => state.moveCut(lattice.cuts[Number(id)]!.slice()), 0.3);
    const options = lattice.marks.map((mark, index) => h("option", { value: index }, mark.text));
    this.choice = h("select", { "aria-label": "cuts to mark", "data-keep": "cuts to mark", change: () => this.draw(true) }, h("option", { value: -1 }, "nothing"), ...options);
    this.note = h("p", { class: "note" });
    const bar = h("div", { class: "bar" }, h("label", {}, "mark the cuts that satisfy ", this.choice), this.note);
    this.element = h("section", { class: "view" }, bar, this.stage.element);
    this.build();
    state.listen(() => this.follow());
    this.follow();
  }

  private build(): void {
    const { run } = this.state;
    const { cuts, edges } = this.lattice;
    cuts.forEach((cut, index) => {
      this.numbers.set(cut.join(), index);
      const names = cut.map((count, process) => `${run!.processes[process]!.name}: ${count}`);
      const lines = cut.length > 4 ? [String(cut.reduce((a, b) => a + b, 0))] : [cut.join(" ")];
      this.nodes.push(sized({ id: String(index), lines, classes: "cut", shape: "circle", title: names.join(", ") }));
    });
    for (const [from, to, step] of edges) {
      this.links.push({ from: String(from), to: String(to), classes: "bare", label: "", title: run!.name(step), points: [] });
    }
    this.stage.direction = "BT";
    if (this.lattice.cuts[0]!.length === 2) {
      this.nodes.forEach((node, index) => {
        const [a, b] = cuts[index] as [number, number];
        [node.x, node.y] = [(b - a) * STEP, -(a + b) * STEP];
      });
    } else {
      if (this.isTall()) this.stage.direction = "LR";
      placed(this.nodes, this.links, this.stage.direction, 18, 26);
      for (const link of this.links) link.points = [];
    }
  }

  /** Whether there are many more levels than cuts in one: then the picture lies on its side. */
  private isTall(): boolean {
    const levels = new Map<number, number>();
    for (const cut of this.lattice.cuts) {
      const level = cut.reduce((a, b) => a + b, 0);
      levels.set(level, (levels.get(level) ?? 0) + 1);
    }
    return levels.size > 1.5 * Math.max(...levels.values());
  }

  private follow(): void {
    const key = String(this.state.property);
    if (key !== this.shownFor) {
      this.shownFor = key;
      const index = this.lattice.marks.findIndex((mark) => mark.property === this.state.property);
      this.choice.value = String(index < 0 && this.lattice.marks.length ? 0 : index);
      this.draw(false);
    } else this.draw(true);
  }

  private draw(keep: boolean): void {
    const mark: MarkModel | undefined = this.lattice.marks[Number(this.choice.value)];
    const satisfying = new Set(mark?.satisfying);
    const inside = new Set(mark?.slice);
    const way = this.way();
    const here = this.numbers.get(this.state.cut.join());
    this.nodes.forEach((node, index) => {
      const classes = ["cut"];
      if (satisfying.has(index)) classes.push("satisfying");
      if (inside.has(index)) classes.push("inside");
      if (way.has(index)) classes.push("on");
      if (index === here) classes.push("here");
      node.classes = classes.join(" ");
      node.shape = inside.has(index) ? "double" : "circle";
    });
    for (const link of this.links) {
      const next = way.get(Number(link.from));
      link.classes = next === Number(link.to) ? "bare path" : "bare";
    }
    this.note.textContent = mark
      ? `${satisfying.size} of ${this.lattice.cuts.length} cuts satisfy it (filled), ${inside.size} belong to its slice (double ring).`
      : `${this.lattice.cuts.length} cuts.`;
    this.stage.show(this.nodes, this.links, keep);
  }

  /** For each cut on the way that is shown the next one. */
  private way(): Map<number, number> {
    const { order, run, cuts } = this.state;
    const found = new Map<number, number>();
    if (!order || !run || !cuts) return found;
    const cut = cuts.initial.slice();
    let before = this.numbers.get(cut.join());
    for (let index = 0; index < order.events.length; index++) {
      cut[run.process[order.events[index]!]!]!++;
      const after = this.numbers.get(cut.join());
      if (after === undefined) continue;
      if (before !== undefined) found.set(before, after);
      before = after;
    }
    if (before !== undefined && !found.has(before)) found.set(before, -1);
    return found;
  }
}

export class SliceView {
  readonly element: HTMLElement;
  readonly stage: Stage;
  private readonly choice: HTMLSelectElement;
  private readonly table: HTMLElement;
  private readonly note: HTMLElement;

  constructor(private readonly state: State, private readonly slices: SliceModel[]) {
    this.stage = new Stage("the slice as a graph", (id) => this.pick(Number(id)));
    const options = slices.map((slice, index) => h("option", { value: index }, slice.text));
    this.choice = h("select", { "aria-label": "predicate", "data-keep": "predicate", change: () => this.draw() }, ...options);
    this.table = h("dl", { class: "numbers" });
    this.note = h("p", { class: "note" });
    const bar = h("div", { class: "bar" }, h("label", {}, "slice for ", this.choice), this.table, this.note);
    this.element = h("section", { class: "view" }, bar, this.stage.element);
    this.draw();
  }

  private get slice(): SliceModel {
    return this.slices[Number(this.choice.value)]!;
  }

  /** A click moves the cut to the least one that contains the component. */
  private pick(id: number): void {
    const { state } = this;
    const node = this.slice.nodes.find((each) => each.id === id);
    if (!node || !state.run || !state.cuts) return;
    let cut = state.cuts.initial;
    for (const event of node.events) cut = state.cuts.raised(cut, state.run.process[event]!, state.run.position[event]!);
    state.moveCut(cut);
  }

  private draw(): void {
    const { run } = this.state;
    const { nodes, edges, numbers, whole } = this.slice;
    const drawn = nodes.map((node) => {
      const names = node.events.map((event) => run!.name(event));
      const lines = node.kind === "bottom" ? ["in every cut", ...wrapped(names, node.size)]
        : node.kind === "top" ? ["in no cut", ...wrapped(names, node.size)]
        : node.kind === "run" ? [names.length > 1 ? `${names[0]} … ${names[names.length - 1]}` : names[0]!]
        : wrapped(names, node.size);
      const title = node.kind === "component" ? `${node.size} events that a cut of the slice has all or none of` : lines.join(", ");
      return sized({ id: String(node.id), lines, classes: `slice ${node.kind}`, shape: node.kind === "run" ? "round" : "box", title });
    });
    const links = edges.map(([from, to, added]): Link => {
      const title = added ? "an edge that the slice adds" : "an order of the run";
      return { from: String(from), to: String(to), classes: added ? "added" : "flow", label: "", title, points: [] };
    });
    placed(drawn, links, (this.stage.direction = "LR"));
    this.stage.show(drawn, links);
    this.table.replaceChildren(...numbers.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    this.note.textContent = whole ? "" : "Only the first components are drawn.";
  }
}

function wrapped(names: string[], size: number): string[] {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(names.length, 12); at += 4) lines.push(names.slice(at, at + 4).join(" "));
  if (size > 12) lines.push(`… ${size} events`);
  return lines;
}
