// Where everything of the diagram stands: lanes, columns, and the part of them that is in sight.

import type { Timeline } from "./cut";
import { layoutOf, type Layout } from "./layout";
import { JOINT, type Bar, type Ints, type Run } from "./model";
import type { State } from "./state";
import { BAR, LANE, RULER, variableName } from "./strokes";

const TALLEST = 118;
const SMALL_LANE = 30;
const DEEPEST = 4;
const VARIABLE_LANE = 34;

export interface Lane {
  process: number | null;
  timeline: Timeline | null;
  top: number;
  height: number;
  /** Where the events stand. */
  y: number;
}

/** Edges by their length in columns, a power of two a level, each sorted by its first column. */
export interface Level {
  reach: number;
  edges: Ints;
  first: Ints;
}

const indexed = new WeakMap<Layout, Level[]>();

export class Places {
  layout: Layout;
  lanes: Lane[] = [];
  laneOf: (Lane | undefined)[] = [];
  left = -0.7;
  scale = 48;
  top = 0;
  gutter = 90;
  width = 800;
  height = 400;
  cutXs: number[] = [];
  protected levels: Level[] = [];
  /** For each process and depth its bars; those of one depth follow each other. */
  protected readonly bars: Bar[][][];
  protected readonly depths: number[];

  constructor(readonly run: Run, readonly state: State) {
    this.layout = layoutOf(run, false);
    this.bars = run.processes.map(() => []);
    for (const bar of run.bars()) if (bar.depth < DEEPEST) (this.bars[bar.process]![bar.depth] ??= []).push(bar);
    for (const bars of this.bars) for (const level of bars) level.sort((a, b) => a.first - b.first);
    this.depths = this.bars.map((bars) => bars.length);
    this.index();
    this.arrange();
  }

  refold(): void {
    this.layout = layoutOf(this.run, this.state.folded);
    this.index();
  }

  // ---- places -----------------------------------------------------------------------------------------

  protected index(): void {
    const found = indexed.get(this.layout) ?? this.sortedEdges();
    indexed.set(this.layout, found);
    this.levels = found;
  }

  private sortedEdges(): Level[] {
    const { run, layout } = this;
    const start = new Int32Array(layout.columns + 2);
    const firstOf = (edge: number) => Math.min(layout.column[run.edgeFrom[edge]!]!, layout.column[run.edgeTo[edge]!]!);
    const lengthOf = (edge: number) => Math.abs(layout.column[run.edgeTo[edge]!]! - layout.column[run.edgeFrom[edge]!]!);
    const isDrawn = (edge: number) => run.edgeKind[edge] !== JOINT || run.edgeFrom[edge]! < run.edgeTo[edge]!;
    const count = run.edgeFrom.length;
    for (let edge = 0; edge < count; edge++) start[firstOf(edge) + 1]!++;
    for (let at = 0; at <= layout.columns; at++) start[at + 1]! += start[at]!;
    const sorted = new Int32Array(count);
    for (let edge = 0; edge < count; edge++) sorted[start[firstOf(edge)]!++] = edge;
    const lists: number[][] = [];
    for (const edge of sorted) {
      if (isDrawn(edge)) (lists[Math.ceil(Math.log2(lengthOf(edge) + 1))] ??= []).push(edge);
    }
    return lists
      .map((edges, power) => ({ reach: 2 ** power, edges: Int32Array.from(edges), first: Int32Array.from(edges, firstOf) }))
      .filter(Boolean);
  }

  /** The lanes from top to bottom: processes that are not hidden, and the variables asked for. */
  arrange(): void {
    const { run, state } = this;
    const shownCount = run.processes.length - state.filter.hidden.size;
    const many = shownCount > 24;
    const bars = this.depths.reduce((sum, depth, process) => sum + (state.filter.hidden.has(process) ? 0 : depth), 0);
    const taken = RULER + 30 + bars * (BAR + 2) + state.variables.size * VARIABLE_LANE;
    // A few processes share the room that bars and variables leave.
    const roomy = Math.max(LANE, Math.min(TALLEST, (this.height - taken) / Math.max(1, shownCount)));
    this.lanes = [];
    this.laneOf = [];
    let top = RULER + 4;
    const add = (lane: Omit<Lane, "top" | "y">, y: number): Lane => {
      const made = { ...lane, top, y: top + y };
      this.lanes.push(made);
      top += lane.height;
      return made;
    };
    const shown = (process: number | null) =>
      !state.variables.size ? [] : state.cuts!.timelines.filter((line) => line.owner === process && state.variables.has(variableName(run, line)));
    run.processes.forEach((_, process) => {
      if (state.filter.hidden.has(process)) return;
      const height = (many ? SMALL_LANE : roomy) + this.depths[process]! * (BAR + 2);
      this.laneOf[process] = add({ process, timeline: null, height }, many ? 15 : Math.round(roomy * 0.3) + 17);
      for (const timeline of shown(process)) add({ process: null, timeline, height: VARIABLE_LANE }, VARIABLE_LANE / 2);
    });
    for (const timeline of shown(null)) add({ process: null, timeline, height: VARIABLE_LANE }, VARIABLE_LANE / 2);
  }

  get contentHeight(): number {
    const last = this.lanes[this.lanes.length - 1];
    return last ? last.top + last.height : RULER;
  }

  x(column: number): number {
    return this.gutter + (column - this.left) * this.scale;
  }

  columnAt(x: number): number {
    return (x - this.gutter) / this.scale + this.left;
  }

  place(event: number): { x: number; y: number } | null {
    const lane = this.laneOf[this.run.process[event]!];
    return lane ? { x: this.x(this.layout.column[event]!), y: lane.y - this.top } : null;
  }

  /** The first event of the process that stands at that column or later, as an index into its chain. */
  from(process: number, column: number): number {
    const chain = this.run.chains[process]!;
    let low = 0;
    let high = chain.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.layout.column[chain[middle]!]! < column) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The event under a point, if one is near. */
  hit(x: number, y: number): number | null {
    if (x < this.gutter || y < RULER) return null;
    const lane = this.lanes.find((each) => each.process !== null && Math.abs(each.y - this.top - y) < 16);
    if (!lane || lane.process === null) return null;
    const chain = this.run.chains[lane.process]!;
    const column = this.columnAt(x);
    const near = this.from(lane.process, column);
    let best: number | null = null;
    let distance = Math.max(10, this.radius + 4);
    for (const index of [near - 1, near]) {
      const event = chain[index];
      if (event === undefined) continue;
      const away = Math.abs(this.x(this.layout.column[event]!) - x);
      if (away < distance) [best, distance] = [event, away];
    }
    return best;
  }

  handleAt(x: number, y: number): number | null {
    for (const [index, lane] of this.lanes.entries()) {
      if (lane.process === null) continue;
      if (Math.abs(lane.y - this.top - y) <= 12 && Math.abs(this.cutXs[index]! - x) <= 9) return lane.process;
    }
    return null;
  }

  /** How many events of the process stand before that point: where its cut is dragged to. */
  countAt(process: number, x: number): number {
    return this.from(process, this.columnAt(x));
  }

  /** All events that stand in columns before that point: always a cut, for columns follow the order. */
  cutAt(x: number): number[] {
    const column = this.columnAt(x);
    const counts = this.run.processes.map((_, process) => this.from(process, column));
    return this.layout.fold ? this.state.cuts!.closure(counts) : counts;
  }

  // ---- the view ---------------------------------------------------------------------------------------

  get radius(): number {
    const small = this.lanes.length > 24 ? 6 : 8;
    return Math.max(2, Math.min(small, this.scale * 0.3));
  }

  clampView(): void {
    const widest = Math.max(90, (this.width - this.gutter) / 4);
    const least = (this.width - this.gutter) / (this.layout.columns + 1.4);
    this.scale = Math.min(widest, Math.max(this.scale, Math.min(least, 30)));
    const seen = (this.width - this.gutter) / this.scale;
    const most = Math.max(-0.7, this.layout.columns + 0.7 - seen);
    this.left = Math.min(most, Math.max(-0.7, this.left));
    this.top = Math.max(0, Math.min(this.top, this.contentHeight - this.height + 8));
  }

  fit(): void {
    this.scale = Math.min(150, (this.width - this.gutter) / (this.layout.columns + 1.4));
    this.left = -0.7;
    this.clampView();
  }

  zoom(factor: number, x: number): void {
    const column = this.columnAt(x);
    this.scale *= factor;
    this.clampView();
    this.left = column - (x - this.gutter) / this.scale;
    this.clampView();
  }

  reveal(event: number): void {
    const column = this.layout.column[event]!;
    const x = this.x(column);
    if (x < this.gutter + 20 || x > this.width - 30) this.left = column - (this.width - this.gutter) / this.scale / 2;
    const lane = this.laneOf[this.run.process[event]!];
    if (lane && (lane.top - this.top < RULER || lane.top + lane.height - this.top > this.height)) {
      this.top = lane.top - this.height / 2;
    }
    this.clampView();
  }
}
