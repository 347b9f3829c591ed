// Pictures as DOT, for Graphviz: what is drawn, and how it hangs together. Names are texts in quotation marks, nothing else.

import type { Run } from "./model";
import { JOINT, MESSAGE } from "./model";
import type { Link, Node } from "./stage";

const SHAPES: Record<Node["shape"], string> = {
  box: "shape=box", round: "shape=box, style=rounded", circle: "shape=circle", double: "shape=doublecircle",
  framed: "shape=box, style=rounded, peripheries=2", bar: "shape=box, style=filled, fillcolor=black, width=0.08", plain: "shape=plaintext",
};

export function quoted(...lines: string[]): string {
  return `"${lines.map((line) => line.replace(/[\\"]/g, "\\$&").replace(/[\r\n]+/g, " ")).join("\\n")}"`;
}

function digraph(title: string, direction: string, body: string[]): string {
  const head = [`digraph ${quoted(title)} {`, '  node [fontname="monospace", fontsize=10];', `  rankdir=${direction};`];
  return [...head, ...body, "}", ""].join("\n");
}

/** A drawing of nodes and arrows. */
export function dotOf(title: string, drawn: { nodes: Node[]; links: Link[] }, direction = "TB"): string {
  const number = new Map(drawn.nodes.map((node, index) => [node.id, `n${index}`]));
  const nodes = drawn.nodes.map((node) => {
    const marks = (node.marks ?? []).map(([sign]) => sign).join(" ");
    const lines = [...node.lines, ...(marks ? [marks] : [])];
    const mark = /\b(marked|is-false|satisfying|here)\b/.test(node.classes) ? ", penwidth=2.5" : "";
    return `  ${number.get(node.id)} [label=${quoted(...lines)}, ${SHAPES[node.shape]}${mark}];`;
  });
  const links = drawn.links.map((link) => {
    const facts = [link.label ? `label=${quoted(link.label)}` : "", /\b(order|added)\b/.test(link.classes) ? "style=dashed" : "", /\bpath\b/.test(link.classes) ? "penwidth=3" : "", /\bbare\b/.test(link.classes) ? "arrowhead=none" : ""].filter(Boolean);
    return `  ${number.get(link.from)} -> ${number.get(link.to)}${facts.length ? ` [${facts.join(", ")}]` : ""};`;
  });
  return digraph(title, direction, [...nodes, ...links]);
}

/** The events of a run that are in sight: a row a process, messages solid, other order dashed. */
export function dotOfRun(title: string, run: Run, shown: Iterable<number>): string {
  const events = new Set(shown);
  const rows = new Map<number, number[]>();
  for (const event of [...events].sort((a, b) => a - b)) rows.set(run.process[event]!, [...(rows.get(run.process[event]!) ?? []), event]);
  const body = [...rows].flatMap(([process, row]) => [
    `  subgraph cluster_${process} {`,
    `    label=${quoted(run.processes[process]!.name)};`,
    ...row.map((event) => `    e${event} [label=${quoted(run.shortName(event), run.action(event))}, shape=box, style=rounded];`),
    ...row.slice(1).map((event, at) => `    e${row[at]} -> e${event};`),
    "  }",
  ]);
  for (let edge = 0; edge < run.edgeFrom.length; edge++) {
    const [from, to, kind] = [run.edgeFrom[edge]!, run.edgeTo[edge]!, run.edgeKind[edge]!];
    if (!events.has(from) || !events.has(to) || (kind === JOINT && from > to)) continue;
    const facts = kind === MESSAGE ? "color=blue" : kind === JOINT ? "dir=none, penwidth=3" : "style=dashed";
    body.push(`  e${from} -> e${to} [${facts}];`);
  }
  return digraph(title, "LR", body);
}
