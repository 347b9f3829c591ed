// What is said about an event, as elements whose texts come from the run.

import { h } from "./dom";
import type { Run } from "./model";
import type { State } from "./state";

const MOST = 12;

export function describe(run: Run, state: State, event: number): HTMLElement[] {
  const facts: [string, string][] = [];
  const add = (name: string, text: string | null) => text !== null && text !== "" && facts.push([name, text]);
  add("process", run.processes[run.process[event]!]!.name);
  add("label", run.text("label", event));
  add("function", run.text("function", event));
  add("message", run.text("message", event));
  add("type", run.text("tag", event));
  add("place", run.text("place", event));
  for (const [name, value] of changes(run, state, event)) add(name, value);
  const reads = [...run.entries("read", event)].map(([name]) => run.strings[name]!);
  add("reads", reads.join(", "));
  add("after", neighbours(run, run.inStart, run.incoming, run.edgeFrom, event));
  add("before", neighbours(run, run.outStart, run.outgoing, run.edgeTo, event));
  const source = run.sourceLine(event);
  const rows = facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]);
  const head = h("p", { class: "card-head" }, h("strong", {}, run.name(event)), ` ${run.kindOf(event)}`);
  return [head, ...(source === null ? [] : [h("pre", { class: "source" }, source)]), h("dl", { class: "facts" }, ...rows)];
}

/** The variables that an event assigns, with the values before and after. */
export function changes(run: Run, state: State, event: number): [string, string][] {
  const found: [string, string][] = [];
  const before = state.cuts!.raised(state.cuts!.initial, run.process[event]!, run.position[event]! - 1);
  for (const what of ["set", "write"] as const) {
    for (const [number, value] of run.entries(what, event)) {
      const name = run.strings[number]!;
      const owner = what === "set" ? run.process[event]! : null;
      const line = state.cuts!.timelines.find((each) => each.owner === owner && each.name === name);
      const index = line ? line.events.indexOf(event) : -1;
      const old = owner === null ? null : index > 0 ? run.values[line!.values[index - 1]!]! : (line?.initial ?? null);
      const shared = owner === null && line ? state.cuts!.valuesAt(line, before).join(" or ") : null;
      const was = owner === null ? shared : old;
      found.push([name, was === null || was === "" ? run.values[value]! : `${was} → ${run.values[value]!}`]);
    }
  }
  return found;
}

function neighbours(run: Run, start: Int32Array, edges: Int32Array, ends: Int32Array, event: number): string {
  const found: string[] = [];
  for (let index = start[event]!; index < start[event + 1]! && found.length <= MOST; index++) found.push(run.name(ends[edges[index]!]!));
  return found.length > MOST ? `${found.slice(0, MOST).join(", ")} …` : found.join(", ");
}
