// Finding events by any text they carry. Tables are searched first, so a million events cost one pass over numbers.

import type { Run } from "./model";

const MOST = 100000;

export function found(run: Run, text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const strings = matching(run.strings, wanted);
  const values = matching(run.values, wanted);
  const processes = run.processes.map((process) => process.name.toLowerCase().includes(wanted));
  const columns = ["kind", "identifier", "label", "function", "place", "message", "tag"].map((name) => run.column(name)).filter((column) => column.length);
  const hits: number[] = [];
  const byName = wanted.includes(":");
  for (let event = 0; event < run.count && hits.length < MOST; event++) {
    const isHit =
      columns.some((column) => column[event]! >= 0 && strings[column[event]!]) ||
      (byName ? run.name(event).toLowerCase().includes(wanted) : processes[run.process[event]!]) ||
      touches(run, event, strings, values);
    if (isHit) hits.push(event);
  }
  return hits;
}

function matching(texts: string[], wanted: string): Uint8Array {
  return Uint8Array.from(texts, (text) => (text.toLowerCase().includes(wanted) ? 1 : 0));
}

function touches(run: Run, event: number, strings: Uint8Array, values: Uint8Array): boolean {
  for (const what of ["set", "write", "read"] as const) {
    const start = run.column(`${what}_start`);
    if (!start.length || start[event] === start[event + 1]) continue;
    for (const [name, value] of run.entries(what, event)) if (strings[name] || (value >= 0 && values[value])) return true;
  }
  return false;
}
