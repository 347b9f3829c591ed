// What the parts of the page share: the cut, what is selected, what is looked for. Whoever changes it says so.

import type { Cut, Cuts, Refusal } from "./cut";
import type { PictureDocument, PropertyModel, Run } from "./model";

export interface Filter {
  hidden: Set<number>;
  kinds: Set<number>;
  variable: string | null;
}

/** An order of events to step through: the observed one, or the way of a witness. */
export interface Order {
  title: string;
  events: ArrayLike<number>;
  /** After how many events the property is decided. */
  moment: number | null;
}

export interface Flash {
  edge: number;
  text: string;
  until: number;
}

export class State {
  cut: Cut = [];
  property: number | null = null;
  selected: number | null = null;
  hovered: number | null = null;
  hits: number[] = [];
  hit = -1;
  filter: Filter = { hidden: new Set(), kinds: new Set(), variable: null };
  variables = new Set<string>();
  folded = false;
  flash: Flash | null = null;
  order: Order | null = null;
  /** How many events of the order are executed; null: the cut was moved by hand. */
  step: number | null = null;
  lane = 0;
  /** Over when the page is replaced by the next. */
  readonly gone = new AbortController();
  private readonly listeners: (() => void)[] = [];

  constructor(
    readonly source: PictureDocument,
    readonly run: Run | null,
    readonly cuts: Cuts | null,
    readonly properties: PropertyModel[],
  ) {
    if (cuts) this.cut = cuts.initial;
  }

  /** Takes over what a person chose in the page before: all but the property. */
  follow(before: State): void {
    const { cut, selected, hits, hit, filter, variables, folded, lane } = before;
    Object.assign(this, { cut, selected, hits, hit, filter, variables, folded, lane });
  }

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }

  chosen(): PropertyModel | null {
    return this.property === null ? null : (this.properties[this.property] ?? null);
  }

  moveCut(cut: Cut, refusal: Refusal | null = null): void {
    if (cut.some((count, process) => count !== this.cut[process])) this.step = null;
    this.cut = cut;
    this.flash = refusal === null ? null : { ...refusal, until: performance.now() + 1600 };
    this.changed();
  }

  /** One event of a process forward (or back), if nothing forbids it. */
  advance(process: number, by: 1 | -1): void {
    const { cuts } = this;
    if (!cuts) return;
    const next = by > 0 ? cuts.advance(this.cut, process) : cuts.retreat(this.cut, process);
    if (next === null) return;
    if (Array.isArray(next)) this.moveCut(next);
    else this.moveCut(this.cut, next);
  }

  /** The cut after so many events of the order. */
  goto(step: number): void {
    const { order, run, cuts } = this;
    if (!order || !run || !cuts) return;
    const last = Math.max(0, Math.min(step, order.events.length));
    const cut = cuts.initial.slice();
    for (let index = 0; index < last; index++) cut[run.process[order.events[index]!]!]!++;
    this.cut = cut;
    this.step = last;
    this.flash = null;
    this.changed();
  }

  /** Lines of one joint event are executed together: an order is stepped over all of them at once. */
  stepBy(by: 1 | -1): void {
    const { order, run } = this;
    if (!order || !run) return;
    let step = this.step ?? (by > 0 ? 0 : order.events.length);
    do step += by;
    while (step > 0 && step < order.events.length && this.isWithin(step));
    this.goto(step);
  }

  private isWithin(step: number): boolean {
    const { order, run } = this;
    const lines = run!.lines(order!.events[step - 1]!);
    return lines.length > 1 && lines.includes(order!.events[step]!);
  }

  matches(event: number): boolean {
    const { kinds, variable } = this.filter;
    const run = this.run!;
    if (kinds.has(run.kind[event]!)) return false;
    if (variable === null) return true;
    for (const what of ["set", "write", "read"] as const) {
      for (const [number] of run.entries(what, event)) {
        const name = run.strings[number]!;
        if (name === variable || `${run.processes[run.process[event]!]!.name}.${name}` === variable) return true;
      }
    }
    return false;
  }
}
