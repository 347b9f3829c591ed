// Cuts: one number a process. What may be executed next, what refuses a move, and the variables at a cut.
// The law: a cut contains whatever happened before one of its events; a joint event is in it whole or not.

import { JOINT, type Run } from "./model";

export type Cut = number[];

export interface Refusal {
  edge: number;
  text: string;
}

/** A variable with its values along the events that assign it. */
export interface Timeline {
  owner: number | null;
  name: string;
  initial: string | null;
  events: number[];
  values: number[];
}

export class Cuts {
  readonly initial: Cut;
  readonly final: Cut;
  readonly timelines: Timeline[];

  constructor(readonly run: Run) {
    this.initial = run.processes.map(() => 0);
    this.final = run.chains.map((chain) => chain.length);
    this.timelines = timelinesOf(run);
  }

  contains(cut: Cut, event: number): boolean {
    return cut[this.run.process[event]!]! >= this.run.position[event]!;
  }

  next(cut: Cut, process: number): number | null {
    return this.run.chains[process]![cut[process]!] ?? null;
  }

  previous(cut: Cut, process: number): number | null {
    return cut[process] ? this.run.chains[process]![cut[process]! - 1]! : null;
  }

  /** The cut with the next event of the process, or why there is none. */
  advance(cut: Cut, process: number): Cut | Refusal | null {
    const event = this.next(cut, process);
    if (event === null) return null;
    const { run } = this;
    const lines = run.lines(event);
    for (const line of lines) {
      for (let index = run.inStart[line]!; index < run.inStart[line + 1]!; index++) {
        const edge = run.incoming[index]!;
        const before = run.edgeFrom[edge]!;
        if (lines.includes(before) || this.contains(cut, before)) continue;
        return { edge, text: this.needs(line, before) };
      }
      if (run.position[line]! !== cut[run.process[line]!]! + 1) {
        const edge = this.jointEdge(event, line);
        const waiting = run.processes[run.process[line]!]!.name;
        return { edge, text: `${run.name(event)} happens together with ${run.name(line)}, and ${waiting} is not there yet.` };
      }
    }
    const after = cut.slice();
    for (const line of lines) after[run.process[line]!]!++;
    return after;
  }

  /** The cut without the last event of the process, or why it has to stay. */
  retreat(cut: Cut, process: number): Cut | Refusal | null {
    const event = this.previous(cut, process);
    if (event === null) return null;
    const { run } = this;
    const lines = run.lines(event);
    for (const line of lines) {
      for (let index = run.outStart[line]!; index < run.outStart[line + 1]!; index++) {
        const edge = run.outgoing[index]!;
        const later = run.edgeTo[edge]!;
        if (lines.includes(later) || !this.contains(cut, later)) continue;
        return { edge, text: this.needs(later, line) };
      }
      if (run.position[line]! !== cut[run.process[line]!]!) {
        const edge = this.jointEdge(event, line);
        const ahead = run.processes[run.process[line]!]!.name;
        return { edge, text: `${run.name(event)} happens together with ${run.name(line)}, and ${ahead} has gone on after it.` };
      }
    }
    const before = cut.slice();
    for (const line of lines) before[run.process[line]!]!--;
    return before;
  }

  private jointEdge(first: number, second: number): number {
    const { run } = this;
    for (let index = run.inStart[second]!; index < run.inStart[second + 1]!; index++) {
      const edge = run.incoming[index]!;
      if (run.edgeKind[edge] === JOINT && run.edgeFrom[edge] === first) return edge;
    }
    return -1;
  }

  private needs(later: number, before: number): string {
    const { run } = this;
    const message = run.text("message", later);
    const isMessage = message !== null && message === run.text("message", before);
    const why = isMessage ? `receives ${message}, which ${run.name(before)} sends` : `happens after ${run.name(before)}`;
    return `${run.name(later)} ${why}: a cut with ${run.name(later)} contains ${run.name(before)}.`;
  }

  /** As near to that count of the process as single steps of it lead, and what stopped them. */
  moved(cut: Cut, process: number, count: number): { cut: Cut; refusal: Refusal | null } {
    let here = cut;
    while (here[process] !== count) {
      const step = here[process]! < count ? this.advance(here, process) : this.retreat(here, process);
      if (step === null) break;
      if (!Array.isArray(step)) return { cut: here, refusal: step };
      here = step;
    }
    return { cut: here, refusal: null };
  }

  /** The least cut that contains this one and so many events of the process. */
  raised(cut: Cut, process: number, count: number): Cut {
    const { run } = this;
    const found = cut.slice();
    const todo: [number, number][] = [[process, Math.min(count, run.chains[process]!.length)]];
    while (todo.length) {
      const [here, wanted] = todo.pop()!;
      const chain = run.chains[here]!;
      const done = found[here]!;
      found[here] = Math.max(done, wanted);
      for (let at = done; at < wanted; at++) {
        const event = chain[at]!;
        for (let index = run.inStart[event]!; index < run.inStart[event + 1]!; index++) {
          const before = run.edgeFrom[run.incoming[index]!]!;
          if (!this.contains(found, before)) todo.push([run.process[before]!, run.position[before]!]);
        }
      }
    }
    return found;
  }

  /** The greatest cut inside this one with at most so many events of the process. */
  lowered(cut: Cut, process: number, count: number): Cut {
    const { run } = this;
    const found = cut.slice();
    const todo: [number, number][] = [[process, Math.max(count, 0)]];
    while (todo.length) {
      const [here, wanted] = todo.pop()!;
      const chain = run.chains[here]!;
      const had = found[here]!;
      found[here] = Math.min(had, wanted);
      for (let at = found[here]!; at < had; at++) {
        const event = chain[at]!;
        for (let index = run.outStart[event]!; index < run.outStart[event + 1]!; index++) {
          const later = run.edgeTo[run.outgoing[index]!]!;
          if (this.contains(found, later)) todo.push([run.process[later]!, run.position[later]! - 1]);
        }
      }
    }
    return found;
  }

  isConsistent(cut: Cut): boolean {
    return this.closure(cut).every((count, process) => count === cut[process]);
  }

  closure(cut: Cut): Cut {
    return cut.reduce((found, count, process) => this.raised(found, process, count), this.initial);
  }

  happenedBefore(first: number, second: number): boolean {
    if (first === second || this.run.lines(first).includes(second)) return false;
    const past = this.raised(this.initial, this.run.process[second]!, this.run.position[second]!);
    return this.contains(past, first);
  }

  /** How many of the assignments a cut contains, where they are totally ordered. */
  private prefix(line: Timeline, cut: Cut): number {
    let low = 0;
    let high = line.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.contains(cut, line.events[middle]!)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The values of a variable at a cut: one, none, or several where the last writes are not ordered. */
  valuesAt(line: Timeline, cut: Cut): string[] {
    if (line.owner !== null || this.run.source.order === "causal") {
      const count = this.prefix(line, cut);
      if (count) return [this.run.values[line.values[count - 1]!]!];
      return line.initial === null ? [] : [line.initial];
    }
    const latest = new Map<number, number>();
    for (let index = line.events.length - 1; index >= 0; index--) {
      const event = line.events[index]!;
      const process = this.run.process[event]!;
      if (!latest.has(process) && this.contains(cut, event)) {
        latest.set(process, index);
      }
    }
    if (!latest.size) return line.initial === null ? [] : [line.initial];
    const last = [...latest.values()];
    const free = last.filter(
      (one) => !last.some((other) => this.happenedBefore(line.events[one]!, line.events[other]!)),
    );
    return [...new Set(free.map((index) => this.run.values[line.values[index]!]!))];
  }
}

function timelinesOf(run: Run): Timeline[] {
  const found = new Map<string, Timeline>();
  const line = (owner: number | null, name: string, initial: string | null): Timeline => {
    const key = `${owner ?? ""}/${name}`;
    let known = found.get(key);
    if (!known) {
      known = { owner, name, initial, events: [], values: [] };
      found.set(key, known);
    }
    return known;
  };
  run.source.shared.forEach(([name, value]) => line(null, name, value));
  run.processes.forEach((process, owner) => process.init.forEach(([name, value]) => line(owner, name, value)));
  for (const what of ["set", "write"] as const) {
    const start = run.column(`${what}_start`);
    if (!start.length) continue;
    const variable = run.column(`${what}_variable`);
    const value = run.column(`${what}_value`);
    for (let event = 0; event < run.count; event++) {
      for (let entry = start[event]!; entry < start[event + 1]!; entry++) {
        const owner = what === "set" ? run.process[event]! : null;
        const timeline = line(owner, run.strings[variable[entry]!]!, null);
        timeline.events.push(event);
        timeline.values.push(value[entry]!);
      }
    }
  }
  return [...found.values()];
}
