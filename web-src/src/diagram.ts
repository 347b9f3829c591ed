// The space-time diagram: a lane a process, time to the right. Only what is in sight is drawn; where events are
// closer than points of the screen, their density is drawn instead.

import { Events } from "./events";
import type { Pen } from "./glyphs";
import { JOINT, MESSAGE, ORDER } from "./model";
import type { Lane, Level } from "./places";
import { DENSE, elided, FONT, head, line, lowerBound, MONO, niceStep, RULER, variableName } from "./strokes";
import { colours } from "./theme";

const MOST_ARROWS = 2000;
/** Of arrows in a picture of density, which are only a shade of it. */
const MOST_SHADES = 600;

export class Diagram extends Events {
  /** Arrows in sight, and how many of them were drawn. */
  arrows = { visible: 0, drawn: 0 };

  // ---- drawing ----------------------------------------------------------------------------------------

  draw(pen: Pen): void {
    this.colour = colours();
    this.measure(pen);
    this.clampView();
    pen.fillStyle = this.colour.paper;
    pen.fillRect(0, 0, this.width, this.height);
    pen.lineJoin = "round";
    this.placeCut();
    pen.save();
    pen.beginPath();
    pen.rect(0, RULER, this.width, this.height - RULER);
    pen.clip();
    this.drawLanes(pen);
    this.drawArrows(pen);
    this.drawCut(pen);
    this.drawMissing(pen, false);
    for (const lane of this.lanes) {
      if (!this.isInSight(lane)) continue;
      if (lane.process !== null) this.drawEvents(pen, lane, lane.process);
      else this.drawVariable(pen, lane, lane.timeline!);
    }
    this.drawMissing(pen, true);
    this.drawMarks(pen);
    this.drawHandles(pen);
    this.drawNames(pen);
    pen.restore();
    this.drawRuler(pen);
  }

  private measure(pen: Pen): void {
    let widest = 30;
    for (const lane of this.lanes.slice(0, 200)) {
      pen.font = lane.process === null ? `12px ${MONO}` : `600 13px ${FONT}`;
      widest = Math.max(widest, pen.measureText(elided(this.laneName(lane), 22)).width + (lane.process === null ? 8 : 0));
    }
    this.gutter = Math.ceil(widest) + 26;
  }

  private laneName(lane: Lane): string {
    return lane.process !== null ? this.run.processes[lane.process]!.name : variableName(this.run, lane.timeline!);
  }

  private isInSight(lane: Lane): boolean {
    return lane.top - this.top < this.height && lane.top + lane.height - this.top > RULER;
  }

  private drawLanes(pen: Pen): void {
    for (const lane of this.lanes) {
      if (!this.isInSight(lane) || lane.process === null) continue;
      pen.strokeStyle = this.colour.line;
      pen.lineWidth = 2;
      line(pen, this.gutter, lane.y - this.top, this.width, lane.y - this.top);
      this.drawBars(pen, lane, lane.process);
    }
  }

  private drawNames(pen: Pen): void {
    pen.fillStyle = this.colour.paper;
    pen.fillRect(0, 0, this.gutter - 6, this.height);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const lane of this.lanes) {
      if (!this.isInSight(lane)) continue;
      const isFocused = lane.process !== null && lane.process === this.state.lane;
      pen.font = lane.process === null ? `12px ${MONO}` : `600 13px ${FONT}`;
      pen.fillStyle = isFocused ? this.colour.accent : lane.process === null ? this.colour.faint : this.colour.text;
      pen.fillText(elided(this.laneName(lane), 22), lane.process === null ? 20 : 12, lane.y - this.top);
    }
    pen.strokeStyle = this.colour.line;
    pen.lineWidth = 1;
    line(pen, this.gutter - 6, RULER, this.gutter - 6, this.height);
  }

  private drawRuler(pen: Pen): void {
    pen.fillStyle = this.colour.soft;
    pen.fillRect(0, 0, this.width, RULER);
    pen.strokeStyle = this.colour.line;
    pen.lineWidth = 1;
    line(pen, 0, RULER - 0.5, this.width, RULER - 0.5);
    const every = niceStep(70 / this.scale);
    pen.font = `11px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = this.colour.faint;
    const first = Math.max(0, Math.ceil(this.columnAt(this.gutter + 16) / every) * every);
    for (let column = first; column < this.layout.columns && this.x(column) < this.width; column += every) {
      pen.fillText((column + 1).toLocaleString("en"), this.x(column), RULER / 2);
    }
    const xs = this.cutXs.filter((_, index) => this.lanes[index]!.process !== null);
    const grip = Math.max(...xs, this.gutter);
    if (grip > this.gutter && grip < this.width) {
      pen.fillStyle = this.colour.mark;
      pen.beginPath();
      pen.moveTo(grip - 6, 6);
      pen.lineTo(grip + 6, 6);
      pen.lineTo(grip + 6, RULER - 10);
      pen.lineTo(grip, RULER - 3);
      pen.lineTo(grip - 6, RULER - 10);
      pen.closePath();
      pen.fill();
    }
    pen.fillStyle = this.colour.soft;
    pen.fillRect(0, 0, this.gutter - 6, RULER - 1);
  }

  /** The events that are in sight, for files. */
  *eventsInSight(): Generator<number> {
    const [first, last] = [this.columnAt(this.gutter) - 0.5, this.columnAt(this.width) + 0.5];
    for (const lane of this.lanes) {
      if (lane.process === null || !this.isInSight(lane)) continue;
      const chain = this.run.chains[lane.process]!;
      for (let at = this.from(lane.process, first); at < chain.length; at++) {
        if (this.layout.column[chain[at]!]! > last) break;
        yield chain[at]!;
      }
    }
  }

  // ---- arrows -----------------------------------------------------------------------------------------

  private visibleEdges(): number[] {
    const first = this.columnAt(this.gutter);
    const last = this.columnAt(this.width);
    const ranges: [Level, number, number][] = [];
    let count = 0;
    for (const level of this.levels) {
      const from = lowerBound(level.first, first - level.reach);
      const to = lowerBound(level.first, last + 1);
      ranges.push([level, from, to]);
      count += to - from;
    }
    this.arrows.visible = count;
    const stride = Math.max(1, Math.ceil(count / (this.scale < DENSE ? MOST_SHADES : MOST_ARROWS)));
    const found: number[] = [];
    for (const [level, from, to] of ranges) for (let at = from; at < to; at += stride) found.push(level.edges[at]!);
    return found;
  }

  private drawArrows(pen: Pen): void {
    const edges = this.visibleEdges();
    this.arrows.drawn = edges.length;
    const isThin = edges.length > 600;
    pen.globalAlpha = edges.length < this.arrows.visible ? 0.35 : isThin ? 0.6 : 1;
    const flash = this.state.flash;
    if (isThin) for (const kind of [MESSAGE, ORDER, JOINT]) this.drawThin(pen, edges, kind);
    else for (const edge of edges) if (edge !== flash?.edge) this.drawArrow(pen, edge, 1.5);
    pen.globalAlpha = 1;
    if (flash && flash.edge >= 0) {
      const left = Math.max(0, flash.until - performance.now());
      const pulse = 0.5 + 0.5 * Math.cos((left / 160) * Math.PI);
      this.drawArrow(pen, flash.edge, 3 + 3 * pulse, this.colour.bad);
    }
  }

  /** Many arrows of one kind in one stroke, without heads. */
  private drawThin(pen: Pen, edges: number[], kind: number): void {
    const { run, layout } = this;
    pen.strokeStyle = kind === MESSAGE ? this.colour.accent : kind === JOINT ? this.colour.text : this.colour.faint;
    pen.lineWidth = kind === JOINT ? 2 : 0.8;
    pen.beginPath();
    for (const edge of edges) {
      if (run.edgeKind[edge] !== kind) continue;
      const [from, to] = [run.edgeFrom[edge]!, run.edgeTo[edge]!];
      const first = this.laneOf[run.process[from]!];
      const second = this.laneOf[run.process[to]!];
      if (!first || !second) continue;
      pen.moveTo(this.x(layout.column[from]!), first.y - this.top);
      pen.lineTo(this.x(layout.column[to]!), second.y - this.top);
    }
    pen.stroke();
  }

  private drawArrow(pen: Pen, edge: number, width: number, colour: string | null = null): void {
    const { run } = this;
    const from = this.place(run.edgeFrom[edge]!);
    const to = this.place(run.edgeTo[edge]!);
    if (!from || !to) return;
    const kind = run.edgeKind[edge]!;
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const room = this.radius + 1;
    const dx = ((to.x - from.x) / length) * room;
    const dy = ((to.y - from.y) / length) * room;
    pen.strokeStyle = pen.fillStyle = colour ?? (kind === MESSAGE ? this.colour.accent : kind === JOINT ? this.colour.text : this.colour.faint);
    pen.lineWidth = kind === JOINT ? width * 2.4 : width;
    pen.setLineDash(kind === MESSAGE || kind === JOINT ? [] : [5, 4]);
    line(pen, from.x + dx, from.y + dy, to.x - dx, to.y - dy);
    pen.setLineDash([]);
    if (kind !== JOINT && this.scale > 10 && length > 3 * room) head(pen, from.x, from.y, to.x - dx, to.y - dy);
  }

  // ---- the cut ----------------------------------------------------------------------------------------

  /** Where the cut line crosses each lane: between the last event inside and the next, as straight as can be. */
  private placeCut(): void {
    const { run, layout, state } = this;
    const ends = this.lanes.map((lane) => {
      if (lane.process === null) return null;
      const chain = run.chains[lane.process]!;
      const count = state.cut[lane.process]!;
      const before = count ? layout.column[chain[count - 1]!]! : -1;
      const after = count < chain.length ? layout.column[chain[count]!]! : layout.columns + 0.2;
      return [before, Math.max(after, before)] as const;
    });
    const wanted = Math.max(-0.5, ...ends.map((each) => (each ? each[0] + 0.5 : -0.5)));
    let previous = this.x(wanted);
    this.cutXs = ends.map((each) => {
      if (!each) return previous;
      const [before, after] = each;
      const room = Math.min(0.42, (after - before) / 2);
      previous = this.x(Math.min(Math.max(wanted, before + room), after - room));
      return previous;
    });
  }

  private drawCut(pen: Pen): void {
    if (!this.lanes.length) return;
    const points = this.lanes.flatMap((lane, index) => {
      const x = this.cutXs[index]!;
      return [
        [x, lane.top - this.top],
        [x, lane.top + lane.height - this.top],
      ] as [number, number][];
    });
    const bottom = points[points.length - 1]![1];
    pen.beginPath();
    pen.moveTo(this.gutter - 6, RULER);
    points.forEach(([x, y]) => pen.lineTo(x, y));
    pen.lineTo(this.gutter - 6, bottom);
    pen.closePath();
    pen.fillStyle = this.colour.past;
    pen.fill();
    pen.beginPath();
    points.forEach(([x, y], index) => (index ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.strokeStyle = this.colour.mark;
    pen.lineWidth = 2.5;
    pen.stroke();
  }

  private drawHandles(pen: Pen): void {
    this.lanes.forEach((lane, index) => {
      if (lane.process === null || !this.isInSight(lane)) return;
      const x = this.cutXs[index]!;
      const y = lane.y - this.top;
      pen.beginPath();
      const half = Math.min(11, lane.height / 2 - 5);
      pen.roundRect(x - 5, y - half, 10, half * 2, 5);
      pen.fillStyle = this.colour.mark;
      pen.fill();
      pen.strokeStyle = this.colour.paper;
      pen.lineWidth = 1.5;
      pen.stroke();
      pen.lineWidth = 1;
      for (const dx of [-1.5, 1.5]) line(pen, x + dx, y - 4, x + dx, y + 4);
    });
  }

  // ---- what is pointed out ----------------------------------------------------------------------------

  /** The two events whose missing order matters: first, below the events, a dotted way; then rings with names. */
  private drawMissing(pen: Pen, rings: boolean): void {
    const missing = this.state.chosen()?.missing;
    if (!missing) return;
    const first = this.place(missing.first);
    const second = this.place(missing.second);
    if (!first || !second) return;
    if (!rings) {
      pen.strokeStyle = this.colour.bad;
      pen.lineWidth = 2;
      pen.setLineDash([2, 4]);
      pen.beginPath();
      pen.moveTo(first.x, first.y);
      pen.quadraticCurveTo((first.x + second.x) / 2, (first.y + second.y) / 2 - 34, second.x, second.y);
      pen.stroke();
      pen.setLineDash([]);
      return;
    }
    for (const [at, name] of [[first, "A"], [second, "B"]] as const) {
      pen.lineWidth = 2.5;
      pen.strokeStyle = this.colour.bad;
      pen.beginPath();
      pen.arc(at.x, at.y, this.radius + 5, 0, 2 * Math.PI);
      pen.stroke();
      pen.beginPath();
      pen.arc(at.x + this.radius + 8, at.y - this.radius - 8, 8, 0, 2 * Math.PI);
      pen.fillStyle = this.colour.bad;
      pen.fill();
      pen.fillStyle = this.colour.paper;
      pen.font = `700 11px ${FONT}`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(name, at.x + this.radius + 8, at.y - this.radius - 7.5);
    }
  }

  private drawMarks(pen: Pen): void {
    const { state, colour } = this;
    const ring = (event: number, ink: string, by: number, dash: number[]) => {
      const at = this.place(event);
      if (!at || at.x < this.gutter - 20 || at.x > this.width + 20) return;
      pen.strokeStyle = ink;
      pen.lineWidth = 2;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.arc(at.x, at.y, this.radius + by, 0, 2 * Math.PI);
      pen.stroke();
      pen.setLineDash([]);
    };
    const stride = Math.max(1, Math.ceil(state.hits.length / 4000));
    for (let at = 0; at < state.hits.length; at += stride) ring(state.hits[at]!, colour.open, 4, []);
    if (state.hit >= 0) ring(state.hits[state.hit]!, colour.open, 7, []);
    for (const match of state.chosen()?.matches ?? []) for (const event of match) ring(event, colour.bad, 6, [3, 2]);
    if (state.hovered !== null) ring(state.hovered, colour.accent, 4, []);
    if (state.selected !== null) ring(state.selected, colour.accent, 6, []);
    this.drawMoment(pen);
  }

  private drawMoment(pen: Pen): void {
    const { order } = this.state;
    if (!order || order.moment === null || order.moment < 1) return;
    const at = this.place(order.events[order.moment - 1]!);
    if (!at) return;
    const y = at.y - this.radius - 23;
    pen.strokeStyle = pen.fillStyle = this.colour.bad;
    pen.lineWidth = 2;
    line(pen, at.x, at.y - this.radius - 19, at.x, y - 8);
    pen.beginPath();
    pen.moveTo(at.x, y - 8);
    pen.lineTo(at.x + 11, y - 4);
    pen.lineTo(at.x, y);
    pen.closePath();
    pen.fill();
  }

  /** The whole run as a strip, with the part in sight and the cut. */
  drawOverview(pen: Pen, width: number, height: number): void {
    const colour = this.colour;
    pen.fillStyle = colour.soft;
    pen.fillRect(0, 0, width, height);
    const counts = this.overviewCounts(width);
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    pen.fillStyle = colour.faint;
    pen.beginPath();
    counts.forEach((count, x) => {
      if (count) pen.rect(x, height - 3 - (height - 8) * (count / most), 1, (height - 8) * (count / most));
    });
    pen.fill();
    const at = (column: number) => ((column + 0.7) / (this.layout.columns + 1.4)) * width;
    pen.fillStyle = colour.mark;
    const wanted = this.columnAt(Math.max(this.gutter, ...this.cutXs));
    pen.fillRect(at(wanted) - 1, 0, 2, height);
    for (const event of this.state.hits.slice(0, 2000)) {
      pen.fillStyle = colour.open;
      pen.fillRect(at(this.layout.column[event]!), 0, 2, 5);
    }
    const left = at(this.left);
    const seen = ((this.width - this.gutter) / this.scale / (this.layout.columns + 1.4)) * width;
    pen.strokeStyle = colour.accent;
    pen.lineWidth = 2;
    pen.strokeRect(left + 1, 1, Math.max(4, Math.min(seen, width - left) - 2), height - 2);
  }

  private overview: { layout: unknown; width: number; counts: Int32Array } | null = null;

  private overviewCounts(width: number): Int32Array {
    if (this.overview?.layout === this.layout && this.overview.width === width) return this.overview.counts;
    const counts = new Int32Array(Math.max(1, Math.floor(width)));
    const factor = counts.length / (this.layout.columns + 1.4);
    for (const column of this.layout.column) counts[Math.min(counts.length - 1, Math.floor((column + 0.7) * factor))]!++;
    this.overview = { layout: this.layout, width, counts };
    return counts;
  }
}
