// Execution trees with the verdict of each claim at each node, stacks of temporal steps, and graphs.

import { hierarchy, stratify, tree as tidy, type HierarchyNode } from "d3-hierarchy";
import { button, h, LongList } from "./dom";
import type { ActionModel, GraphModel, StackModel, TreeModel, TreeNodeModel } from "./model";
import { branch, broken, LONGEST_LABEL, placed, sized, Stage, type Link, type Node } from "./stage";

export type Operate = ((what: string, index: number, action: string, values: Record<string, string>) => Promise<void>) | null;

const SIGNS: Record<string, string> = { true: "✓", false: "✗", unknown: "?" };
const MOST_NODES = 1500;
const MOST_LINES = 40;
/** Leaves of a tree that is shown whole at first. */
const MOST_LEAVES = 40;
const MOST_FAILURES = 3;
/** Failing leaves that are listed. */
const MOST_LISTED = 200;
const OUTCOMES: Record<string, string> = { holds: "✓", fails: "✗", open: "?" };

export class TreeView {
  readonly element: HTMLElement;
  readonly stage: Stage;
  private readonly details: HTMLElement;
  private readonly folded = new Set<string>();
  private chosen: string | null;
  private readonly key: string;
  private readonly nodes: Map<string, TreeNodeModel>;

  constructor(private readonly tree: TreeModel, private readonly index: number, private readonly operate: Operate) {
    // Where the program stands, or the failure that can be run again.
    this.chosen = tree.current ?? tree.nodes.find((node) => node.facts.some(([name]) => name === "again"))?.id ?? null;
    this.key = `tree ${index}`;
    this.nodes = new Map(tree.nodes.map((node) => [node.id, node]));
    this.stage = new Stage(tree.title, (id) => this.pick(id), undefined, this.key);
    this.details = h("aside", { class: "details", "aria-label": "the chosen node", "data-keep": `${this.key} details` });
    const legend = h("p", { class: "note" }, `${tree.nodes.length.toLocaleString("en")} nodes. `,
      tree.claims.length ? `Claims at a node, from the left: ${tree.claims.join(" · ")}. ✓ true  ✗ false  ? not decided` : "There are no claims.");
    const notes = tree.notes.map((note) => h("p", { class: "note" }, note));
    const bar = h("div", { class: "bar" }, h("h2", {}, tree.title), legend, ...notes, this.failing(), h("div", { class: "actions" }, ...this.buttons(tree.actions, {})));
    this.element = h("section", { class: "view" }, bar, h("div", { class: "beside" }, this.stage.element, this.details));
    this.foldLarge();
    this.draw(false);
  }

  /** Takes over what is folded and chosen; where the program has gone on, that is chosen instead. */
  follow(before: TreeView): void {
    this.folded.clear();
    for (const id of before.folded) if (this.nodes.has(id)) this.folded.add(id);
    const isSame = before.tree.current === this.tree.current;
    if (isSame && before.chosen !== null && this.nodes.has(before.chosen)) this.chosen = before.chosen;
    this.stage.follow(before.stage);
    this.draw(false);
  }

  private buttons(actions: ActionModel[], node: Record<string, string>): HTMLElement[] {
    return actionButtons(this.key, actions, node, this.operate && ((name, values) => this.operate!("trees", this.index, name, values)));
  }

  /** The leaves that fail; one that is chosen is shown, whatever was folded above it. */
  private failing(): HTMLElement | null {
    const found = this.tree.nodes.filter((node) => node.outcome === "fails");
    if (!found.length) return null;
    const rows = found.slice(0, MOST_LISTED).map((node) => h("li", {}, button(node.text, "show it in the tree", () => this.reveal(node.id))));
    if (found.length > MOST_LISTED) rows.push(h("li", {}, `and ${found.length - MOST_LISTED} more`));
    return h("details", { class: "failing" }, h("summary", {}, `failing paths: ${found.length}`), h("ul", { class: "plain" }, ...rows));
  }

  private reveal(id: string): void {
    for (let above = this.nodes.get(id)?.parent ?? null; above !== null; above = this.nodes.get(above)?.parent ?? null) this.folded.delete(above);
    this.chosen = id;
    this.draw(false);
  }

  private root(): HierarchyNode<TreeNodeModel> {
    return stratify<TreeNodeModel>().id((node) => node.id).parentId((node) => node.parent)(this.tree.nodes);
  }

  /** Of a wide tree the deeper parts are folded until somebody opens them; the ways to some failures are open. */
  private foldLarge(): void {
    if (!this.tree.nodes.length) return;
    const root = this.root();
    const leaves = root.leaves();
    if (leaves.length <= MOST_LEAVES) return;
    const failing = leaves.filter((leaf) => leaf.data.verdicts.includes("false")).slice(0, MOST_FAILURES);
    const open = new Set([...failing, ...leaves.filter((leaf) => leaf.data.id === this.chosen)].flatMap((leaf) => leaf.ancestors()));
    this.foldAlike(root, open);
    if (root.leaves().length - this.hiddenLeaves(root) <= MOST_LEAVES) return;
    const seen = new Set([root]);
    let width = 1;
    root.each((node) => {
      if (!node.children || !seen.has(node)) return;
      const more = node.children.length - 1;
      if (more && width + more > MOST_LEAVES && !open.has(node)) this.folded.add(node.data.id);
      else {
        width += more;
        for (const child of node.children) seen.add(child);
      }
    });
  }

  /** What is below a node and ends in one way is folded, as high up as it does. */
  private foldAlike(node: HierarchyNode<TreeNodeModel>, open: Set<HierarchyNode<TreeNodeModel>>): void {
    if (!node.children) return;
    const ends = new Set(node.leaves().map((leaf) => leaf.data.outcome));
    if (ends.size === 1 && !ends.has(undefined) && !open.has(node)) this.folded.add(node.data.id);
    else for (const child of node.children) this.foldAlike(child, open);
  }

  private hiddenLeaves(node: HierarchyNode<TreeNodeModel>): number {
    if (!node.children) return 0;
    if (this.folded.has(node.data.id)) return node.leaves().length - 1;
    return node.children.reduce((sum, child) => sum + this.hiddenLeaves(child), 0);
  }

  private pick(id: string): void {
    if (this.chosen === id && this.tree.nodes.some((node) => node.parent === id)) {
      if (!this.folded.delete(id)) this.folded.add(id);
    }
    this.chosen = id;
    this.draw(true);
  }

  private draw(keep: boolean): void {
    if (!this.tree.nodes.length) return;
    const all = this.root();
    const open = hierarchy(all, (node) => (this.folded.has(node.data.id) ? null : node.children));
    const root = tidy<HierarchyNode<TreeNodeModel>>().nodeSize([1, 1]).separation(() => 1)(open);
    const shown = root.descendants().slice(0, MOST_NODES);
    const drawn = shown.map((place) => this.node(place.data));
    const labels = shown.map((place) => broken(place.data.data.branch, LONGEST_LABEL));
    const widest = labels.flat().reduce((most, line) => Math.max(most, line.length), 0) * 6.6;
    const width = drawn.reduce((most, node) => Math.max(most, node.width), widest) + 18;
    const room = labels.reduce((most, lines) => Math.max(most, lines.length), 0) * 12;
    const height = drawn.reduce((most, node) => Math.max(most, node.height), 0) + room + 40;
    shown.forEach((place, at) => ([drawn[at]!.x, drawn[at]!.y] = [place.x * width, place.y * height]));
    const at = new Map(drawn.map((node) => [node.id, node]));
    const links = shown.filter((place) => place.parent).map((place) =>
      branch(at.get(place.parent!.data.data.id)!, at.get(place.data.data.id)!, place.data.data.branch));
    this.stage.anchor = this.chosen;
    this.stage.show(drawn, links, keep);
    this.showDetails();
  }

  private node(place: HierarchyNode<TreeNodeModel>): Node {
    const { data } = place;
    const hidden = this.folded.has(data.id) ? place.descendants().length - 1 : 0;
    const marks = data.verdicts.map((verdict, claim): [string, string, string] => [
      SIGNS[verdict] ?? "?", verdict, `${this.tree.claims[claim] ?? ""}: ${verdict}`,
    ]);
    const worst = data.verdicts.includes("false") ? "false" : data.verdicts.includes("unknown") || !data.verdicts.length ? "unknown" : "true";
    const classes = ["tree", `is-${worst}`, data.state ?? ""];
    if (data.stopped) classes.push("stopped");
    if (data.id === this.chosen) classes.push("chosen");
    if (data.id === this.tree.current) classes.push("here");
    const lines = [`${data.id === this.tree.current ? "▶ " : ""}${data.stopped ? "‖ " : ""}${data.text}`];
    if (hidden) lines.push(`+ ${hidden} below${outcomes(place)}`);
    const title = [data.text, ...data.facts.map(([name, value]) => `${name}: ${value}`)].join("\n");
    return sized({ id: data.id, lines, classes: classes.join(" "), shape: "round", title, marks });
  }

  private showDetails(): void {
    const node = this.chosen === null ? undefined : this.nodes.get(this.chosen);
    if (!node) {
      this.details.replaceChildren(h("p", { class: "note" }, "Choose a node; choose it again to fold what is below it."));
      return;
    }
    const verdicts = node.verdicts.map((verdict, claim) =>
      h("li", { class: `claim ${verdict}` }, `${SIGNS[verdict] ?? "?"} ${this.tree.claims[claim] ?? ""}: ${verdict}`));
    const copy = (command: string) => button("copy", "copy the command", () => void navigator.clipboard?.writeText(command));
    const facts = node.facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value, name === "again" ? copy(value) : null)]);
    const parts = [h("h3", {}, node.text), node.branch ? h("p", {}, `after ${node.branch}`) : null];
    const acts = this.buttons(node.actions ?? [], { node: node.id });
    this.details.replaceChildren(...parts.filter((part) => part !== null), h("ul", { class: "plain" }, ...verdicts), h("dl", { class: "facts" }, ...facts), h("div", { class: "actions" }, ...acts));
  }
}

/** How the leaves below a node end, counted. */
function outcomes(place: HierarchyNode<TreeNodeModel>): string {
  const counts = new Map<string, number>();
  for (const { data } of place.leaves()) if (data.outcome) counts.set(data.outcome, (counts.get(data.outcome) ?? 0) + 1);
  const words = [...counts].map(([outcome, count]) => `${count} ${OUTCOMES[outcome] ?? outcome}`);
  return words.length ? `: ${words.join(" ")}` : "";
}

export class StackView {
  readonly element: HTMLElement;
  /** The same as boxes, for files. */
  readonly stage: Stage;

  constructor(stack: StackModel, index: number, operate: Operate) {
    const key = `stack ${index}`;
    this.stage = new Stage(stack.title, () => undefined, undefined, `${key} drawing`);
    this.stage.show(...column(stack));
    const steps = stack.steps.map((step, number) => {
      const list = new LongList(`the states of step ${number + 1}`, `${key} states ${number + 1}`);
      list.show(step.states.length, (at) => h("div", { class: "row" }, h("span", { class: "number" }, String(at)), h("code", {}, step.states[at]!)));
      const facts = step.facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
      list.element.style.height = `${Math.min(6, Math.max(1, step.states.length)) * 26 + 4}px`;
      return h("li", { class: "frame" }, h("h3", {}, `${number + 1}. ${step.title}`), h("p", {}, h("code", {}, step.text)), h("dl", { class: "facts" }, ...facts), list.element);
    });
    const acts = actionButtons(key, stack.actions, {}, operate && ((name, values) => operate("stacks", index, name, values)));
    const state = stack.state.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
    this.element = h("section", { class: "view scrolled", "data-keep": key },
      h("div", { class: "bar" }, h("h2", {}, stack.title), ...stack.notes.map((note) => h("p", { class: "note" }, note)), h("div", { class: "actions" }, ...acts)),
      h("div", { class: "beside" },
        h("ol", { class: "stack", "aria-label": "the steps, the newest first", "data-keep": `${key} steps` }, ...steps.reverse()),
        h("aside", { class: "details", "data-keep": `${key} state` }, h("h3", {}, "State now"), h("dl", { class: "facts" }, ...state))));
  }
}

/** The steps of a stack from the top down, the oldest first, and the state now. */
function column(stack: StackModel): [Node[], Link[]] {
  const nodes = stack.steps.map((step, number) => sized({
    id: String(number), lines: [`${number + 1}. ${step.title}`, step.text, ...step.facts.map(([name, value]) => `${name}: ${value}`), ...step.states.slice(0, MOST_LINES)],
    classes: "graph", shape: "round", title: step.text,
  }));
  const state = stack.state.slice(0, MOST_LINES).map(([name, value]) => `${name} = ${value}`);
  nodes.push(sized({ id: "now", lines: ["now", ...state], classes: "graph action", shape: "box", title: "the state now" }));
  let y = 0;
  for (const node of nodes) {
    node.y = y + node.height / 2;
    y += node.height + 34;
  }
  const links = nodes.slice(1).map((node, at): Link => ({ from: nodes[at]!.id, to: node.id, classes: "flow", label: "", title: "", points: [] }));
  return [nodes, links];
}

/** A button an action, with a field where it asks for something. */
function actionButtons(key: string, actions: ActionModel[], values: Record<string, string>, run: ((name: string, values: Record<string, string>) => Promise<void>) | null): HTMLElement[] {
  if (!run) return [];
  return actions.map((action) => {
    const keep = [key, ...Object.values(values), action.name, ...Object.values(action.arguments ?? {})].join("/");
    if (action.asks === undefined) {
      return button(action.label, action.label, () => void run(action.name, { ...values, ...action.arguments }), { "data-action": action.name, "data-keep": keep });
    }
    const field = h("input", { type: "text", placeholder: action.asks, "aria-label": action.asks, "data-keep": keep });
    const submit = (event: Event) => {
      event.preventDefault();
      void run(action.name, { ...values, ...action.arguments, text: field.value });
    };
    return h("form", { class: "asks", submit, "data-action": action.name }, field, h("button", { type: "submit", "data-keep": `${keep} submit` }, action.label));
  });
}

const SHAPES: Record<string, Node["shape"]> = {
  state: "round", action: "box", title: "plain", circle: "circle", double: "double", bar: "bar", box: "box", final: "framed",
};

export class GraphView {
  readonly element: HTMLElement;
  readonly stage = new Stage("graph", () => undefined);

  constructor(graphs: GraphModel[]) {
    const choice = h("select", { "aria-label": "graph", "data-keep": "graph", change: () => this.draw(graphs[Number(choice.value)]!) },
      ...graphs.map((graph, index) => h("option", { value: index }, graph.title)));
    const head = graphs.length > 1 ? h("label", {}, "show ", choice) : h("h2", {}, graphs[0]!.title);
    this.element = h("section", { class: "view" }, h("div", { class: "bar" }, head), this.stage.element);
    this.draw(graphs[0]!);
  }

  private draw(graph: GraphModel): void {
    const nodes = graph.nodes.map((node) => sized({
      id: node.id, lines: node.lines, classes: `graph ${node.kind}${node.marked ? " marked" : ""}`,
      shape: SHAPES[node.kind] ?? "round", title: node.lines.join("\n"),
    }));
    const links = graph.edges.map((edge): Link => ({
      from: edge.from, to: edge.to, classes: edge.kind, label: edge.label, title: edge.label, points: [],
    }));
    placed(nodes, links, (this.stage.direction = graph.direction));
    this.stage.show(nodes, links);
  }
}
