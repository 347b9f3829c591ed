// The events of the diagram: their forms, or dots, or their density; function bars; the values of variables.

import type { Timeline } from "./cut";
import { glyphOf, outline, type Pen } from "./glyphs";
import type { Bar } from "./model";
import { Places, type Lane } from "./places";
import { BAR, DENSE, fitting, FONT, LANE, MONO, SMALL } from "./strokes";
import { colours, type Colours } from "./theme";

const FEWEST_LETTERS = 5;

export class Events extends Places {
  protected colour: Colours = colours();
  private steps: { order: unknown; at: Map<number, number> } = { order: null, at: new Map() };

  protected drawEvents(pen: Pen, lane: Lane, process: number): void {
    const first = this.columnAt(this.gutter) - 1;
    const last = this.columnAt(this.width) + 1;
    if (this.scale < DENSE) {
      this.drawDensity(pen, lane, process);
      return;
    }
    if (this.scale < SMALL && !this.layout.fold) {
      this.drawDots(pen, lane, process, first, last);
      return;
    }
    const { run, layout } = this;
    const chain = run.chains[process]!;
    const radius = this.radius;
    for (let at = this.from(process, first); at < chain.length; at++) {
      const event = chain[at]!;
      const column = layout.column[event]!;
      if (column > last) break;
      const fold = layout.fold ? layout.fold[event]! : -1;
      if (fold >= 0) {
        this.drawFold(pen, lane, fold);
        at = layout.folds[fold]!.last;
        continue;
      }
      this.drawEvent(pen, event, this.x(column), lane.y - this.top, radius);
      if (this.scale > 30) this.drawWord(pen, event, chain[at + 1], lane);
    }
  }

  /** Events too small for their forms: filled or hollow dots would not be told apart, so all are the same. */
  private drawDots(pen: Pen, lane: Lane, process: number, first: number, last: number): void {
    const { layout, state } = this;
    const chain = this.run.chains[process]!;
    const size = Math.max(2, this.scale * 0.6);
    const y = lane.y - this.top - size;
    for (let at = this.from(process, first); at < chain.length; at++) {
      const event = chain[at]!;
      const column = layout.column[event]!;
      if (column > last) break;
      pen.fillStyle = at < state.cut[process]! ? this.colour.accent : this.colour.text;
      pen.globalAlpha = state.matches(event) ? 1 : 0.25;
      pen.fillRect(this.x(column) - size / 2, y, size, size * 2);
    }
    pen.globalAlpha = 1;
  }

  private drawEvent(pen: Pen, event: number, x: number, y: number, radius: number): void {
    const { run, state, colour } = this;
    const glyph = glyphOf(run.kindOf(event));
    const isDim = !state.matches(event);
    const step = this.stepOf(event);
    const isDone = state.cuts!.contains(state.cut, event);
    const ink = step !== null && state.property !== null && isDone ? colour.bad : isDone ? colour.accent : colour.text;
    pen.globalAlpha = isDim ? 0.25 : 1;
    outline(pen, glyph.form, x, y, isDim ? radius * 0.6 : radius);
    pen.fillStyle = glyph.filled ? ink : colour.paper;
    pen.fill();
    pen.strokeStyle = ink;
    pen.lineWidth = isDone ? 2.2 : 1.4;
    pen.stroke();
    pen.globalAlpha = 1;
    if (step !== null && this.scale > 16 && state.property !== null && !isDim) {
      pen.font = `600 11px ${FONT}`;
      pen.fillStyle = isDone ? ink : colour.faint;
      pen.textAlign = "center";
      pen.textBaseline = "alphabetic";
      pen.fillText(String(step), x, y - radius - (this.isRinged(event) ? 9 : 7));
    }
  }

  /** Whether a ring is drawn around it: texts keep clear of that. */
  private isRinged(event: number): boolean {
    const { state } = this;
    const missing = state.chosen()?.missing;
    return event === missing?.first || event === missing?.second || event === state.selected;
  }

  /** The number of an event in the order that is shown. */
  private stepOf(event: number): number | null {
    const { order } = this.state;
    if (order === null) return null;
    if (this.steps.order !== order) {
      this.steps = { order, at: new Map() };
      if (order.events.length <= 200000) {
        for (let index = 0; index < order.events.length; index++) this.steps.at.set(order.events[index]!, index + 1);
      }
    }
    return this.steps.at.get(event) ?? null;
  }

  private drawWord(pen: Pen, event: number, next: number | undefined, lane: Lane): void {
    const { run } = this;
    const kind = run.kindOf(event);
    const word = run.text("label", event) ?? run.text("function", event) ?? (kind === "internal" ? "" : kind);
    const changes = this.scale > 44 ? this.changes(event) : "";
    if (!word && !changes) return;
    const x = this.x(this.layout.column[event]!);
    const gap = next === undefined ? 160 : (this.layout.column[next]! - this.layout.column[event]!) * this.scale;
    const isSmall = lane.height < LANE;
    pen.font = `10.5px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    const below = lane.y - this.top + this.radius + (this.isRinged(event) ? 17 : 13);
    const room = Math.min(gap, 150) - 4;
    const shown = fitting(pen, word, room);
    // Of a word of which next to nothing is left, the form of the event says more.
    if (word && !isSmall && (shown === word || shown.length > FEWEST_LETTERS)) {
      pen.fillStyle = this.colour.faint;
      pen.fillText(shown, x, below);
    }
    if (changes && !isSmall && this.depths[this.run.process[event]!] === 0) {
      pen.font = `10.5px ${MONO}`;
      pen.fillStyle = this.colour.text;
      pen.fillText(fitting(pen, changes, room), x, below + (word ? 12 : 0));
    }
  }

  private changes(event: number): string {
    const { run } = this;
    const found: string[] = [];
    for (const what of ["set", "write"] as const) {
      for (const [name, value] of run.entries(what, event)) found.push(`${run.strings[name]}=${run.values[value]}`);
    }
    return found.join(" ");
  }

  private drawFold(pen: Pen, lane: Lane, number: number): void {
    const fold = this.layout.folds[number]!;
    const x = this.x(this.layout.column[this.run.chains[fold.process]![fold.first]!]!);
    const y = lane.y - this.top;
    const half = Math.max(5, Math.min(24, this.scale * 0.46));
    const isDone = this.state.cut[fold.process]! > fold.last;
    pen.fillStyle = this.colour.bar;
    pen.strokeStyle = isDone ? this.colour.accent : this.colour.text;
    pen.lineWidth = isDone ? 2.2 : 1.4;
    for (const shift of [4, 0]) {
      pen.beginPath();
      pen.roundRect(x - half + shift, y - 10 - shift / 2, half * 2 - 4, 20, 4);
      pen.fill();
      pen.stroke();
    }
    if (half < 14) return;
    pen.font = `600 11px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = this.colour.text;
    pen.fillText(`×${fold.times}`, x - 2, y);
  }

  private drawDensity(pen: Pen, lane: Lane, process: number): void {
    const chain = this.run.chains[process]!;
    const y = lane.y - this.top;
    const bin = 3;
    const most = Math.max(1, bin / this.scale);
    const done = this.state.cut[process]!;
    let at = this.from(process, this.columnAt(this.gutter));
    for (let x = this.gutter; x < this.width && at < chain.length; x += bin) {
      const next = this.from(process, this.columnAt(x + bin));
      const count = next - at;
      if (count) {
        const size = 4 + 9 * Math.min(1, count / most);
        pen.fillStyle = next <= done ? this.colour.accent : this.colour.faint;
        pen.globalAlpha = 0.35 + 0.65 * Math.min(1, count / most);
        pen.fillRect(x, y - size, bin, size * 2);
      }
      at = next;
    }
    pen.globalAlpha = 1;
  }

  protected drawBars(pen: Pen, lane: Lane, process: number): void {
    const first = this.columnAt(this.gutter);
    const top = lane.y - this.top + (lane.height < LANE ? 10 : this.radius + 17);
    pen.font = `9px ${FONT}`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    this.bars[process]!.forEach((bars, depth) => {
      const y = top + depth * (BAR + 2);
      let reached = -Infinity;
      for (let at = this.firstBar(bars, first); at < bars.length; at++) {
        const bar = bars[at]!;
        const x1 = Math.max(this.gutter - 8, this.x(this.layout.column[bar.first]!));
        const end = bar.last < 0 ? this.layout.columns : this.layout.column[bar.last]!;
        const x2 = Math.min(this.width + 8, this.x(end));
        if (x1 > this.width) break;
        // Bars that fall on a point already drawn would not be seen.
        if (x2 < reached + 1) continue;
        reached = x2;
        pen.fillStyle = depth % 2 ? this.colour.line : this.colour.bar;
        pen.fillRect(x1, y, Math.max(1.5, x2 - x1), BAR);
        if (x2 - x1 > 46) {
          pen.fillStyle = this.colour.text;
          pen.fillText(fitting(pen, this.run.strings[bar.name]!, x2 - x1 - 8), x1 + 4, y + BAR / 2 + 0.5);
        }
      }
    });
  }

  /** The first bar that ends at that column or later. */
  private firstBar(bars: Bar[], column: number): number {
    let low = 0;
    let high = bars.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { last } = bars[middle]!;
      if (last >= 0 && this.layout.column[last]! < column) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The values of a variable as a band: a new piece at each assignment. */
  protected drawVariable(pen: Pen, lane: Lane, timeline: Timeline): void {
    const y = lane.y - this.top;
    const { layout, run } = this;
    const first = this.columnAt(this.gutter) - 1;
    const last = this.columnAt(this.width) + 1;
    pen.font = `11px ${MONO}`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    let low = 0;
    let high = timeline.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (layout.column[timeline.events[middle]!]! < first) low = middle + 1;
      else high = middle;
    }
    const stride = Math.max(1, Math.floor((DENSE * 2) / this.scale));
    for (let at = low - 1; at < timeline.events.length; at += stride) {
      const begin = at < 0 ? -0.5 : layout.column[timeline.events[at]!]!;
      if (begin > last) break;
      const next = timeline.events[Math.min(at + stride, timeline.events.length)];
      const end = next === undefined ? layout.columns : layout.column[next]!;
      const text = at < 0 ? timeline.initial : run.values[timeline.values[at]!]!;
      if (text === null) continue;
      const x1 = Math.max(this.gutter - 4, this.x(begin));
      const x2 = Math.min(this.width + 4, this.x(end));
      pen.fillStyle = this.colour.bar;
      pen.strokeStyle = this.colour.faint;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.roundRect(x1 + 1, y - 10, Math.max(1, x2 - x1 - 2), 20, 3);
      pen.fill();
      if (this.scale >= DENSE) pen.stroke();
      pen.fillStyle = this.colour.text;
      if (x2 - x1 > 18) pen.fillText(fitting(pen, text, x2 - x1 - 10), x1 + 6, y + 0.5);
    }
  }
}
