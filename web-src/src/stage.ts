// A drawing of nodes and arrows as SVG, that can be moved and scaled; placed by dagre where nothing else is said.

import { Graph as LayeredGraph, layout as layered } from "@dagrejs/dagre";
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomBehavior } from "d3-zoom";
import { h, s } from "./dom";
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
}

const LINE = 15;
const LETTER = 7.2;
/** Letters of a line; the whole text is in the title. */
const LONGEST = 60;
/** Below this scale nothing can be read. */
const SMALLEST = 0.55;

export function sized(given: Omit<Node, "x" | "y" | "width" | "height">): Node {
  const node = { ...given, lines: given.lines.map((line) => (line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line)) };
  const widest = Math.max(1, ...node.lines.map((line) => line.length));
  const marks = node.marks?.length ?? 0;
  const round = node.shape === "circle" || node.shape === "double";
  const width = Math.max(round ? 30 : 24, widest * LETTER + 16, marks * 18 + 12);
  const height = Math.max(node.lines.length, 1) * LINE + 10 + (marks ? 18 : 0);
  const side = round ? Math.max(width, height) : 0;
  if (node.shape === "bar") return { ...node, x: 0, y: 0, width: 10, height: 34 };
  return { ...node, x: 0, y: 0, width: side || width, height: side || height };
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

export class Stage {
  readonly element: HTMLElement;
  private readonly svg: SVGSVGElement;
  private readonly group: SVGElement;
  private readonly zoomer: ZoomBehavior<SVGSVGElement, unknown>;
  private frame = { x: 0, y: 0, width: 1, height: 1 };

  constructor(label: string, private readonly picked: (id: string) => void, private readonly smallest = SMALLEST) {
    this.group = s("g");
    const heads = ["flow", "path", "added"].map((kind) =>
      s("marker", { id: `head-${kind}`, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
        s("path", { d: "M0 0L8 4L0 8z", class: `head ${kind}` })),
    );
    this.svg = s("svg", { class: "stage", role: "img", "aria-label": label, tabindex: 0 }, s("defs", {}, ...heads), this.group) as SVGSVGElement;
    this.element = h("div", { class: "stage-box" }, this.svg);
    this.zoomer = zoom<SVGSVGElement, unknown>().scaleExtent([0.05, 4]).on("zoom", (event: { transform: { toString(): string } }) => {
      this.group.setAttribute("transform", event.transform.toString());
    });
    select(this.svg).call(this.zoomer).on("dblclick.zoom", null);
    this.svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.fit(this.smallest)).observe(this.element);
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const move = moves[event.key];
    if (move) select(this.svg).call(this.zoomer.translateBy, ...move);
    else if (event.key === "+" || event.key === "=") select(this.svg).call(this.zoomer.scaleBy, 1.25);
    else if (event.key === "-") select(this.svg).call(this.zoomer.scaleBy, 0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  show(nodes: Node[], links: Link[], keep = false): void {
    const at = new Map(nodes.map((node) => [node.id, node]));
    this.group.replaceChildren(...links.flatMap((link) => this.link(link, at)), ...nodes.map((node) => this.node(node)));
    const xs = nodes.flatMap((node) => [node.x - node.width / 2, node.x + node.width / 2]);
    const ys = nodes.flatMap((node) => [node.y - node.height / 2, node.y + node.height / 2]);
    const [left, top] = [Math.min(0, ...xs) - 14, Math.min(0, ...ys) - 14];
    this.frame = { x: left, y: top, width: Math.max(1, ...xs) + 14 - left, height: Math.max(1, ...ys) + 14 - top };
    if (!keep) this.fit(this.smallest);
  }

  private link(link: Link, at: Map<string, Node>): SVGElement[] {
    const from = at.get(link.from);
    const to = at.get(link.to);
    if (!from || !to) return [];
    const points = link.points.length ? link.points : ends(from, to);
    const path = points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    const kind = link.classes.includes("path") ? "path" : link.classes.includes("added") ? "added" : "flow";
    const bare = link.classes.includes("bare");
    const drawn = s("path", { d: path, class: `link ${link.classes}`, "marker-end": bare ? null : `url(#head-${kind})` }, s("title", {}, link.title));
    if (!link.label) return [drawn];
    const [x, y] = points.length === 2 ? middle(points[0]!, points[1]!) : points[Math.floor(points.length / 2)]!;
    return [drawn, s("text", { x, y: y - 4, class: "link-label" }, link.label)];
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
    const keyed = (event: Event) => {
      if (["Enter", " "].includes((event as KeyboardEvent).key)) event.preventDefault(), act();
    };
    return s("g", { class: `node ${node.classes}`, "data-id": node.id, tabindex: -1, role: "button", "aria-label": node.title, click: act, keydown: keyed }, ...parts);
  }

  /** The whole drawing, or its beginning if it would be smaller than that scale. */
  fit(least = 0): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight) return;
    const { x, y, width, height } = this.frame;
    const scale = Math.max(least, Math.min(1.4, clientWidth / width, clientHeight / height));
    const left = Math.max(0, (clientWidth - width * scale) / 2) - x * scale;
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
