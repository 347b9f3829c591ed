// Small things that the parts of the diagram share: measures, strokes, texts that fit.

import type { Timeline } from "./cut";
import type { Pen } from "./glyphs";
import type { Ints, Run } from "./model";

export const RULER = 26;
export const LANE = 72;
export const BAR = 6;
/** Below this scale the density is drawn, below the second one dots. */
export const DENSE = 3;
export const SMALL = 7;
export const FONT = "system-ui, sans-serif";
export const MONO = "ui-monospace, 'DejaVu Sans Mono', monospace";

export function variableName(run: Run, timeline: Timeline): string {
  return timeline.owner === null ? timeline.name : `${run.processes[timeline.owner]!.name}.${timeline.name}`;
}

export function elided(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

export function fitting(pen: Pen, text: string, width: number): string {
  if (width < 12) return "";
  const short = text.length > 80 ? text.slice(0, 80) : text;
  if (short === text && pen.measureText(text).width <= width) return text;
  let length = Math.min(short.length, Math.floor(width / 5));
  while (length > 0 && pen.measureText(`${short.slice(0, length)}…`).width > width) length--;
  return length ? `${short.slice(0, length)}…` : "";
}

export function line(pen: Pen, x1: number, y1: number, x2: number, y2: number): void {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

export function head(pen: Pen, x1: number, y1: number, x2: number, y2: number): void {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  pen.beginPath();
  pen.moveTo(x2, y2);
  pen.lineTo(x2 - 8 * Math.cos(angle - 0.4), y2 - 8 * Math.sin(angle - 0.4));
  pen.lineTo(x2 - 8 * Math.cos(angle + 0.4), y2 - 8 * Math.sin(angle + 0.4));
  pen.closePath();
  pen.fill();
}

export function lowerBound(numbers: Ints, value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function niceStep(least: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(least, 1))));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least) ?? 10 * power;
}
