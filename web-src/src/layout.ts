// Causal columns: an event stands one column further than everything that happened before it.
// Repeated stretches of a process may be folded: then a stretch stands in one column. Stretches that depend
// on each other both ways (a ping-pong of messages) become one: the strongly connected components.

import { JOINT, type Ints, type Run } from "./model";

export interface Fold {
  /** The events of one process, in their order. */
  process: number;
  first: number;
  last: number;
  period: number;
  times: number;
}

export interface Layout {
  /** The column of each event. */
  column: Ints;
  columns: number;
  /** For each event the fold it lies in, or -1. */
  fold: Ints | null;
  folds: Fold[];
}

const LONGEST_PERIOD = 12;
const FEWEST_TIMES = 3;
const SMALLEST_FOLD = 6;

const known = new WeakMap<Run, Map<boolean, Layout>>();

/** The columns of a run, computed once. */
export function layoutOf(run: Run, folded: boolean): Layout {
  const layouts = known.get(run) ?? new Map<boolean, Layout>();
  known.set(run, layouts);
  if (!layouts.has(folded)) layouts.set(folded, computed(run, folded));
  return layouts.get(folded)!;
}

function computed(run: Run, folded: boolean): Layout {
  const folds = folded ? repeatedStretches(run) : [];
  if (!folds.length) return { ...plainColumns(run), fold: null, folds: [] };
  const fold = new Int32Array(run.count).fill(-1);
  folds.forEach((each, number) => {
    for (let at = each.first; at <= each.last; at++) fold[run.chains[each.process]![at]!] = number;
  });
  return { ...foldedColumns(run, fold, folds), fold, folds };
}

function plainColumns(run: Run): { column: Ints; columns: number } {
  const column = new Int32Array(run.count);
  const last = new Int32Array(run.processes.length).fill(-1);
  let columns = 0;
  for (const step of run.steps) {
    const lines = run.joint.size ? run.lines(step) : null;
    let here = 0;
    for (const event of lines ?? [step]) {
      here = Math.max(here, last[run.process[event]!]! + 1);
      for (let index = run.inStart[event]!; index < run.inStart[event + 1]!; index++) {
        const edge = run.incoming[index]!;
        if (run.edgeKind[edge] !== JOINT) here = Math.max(here, column[run.edgeFrom[edge]!]! + 1);
      }
    }
    for (const event of lines ?? [step]) {
      column[event] = here;
      last[run.process[event]!] = here;
    }
    columns = Math.max(columns, here + 1);
  }
  return { column, columns };
}

/** What makes two events of a process look alike. */
function signatures(run: Run): Ints {
  const found = new Int32Array(run.count);
  const known = new Map<string, number>();
  const parts = ["label", "function", "place"].map((name) => run.column(name));
  for (let event = 0; event < run.count; event++) {
    const texts = parts.map((part) => (part.length ? part[event] : -1));
    const partners = new Set<number>();
    for (let index = run.inStart[event]!; index < run.inStart[event + 1]!; index++) {
      partners.add(run.process[run.edgeFrom[run.incoming[index]!]!]!);
    }
    const key = `${run.kind[event]}/${texts.join("/")}/${[...partners].sort().join()}`;
    let number = known.get(key);
    if (number === undefined) known.set(key, (number = known.size));
    found[event] = number;
  }
  return found;
}

export function repeatedStretches(run: Run): Fold[] {
  const signature = signatures(run);
  const folds: Fold[] = [];
  run.chains.forEach((chain, process) => {
    let at = 0;
    while (at < chain.length) {
      const best = longestRepetition(chain, signature, at);
      if (best === null) {
        at++;
        continue;
      }
      folds.push({ process, first: at, last: at + best.period * best.times - 1, ...best });
      at += best.period * best.times;
    }
  });
  return folds;
}

function longestRepetition(chain: Ints, signature: Ints, at: number): { period: number; times: number } | null {
  for (let period = 1; period <= LONGEST_PERIOD; period++) {
    let end = at + period;
    while (end < chain.length && signature[chain[end]!] === signature[chain[end - period]!]) end++;
    const times = Math.floor((end - at) / period);
    if (times >= FEWEST_TIMES && times * period >= SMALLEST_FOLD) return { period, times };
  }
  return null;
}

function foldedColumns(run: Run, fold: Ints, folds: Fold[]): { column: Ints; columns: number } {
  // Units are folds and single events; their components stand in one column each.
  const unit = new Int32Array(run.count);
  let units = folds.length;
  for (let event = 0; event < run.count; event++) unit[event] = fold[event]! >= 0 ? fold[event]! : units++;
  const sources: number[] = [];
  const targets: number[] = [];
  const connect = (first: number, second: number) => {
    if (unit[first] !== unit[second]) sources.push(unit[first]!), targets.push(unit[second]!);
  };
  for (const chain of run.chains) for (let at = 1; at < chain.length; at++) connect(chain[at - 1]!, chain[at]!);
  for (let edge = 0; edge < run.edgeFrom.length; edge++) connect(run.edgeFrom[edge]!, run.edgeTo[edge]!);
  const { component, order } = components(units, sources, targets);
  const place = new Int32Array(order.length);
  const start = starts(order.length, sources.map((unit) => component[unit]!));
  let columns = 0;
  for (const here of order) {
    columns = Math.max(columns, place[here]! + 1);
    for (let index = start.at[here]!; index < start.at[here + 1]!; index++) {
      const there = component[targets[start.edges[index]!]!]!;
      if (there !== here) place[there] = Math.max(place[there]!, place[here]! + 1);
    }
  }
  return { column: Int32Array.from(unit, (each) => place[component[each]!]!), columns };
}

function starts(count: number, ends: number[]): { at: Ints; edges: Ints } {
  const at = new Int32Array(count + 1);
  for (const end of ends) at[end + 1]!++;
  for (let index = 0; index < count; index++) at[index + 1]! += at[index]!;
  const next = at.slice();
  const edges = new Int32Array(ends.length);
  ends.forEach((end, edge) => (edges[next[end]!++] = edge));
  return { at, edges };
}

/** Tarjan's strongly connected components without recursion, and a topological order of them. */
export function components(count: number, sources: number[], targets: number[]): { component: Ints; order: number[] } {
  const { at, edges } = starts(count, sources);
  const number = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const component = new Int32Array(count).fill(-1);
  const next = at.slice(0, count);
  const stack: number[] = [];
  const path: number[] = [];
  let numbered = 0;
  let found = 0;
  for (let root = 0; root < count; root++) {
    if (number[root] !== -1) continue;
    path.push(root);
    while (path.length) {
      const node = path[path.length - 1]!;
      if (number[node] === -1) {
        number[node] = low[node] = numbered++;
        stack.push(node);
      }
      if (next[node]! < at[node + 1]!) {
        const other = targets[edges[next[node]!++]!]!;
        if (number[other] === -1) path.push(other);
        else if (component[other] === -1) low[node] = Math.min(low[node]!, number[other]!);
        continue;
      }
      path.pop();
      const above = path[path.length - 1];
      if (above !== undefined) low[above] = Math.min(low[above]!, low[node]!);
      if (low[node] !== number[node]) continue;
      for (let other = -1; other !== node; ) {
        other = stack.pop()!;
        component[other] = found;
      }
      found++;
    }
  }
  // Tarjan closes a component after everything that can be reached from it.
  return { component, order: Array.from({ length: found }, (_, index) => found - 1 - index) };
}
