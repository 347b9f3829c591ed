// A drawing of nodes and arrows as SVG, that can be moved and scaled; placed by dagre where nothing else is said.

import { Graph as LayeredGraph, layout as layered } from "@dagrejs/dagre";
import { select } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform, type ZoomBehavior, type ZoomTransform } from "d3-zoom";
import { h, s } from "./dom";
import { isPressedIn, whenReleased } from "./keep";
import { colours } from "./theme";

export interface Node {
  id: string;
  lines: string[];
  classes: string;
  shape: "box" | "round" | "circle" | "double" | "framed" | "bar" | "plain";
  title: string;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Small marks below the text, each a sign with its class. */
  marks?: [string, string, string][];
}

export interface Link {
  from: string;
  to: string;
  classes: string;
  label: string;
  title: string;
  points: [number, number][];
  /** The label in lines, and where the last of them stands, if not in the middle. */
  lines?: string[];
  place?: [number, number];
}

const LABEL = 12;
const LINE = 15;
const LETTER = 7.2;
/** Letters of a line of a label. */
export const LONGEST_LABEL = 24;
/** Letters of a line; the whole text is in the title. */
const LONGEST = 60;
/** Below this scale nothing can be read. */
const SMALLEST = 0.55;
/** A drawing that does not fit anyhow is begun at this one. */
const READABLE = 0.9;
/** Lines of a text that is broken. */
const MOST_LINES = 4;

export function sized(given: Omit<Node, "x" | "y" | "width" | "height">): Node {
  const node = { ...given, lines: given.lines.flatMap(shortened) };
  const widest = Math.max(1, ...node.lines.map((line) => line.length));
  const marks = node.marks?.length ?? 0;
  const round = node.shape === "circle" || node.shape === "double";
  const width = Math.max(round ? 30 : 24, widest * LETTER + 16, marks * 18 + 12);
  const height = Math.max(node.lines.length, 1) * LINE + 10 + (marks ? 18 : 0);
  const side = round ? Math.max(width, height) : 0;
  if (node.shape === "bar") return { ...node, x: 0, y: 0, width: 10, height: 34 };
  return { ...node, x: 0, y: 0, width: side || width, height: side || height };
}

/** A long line as several, and of a very long one the beginning. */
function shortened(line: string): string[] {
  if (line.length <= LONGEST) return [line];
  const lines = broken(line, LONGEST).map((each) => (each.length > LONGEST ? `${each.slice(0, LONGEST - 1)}…` : each));
  return lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES - 1), `${lines[MOST_LINES - 1]} …`] : lines;
}

/** Places the nodes in layers and bends the arrows around them. */
export function placed(nodes: Node[], links: Link[], direction: "TB" | "LR" | "BT", apart = 28, between = direction === "LR" ? 56 : 42): void {
  const graph = new LayeredGraph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: apart, ranksep: between, marginx: 20, marginy: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { width: node.width, height: node.height });
  links.forEach((link, index) => {
    const label = link.label ? { width: link.label.length * 6.5 + 8, height: 16, labelpos: "c" } : {};
    graph.setEdge(link.from, link.to, label, String(index));
  });
  layered(graph as never);
  for (const node of nodes) {
    const found = graph.node(node.id) as { x: number; y: number };
    [node.x, node.y] = [found.x, found.y];
  }
  links.forEach((link, index) => {
    const found = graph.edge({ v: link.from, w: link.to, name: String(index) }) as { points?: { x: number; y: number }[] };
    link.points = (found?.points ?? []).map((point) => [point.x, point.y]);
  });
}

/** A text in lines of about that many letters, broken between words. */
export function broken(text: string, longest: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + word.length < longest) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** An arrow from a parent down to a child of a tree: it comes from above, with its label over the child. */
export function branch(from: Node, to: Node, label: string): Link {
  const top = to.y - to.height / 2;
  const lines = broken(label, LONGEST_LABEL);
  const bend = top - 14 - lines.length * LABEL;
  const points: [number, number][] = [[from.x, from.y + from.height / 2], [to.x, bend], [to.x, top]];
  return { from: from.id, to: to.id, classes: "flow", label, title: label, points, lines, place: [to.x, top - 9] };
}

export class Stage {
  readonly element: HTMLElement;
  private readonly svg: SVGSVGElement;
  private readonly group: SVGElement;
  private readonly zoomer: ZoomBehavior<SVGSVGElement, unknown>;
  private frame = { x: 0, y: 0, width: 1, height: 1 };
  /** A person has moved it: from then on it stays where it is. */
  private isMoved = false;
  /** Where arrows lead, for files in which others place the nodes. */
  direction: "TB" | "LR" | "BT" = "TB";
  /** The node that a wide drawing is shown around; null: the first. */
  anchor: string | null = null;
  /** What is drawn, for files. */
  drawn: { nodes: Node[]; links: Link[] } = { nodes: [], links: [] };

  constructor(label: string, private readonly picked: (id: string) => void, private readonly smallest = SMALLEST, private readonly keep = label) {
    this.group = s("g");
    const heads = ["flow", "path", "added"].map((kind) =>
      s("marker", { id: `head-${kind}`, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
        s("path", { d: "M0 0L8 4L0 8z", class: `head ${kind}` })),
    );
    this.svg = s("svg", { class: "stage", role: "img", "aria-label": label, tabindex: 0, "data-keep": keep }, s("defs", {}, ...heads), this.group) as SVGSVGElement;
    this.element = h("div", { class: "stage-box" }, this.svg);
    this.zoomer = zoom<SVGSVGElement, unknown>().extent(() => this.extent()).scaleExtent([0.05, 4]).on("zoom", (event: { transform: ZoomTransform; sourceEvent: unknown }) => {
      if (event.sourceEvent) this.isMoved = true;
      this.group.setAttribute("transform", event.transform.toString());
    });
    select(this.svg).call(this.zoomer).on("dblclick.zoom", null);
    this.svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.isMoved || this.fit(this.smallest)).observe(this.element);
  }

  /** What can be seen: also of a stage that is not in the document, where the browser knows no sizes. */
  private extent(): [[number, number], [number, number]] {
    return [[0, 0], [this.element.clientWidth || 1, this.element.clientHeight || 1]];
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const move = moves[event.key];
    if (move) select(this.svg).call(this.zoomer.translateBy, ...move);
    else if (event.key === "+" || event.key === "=") select(this.svg).call(this.zoomer.scaleBy, 1.25);
    else if (event.key === "-") select(this.svg).call(this.zoomer.scaleBy, 0.8);
    else if (event.key !== "0") return;
    this.isMoved = event.key !== "0";
    if (!this.isMoved) this.fit();
    event.preventDefault();
    event.stopPropagation();
  }

  /** On a node the arrows go to the next node in that direction, and Enter chooses it. */
  private nodeKey(event: KeyboardEvent, node: Node, act: () => void): void {
    const ways: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (event.key === "Enter" || event.key === " ") act();
    else if (way) this.focusNode(nearest(node, this.drawn.nodes, way));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private focusNode(node: Node | null): void {
    if (!node) return;
    this.reachable(node.id);
    this.group.querySelector<SVGElement>(`[data-id="${CSS.escape(node.id)}"]`)?.focus({ preventScroll: true });
    const view = zoomTransform(this.svg);
    const [x, y] = view.apply([node.x, node.y]);
    const { clientWidth, clientHeight } = this.element;
    const margin = 60;
    const dx = x < margin ? margin - x : x > clientWidth - margin ? clientWidth - margin - x : 0;
    const dy = y < margin ? margin - y : y > clientHeight - margin ? clientHeight - margin - y : 0;
    if (!dx && !dy) return;
    this.isMoved = true;
    select(this.svg).call(this.zoomer.translateBy, dx / view.k, dy / view.k);
  }

  /** Of all nodes one is reached by the tab key; the arrows lead on. */
  private reachable(id: string | undefined): void {
    for (const each of this.group.querySelectorAll(".node")) each.setAttribute("tabindex", each.getAttribute("data-id") === id ? "0" : "-1");
  }

  show(nodes: Node[], links: Link[], keep = false): void {
    if (isPressedIn(this.group)) return whenReleased(() => this.show(nodes, links, keep));
    this.drawn = { nodes, links };
    const at = new Map(nodes.map((node) => [node.id, node]));
    const focus = this.group.contains(document.activeElement) ? document.activeElement!.getAttribute("data-keep") : null;
    this.group.replaceChildren(...links.flatMap((link) => this.link(link, at)), ...nodes.map((node) => this.node(node)));
    const xs = nodes.flatMap((node) => [node.x - node.width / 2, node.x + node.width / 2]);
    const ys = nodes.flatMap((node) => [node.y - node.height / 2, node.y + node.height / 2]);
    for (const link of links) {
      const half = link.place ? Math.max(...link.lines!.map((line) => line.length)) * 3.3 : 0;
      if (link.place) xs.push(link.place[0] - half, link.place[0] + half);
    }
    const [left, top] = [Math.min(0, ...xs) - 14, Math.min(0, ...ys) - 14];
    this.frame = { x: left, y: top, width: Math.max(1, ...xs) + 14 - left, height: Math.max(1, ...ys) + 14 - top };
    this.reachable((nodes.find((node) => /\b(chosen|here)\b/.test(node.classes)) ?? nodes[0])?.id);
    if (focus) this.group.querySelector<SVGElement>(`[data-keep="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    if (!keep && !this.isMoved) this.fit(this.smallest);
  }

  /** Looks at the same place at the same scale as another one, if that was moved. */
  follow(before: Stage): void {
    if (!before.isMoved) return;
    this.isMoved = true;
    select(this.svg).call(this.zoomer.transform, zoomTransform(before.svg));
  }

  private link(link: Link, at: Map<string, Node>): SVGElement[] {
    const from = at.get(link.from);
    const to = at.get(link.to);
    if (!from || !to) return [];
    const points = link.points.length ? link.points : ends(from, to);
    const path = points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    const kind = link.classes.includes("path") ? "path" : link.classes.includes("added") ? "added" : "flow";
    const bare = link.classes.includes("bare");
    const arrow = (d: string, isEnd: boolean) => s("path", { d, class: `link ${link.classes}`, "marker-end": bare || !isEnd ? null : `url(#head-${kind})` }, s("title", {}, link.title));
    if (!link.label) return [arrow(path, true)];
    const drawn = link.place ? arrow(path.slice(0, path.lastIndexOf("L")), false) : arrow(path, true);
    const rest = link.place ? [arrow(`M${link.place[0]} ${to.y - to.height / 2 - 8}v8`, true)] : [];
    const [x, y] = link.place ?? (points.length === 2 ? middle(points[0]!, points[1]!) : points[Math.floor(points.length / 2)]!);
    const lines = link.lines ?? [link.label];
    const texts = lines.map((line, index) => s("tspan", { x, y: y - 4 + (index - lines.length + 1) * LABEL }, line));
    return [drawn, ...rest, s("text", { class: "link-label", "aria-label": link.label }, ...texts)];
  }

  private node(node: Node): SVGElement {
    const { x, y, width, height } = node;
    const parts: SVGElement[] = [s("title", {}, node.title)];
    if (node.shape === "circle" || node.shape === "double") {
      parts.push(s("circle", { cx: x, cy: y, r: width / 2 }));
      if (node.shape === "double") parts.push(s("circle", { cx: x, cy: y, r: width / 2 - 4, class: "inner" }));
    } else if (node.shape !== "plain") {
      const radius = node.shape === "round" || node.shape === "framed" ? 9 : 2;
      parts.push(s("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: radius }));
      if (node.shape === "framed") {
        parts.push(s("rect", { x: x - width / 2 + 3, y: y - height / 2 + 3, width: width - 6, height: height - 6, rx: 7, class: "inner" }));
      }
    }
    const marks = node.marks ?? [];
    const top = y - (node.lines.length * LINE + (marks.length ? 18 : 0)) / 2;
    node.lines.forEach((line, index) => parts.push(s("text", { x, y: top + index * LINE + 11.5 }, line)));
    marks.forEach(([sign, kind, title], index) => {
      const place = { x: x + (index - (marks.length - 1) / 2) * 18, y: y + height / 2 - 8 };
      parts.push(s("text", { ...place, class: `verdict ${kind}` }, s("title", {}, title), sign));
    });
    const act = () => this.picked(node.id);
    const keyed = (event: Event) => this.nodeKey(event as KeyboardEvent, node, act);
    return s("g", { class: `node ${node.classes}`, "data-id": node.id, "data-keep": `${this.keep}/${node.id}`, tabindex: -1, role: "button", "aria-label": node.title, click: act, keydown: keyed }, ...parts);
  }

  /** The whole drawing, or its beginning if it would be smaller than that scale. */
  fit(least = 0): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight) return;
    const { x, y, width, height } = this.frame;
    const whole = Math.min(1.4, clientWidth / width, clientHeight / height);
    const scale = whole < least ? Math.max(least, READABLE) : whole;
    this.element.classList.toggle("clipped", whole < least);
    const first = this.drawn.nodes.find((node) => node.id === this.anchor) ?? this.drawn.nodes[0];
    const middle = clientWidth / 2 - (first?.x ?? 0) * scale;
    // Of a drawing from the top down that is wider than the screen, that node stands in the middle.
    const left = this.direction === "TB" && width * scale > clientWidth
      ? Math.min(-x * scale, Math.max(middle, clientWidth - (x + width) * scale))
      : Math.max(0, (clientWidth - width * scale) / 2) - x * scale;
    const top = Math.max(0, (clientHeight - height * scale) / 2) - y * scale;
    const view = zoomIdentity.translate(left, top).scale(scale);
    select(this.svg).call(this.zoomer.transform, view);
  }

  /** The drawing as a file of its own, with its colours inside. */
  exported(): { text: string; width: number; height: number } {
    const copy = this.svg.cloneNode(true) as SVGSVGElement;
    const { x, y, width, height } = this.frame;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    copy.querySelector(":scope > g")!.removeAttribute("transform");
    copy.prepend(s("style", {}, sheet()), s("rect", { x, y, width, height, fill: colours().paper }));
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }
}

/** The node that lies nearest in that direction; what is aside counts more than what is far. */
function nearest(from: Node, nodes: Node[], [dx, dy]: [number, number]): Node | null {
  let best: Node | null = null;
  let least = Infinity;
  for (const node of nodes) {
    const along = (node.x - from.x) * dx + (node.y - from.y) * dy;
    const aside = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
    if (along <= 1 || aside > 4 * along + 40) continue;
    if (along + 2 * aside < least) [best, least] = [node, along + 2 * aside];
  }
  return best;
}

function middle(first: [number, number], second: [number, number]): [number, number] {
  return [(first[0] + second[0]) / 2, (first[1] + second[1]) / 2 + 4];
}

function ends(from: Node, to: Node): [number, number][] {
  return [border(from, to.x, to.y), border(to, from.x, from.y)];
}

/** Where a line from the middle of the node towards a point leaves it. */
function border(node: Node, x: number, y: number): [number, number] {
  const [dx, dy] = [x - node.x, y - node.y];
  const length = Math.hypot(dx, dy) || 1;
  const reach =
    node.shape === "circle" || node.shape === "double"
      ? node.width / 2 / length
      : Math.min(node.width / 2 / Math.abs(dx || 1e-9), node.height / 2 / Math.abs(dy || 1e-9));
  return [node.x + dx * Math.min(reach, 1), node.y + dy * Math.min(reach, 1)];
}

/** The rules of the style sheet that the drawing needs, with the colours of now. */
function sheet(): string {
  const found: string[] = [];
  for (const styles of document.styleSheets) {
    for (const rule of styles.cssRules) {
      if (rule instanceof CSSStyleRule && rule.selectorText.includes(".stage")) {
        found.push(rule.cssText.replace(/\.stage /g, ""));
      }
    }
  }
  const ink = colours() as unknown as Record<string, string>;
  return found.join("\n").replace(/var\(--([a-z]+)\)/g, (_, name: string) => ink[name] ?? "black");
}
