// The document that a page carries, decoded: a run as columns, the answers, and other pictures.
// Names and values are texts to show; nothing in here is ever treated as markup.

export const MESSAGE = 0;
export const ORDER = 1;
export const JOINT = 2;

export type Ints = Int32Array;

type Packed = number[] | { code: string; data: string };

export interface ProcessModel {
  name: string;
  init: [string, string][];
  declared: boolean;
}

interface TraceDocument {
  file: string;
  order: string;
  events: number;
  processes: ProcessModel[];
  shared: [string, string][];
  strings: string[];
  values: string[];
  columns: Record<string, Packed>;
  sources: Record<string, string>;
}

export interface AtomModel {
  text: string;
  value: boolean;
  operands: [string, string][];
}

export interface PropertyModel {
  name: string;
  language: string;
  formula: string;
  truth: "holds" | "violated" | "unknown" | "matched" | "absent";
  facts: string[];
  summary: string | null;
  path: Ints | null;
  cut: number[] | null;
  moment: number | null;
  missing: { first: number; second: number; text: string } | null;
  atoms: AtomModel[];
  state: [string, string][];
  matches: number[][];
  notes: string[];
  commands: [string, string][];
}

export interface MarkModel {
  property: number | null;
  text: string;
  satisfying: number[];
  slice: number[];
}

export interface LatticeModel {
  cuts: number[][];
  edges: [number, number, number][];
  marks: MarkModel[];
}

export interface SliceModel {
  property: number | null;
  text: string;
  numbers: [string, string][];
  nodes: { id: number; events: number[]; size: number; kind: "component" | "run" | "bottom" | "top" }[];
  edges: [number, number, boolean][];
  whole: boolean;
}

export interface TreeNodeModel {
  id: string;
  parent: string | null;
  branch: string;
  text: string;
  verdicts: string[];
  state?: string;
  stopped?: boolean;
  facts: [string, string][];
  actions?: ActionModel[];
  /** Of a leaf: holds, fails or open. */
  outcome?: string;
}

export interface ActionModel {
  name: string;
  label: string;
  asks?: string;
  arguments?: Record<string, string>;
}

export interface TreeModel {
  title: string;
  claims: string[];
  nodes: TreeNodeModel[];
  current: string | null;
  notes: string[];
  actions: ActionModel[];
}

export interface StackModel {
  title: string;
  steps: { title: string; text: string; states: string[]; facts: [string, string][] }[];
  state: [string, string][];
  notes: string[];
  actions: ActionModel[];
}

export interface GraphModel {
  title: string;
  direction: "TB" | "LR";
  nodes: { id: string; lines: string[]; kind: string; marked: boolean }[];
  edges: { from: string; to: string; kind: string; label: string }[];
}

export interface PictureDocument {
  format: string;
  version: number;
  title: string;
  subtitle: string;
  warnings: string[];
  trace: TraceDocument | null;
  properties: (Omit<PropertyModel, "path"> & { path: Packed | null })[];
  lattice: LatticeModel | null;
  slices: SliceModel[];
  trees: TreeModel[];
  stacks: StackModel[];
  graphs: GraphModel[];
  live: { token: string } | null;
  /** Where to put the cut, if something behind the page stands there. */
  cut: number[] | null;
}

const NOTHING = new Int32Array(0);

/** A function called and left again: from its enter event to its exit event, or to the end. */
export interface Bar {
  process: number;
  first: number;
  last: number;
  depth: number;
  name: number;
}

/** The run in columns; events are numbered in the order of the lines. */
export class Run {
  readonly count: number;
  readonly processes: ProcessModel[];
  readonly strings: string[];
  readonly values: string[];
  readonly process: Ints;
  readonly kind: Ints;
  /** For each event: it is the position-th of its process, from 1. */
  readonly position: Ints;
  /** For each process its events in their order. */
  readonly chains: Ints[];
  readonly edgeFrom: Ints;
  readonly edgeTo: Ints;
  readonly edgeKind: Ints;
  /** For each event the range of its edges in `incoming`, which holds edge numbers; likewise outgoing. */
  readonly inStart: Ints;
  readonly incoming: Ints;
  readonly outStart: Ints;
  readonly outgoing: Ints;
  /** The observed order: each step by its earliest line. */
  readonly steps: Ints;
  /** For an event of a joint event all its lines. */
  readonly joint = new Map<number, number[]>();
  private readonly byName = new Map<string, number>();

  constructor(readonly source: TraceDocument) {
    this.count = source.events;
    this.processes = source.processes;
    this.strings = source.strings;
    this.values = source.values;
    this.process = this.column("process");
    this.kind = this.column("kind");
    this.edgeFrom = this.column("edge_from");
    this.edgeTo = this.column("edge_to");
    this.edgeKind = this.column("edge_kind");
    this.position = new Int32Array(this.count);
    this.chains = this.makeChains();
    [this.inStart, this.incoming] = this.index(this.edgeTo);
    [this.outStart, this.outgoing] = this.index(this.edgeFrom);
    this.findJoint();
    const steps = this.column("steps");
    this.steps = steps.length ? steps : Int32Array.from({ length: this.count }, (_, event) => event);
    const names = this.column("identifier");
    names.forEach((name, event) => name >= 0 && this.byName.set(this.strings[name]!, event));
  }

  private readonly decoded = new Map<string, Ints>();

  column(name: string): Ints {
    let found = this.decoded.get(name);
    if (!found) {
      const packed = this.source.columns[name];
      found = packed === undefined ? NOTHING : unpacked(packed);
      this.decoded.set(name, found);
    }
    return found;
  }

  private makeChains(): Ints[] {
    const lengths = new Int32Array(this.processes.length);
    for (const process of this.process) lengths[process]!++;
    const chains = [...lengths].map((length) => new Int32Array(length));
    lengths.fill(0);
    for (let event = 0; event < this.count; event++) {
      const process = this.process[event]!;
      chains[process]![lengths[process]!++] = event;
      this.position[event] = lengths[process]!;
    }
    return chains;
  }

  private index(ends: Ints): [Ints, Ints] {
    const start = new Int32Array(this.count + 1);
    for (const end of ends) start[end + 1]!++;
    for (let event = 0; event < this.count; event++) start[event + 1]! += start[event]!;
    const next = start.slice();
    const edges = new Int32Array(ends.length);
    for (let edge = 0; edge < ends.length; edge++) edges[next[ends[edge]!]!++] = edge;
    return [start, edges];
  }

  private findJoint(): void {
    // The lines of a joint event have edges to each other, so the neighbours of a line are the others.
    for (let edge = 0; edge < this.edgeKind.length; edge++) {
      if (this.edgeKind[edge] !== JOINT) continue;
      const to = this.edgeTo[edge]!;
      const lines = this.joint.get(to) ?? [to];
      lines.push(this.edgeFrom[edge]!);
      this.joint.set(to, lines);
    }
    for (const lines of this.joint.values()) lines.sort((a, b) => a - b);
  }

  name(event: number): string {
    const names = this.column("identifier");
    if (names.length && names[event]! >= 0) return this.strings[names[event]!]!;
    return `${this.processes[this.process[event]!]!.name}:${this.position[event]!}`;
  }

  /** The name where its process is said already: `#3` for the third event of a process. */
  shortName(event: number): string {
    const name = this.name(event);
    return name === `${this.processes[this.process[event]!]!.name}:${this.position[event]!}` ? `#${this.position[event]!}` : name;
  }

  find(name: string): number | null {
    const found = this.byName.get(name);
    if (found !== undefined) return found;
    const colon = name.lastIndexOf(":");
    const process = this.processes.findIndex((each) => each.name === name.slice(0, colon));
    const position = Number(name.slice(colon + 1));
    const event = process < 0 ? undefined : this.chains[process]![position - 1];
    return event !== undefined && this.name(event) === name ? event : null;
  }

  text(column: string, event: number): string | null {
    const numbers = this.column(column);
    return numbers.length && numbers[event]! >= 0 ? this.strings[numbers[event]!]! : null;
  }

  kindOf(event: number): string {
    return this.strings[this.kind[event]!]!;
  }

  *entries(what: "set" | "write" | "read", event: number): Generator<[number, number]> {
    const start = this.column(`${what}_start`);
    if (!start.length) return;
    const variable = this.column(`${what}_variable`);
    const value = this.column(`${what}_value`);
    for (let entry = start[event]!; entry < start[event + 1]!; entry++) {
      yield [variable[entry]!, what === "read" ? -1 : value[entry]!];
    }
  }

  lines(event: number): number[] {
    return this.joint.get(event) ?? [event];
  }

  sourceLine(event: number): string | null {
    const place = this.text("place", event);
    return place === null ? null : (this.source.sources[place] ?? null);
  }

  /** What an event does, in words. */
  action(event: number): string {
    const label = this.text("label", event);
    const parts = [this.kindOf(event), this.text("function", event), this.text("message", event)];
    return [...parts, label === null ? null : `[${label}]`].filter((part) => part !== null).join(" ");
  }

  bars(): Bar[] {
    const enter = this.strings.indexOf("enter");
    const exit = this.strings.indexOf("exit");
    const names = this.column("function");
    if (!names.length || enter < 0) return [];
    const found: Bar[] = [];
    this.chains.forEach((chain, process) => {
      const open: Bar[] = [];
      for (const event of chain) {
        if (this.kind[event] === enter && names[event]! >= 0) {
          open.push({ process, first: event, last: -1, depth: open.length, name: names[event]! });
        } else if (this.kind[event] === exit && open.length) {
          const bar = open.pop()!;
          bar.last = event;
          found.push(bar);
        }
      }
      found.push(...open);
    });
    return found;
  }
}

function bytesOf(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

export function unpacked(packed: Packed): Ints {
  if (Array.isArray(packed)) return Int32Array.from(packed);
  const buffer = bytesOf(packed.data).buffer as ArrayBuffer;
  switch (packed.code) {
    case "b":
      return Int32Array.from(new Int8Array(buffer));
    case "h":
      return Int32Array.from(new Int16Array(buffer));
    default:
      return new Int32Array(buffer);
  }
}

/** The document of the page; a long one is stored compressed. */
export async function readDocument(text: string): Promise<PictureDocument> {
  const found = JSON.parse(text) as PictureDocument | { deflate: string };
  if (!("deflate" in found)) return found;
  const stream = new Blob([bytesOf(found.deflate) as BlobPart]).stream();
  const inflated = stream.pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(inflated).text()) as PictureDocument;
}

export function propertiesOf(source: PictureDocument): PropertyModel[] {
  return source.properties.map((each) => ({ ...each, path: each.path === null ? null : unpacked(each.path) }));
}
