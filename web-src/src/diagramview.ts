// The diagram on the screen: canvas, pointer, wheel and keys, the strip of the whole run, the card under the pointer.

import { Context as SvgContext } from "svgcanvas";
import { h } from "./dom";
import { Diagram } from "./diagram";
import { RULER } from "./strokes";
import type { Pen } from "./glyphs";
import type { Run } from "./model";
import type { State } from "./state";
import { describe } from "./words";

type Drag =
  | { what: "pan"; x: number; y: number; left: number; top: number; moved: boolean }
  | { what: "handle"; process: number }
  | { what: "cut" }
  | { what: "overview" };

/** The part of a sheet that the diagram may take, in points of the screen. */
const PAPER = { width: 720, height: 860 };

export class DiagramView {
  readonly element: HTMLElement;
  readonly diagram: Diagram;
  /** How long the last frames took to draw, in milliseconds. */
  readonly frames: number[] = [];
  private readonly canvas = h("canvas", { class: "diagram", tabindex: 0, role: "application" });
  private readonly overview = h("canvas", { class: "overview", "aria-hidden": "true" });
  private readonly card = h("div", { class: "card", hidden: true, role: "tooltip" });
  private drag: Drag | null = null;
  private waiting = false;
  private shape = "";
  private isPlaced = false;

  constructor(readonly run: Run, readonly state: State) {
    this.diagram = new Diagram(run, state);
    this.canvas.dataset.keep = "diagram";
    this.canvas.setAttribute("aria-label",
      "Space-time diagram. Arrow keys choose an event, shift and arrow keys move the cut of the lane, plus and minus scale.");
    this.element = h("section", { class: "view diagram-box" }, this.canvas, this.overview, this.card);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
    state.listen(() => this.change());
  }

  private shapeNow(): string {
    const { state } = this;
    return `${[...state.filter.hidden].join()}/${[...state.variables].join()}/${state.folded}`;
  }

  private change(): void {
    if (this.shape !== this.shapeNow()) {
      const isFolding = this.shape.endsWith("true") !== this.state.folded;
      this.shape = this.shapeNow();
      if (isFolding) {
        this.diagram.refold();
        this.diagram.arrange();
        this.diagram.fit();
      } else this.diagram.arrange();
    }
    this.soon();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight) return;
    const isFirst = this.canvas.width === 300 && this.canvas.height === 150;
    const ratio = devicePixelRatio || 1;
    for (const [canvas, height] of [[this.canvas, clientHeight - 44], [this.overview, 40]] as const) {
      canvas.width = clientWidth * ratio;
      canvas.height = height * ratio;
      canvas.style.width = `${clientWidth}px`;
      canvas.style.height = `${height}px`;
      canvas.getContext("2d")!.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.diagram.width = clientWidth;
    this.diagram.height = clientHeight - 44;
    this.diagram.arrange();
    if (isFirst) {
      this.shape = this.shapeNow();
      this.draw();
      if (!this.isPlaced) this.start();
    }
    this.draw();
  }

  /** Looks at the same place as the view of the page before. */
  follow(before: DiagramView): void {
    this.isPlaced = true;
    if (this.state.folded) this.diagram.refold();
    const { left, scale, top, width, height } = before.diagram;
    Object.assign(this.diagram, { left, scale, top, width, height });
    this.diagram.arrange();
    this.shape = this.shapeNow();
  }

  /** A short run is shown whole; a long one where it matters. */
  private start(): void {
    const { diagram, state } = this;
    if (diagram.layout.columns <= 60) diagram.fit();
    else {
      diagram.scale = 30;
      const order = state.order;
      const event = order && order.moment ? order.events[order.moment - 1] : undefined;
      if (event !== undefined) diagram.reveal(event);
    }
  }

  soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
      if (this.state.flash && this.state.flash.until > performance.now()) this.soon();
      else if (this.state.flash) {
        this.state.flash = null;
        this.soon();
      }
    });
  }

  draw(): void {
    const began = performance.now();
    this.diagram.draw(this.canvas.getContext("2d")!);
    const strip = this.overview.getContext("2d")!;
    this.diagram.drawOverview(strip, this.overview.clientWidth, 40);
    this.frames.push(performance.now() - began);
    if (this.frames.length > 600) this.frames.shift();
  }

  // ---- pointer ----------------------------------------------------------------------------------------

  private listen(): void {
    const { canvas, overview } = this;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => this.hover(null, 0, 0));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    overview.addEventListener("pointerdown", (event) => {
      overview.setPointerCapture(event.pointerId);
      this.drag = { what: "overview" };
      this.jump(event.offsetX);
    });
    overview.addEventListener("pointermove", (event) => this.drag?.what === "overview" && this.jump(event.offsetX));
    overview.addEventListener("pointerup", () => (this.drag = null));
  }

  private jump(x: number): void {
    const { diagram } = this;
    const column = (x / this.overview.clientWidth) * (diagram.layout.columns + 1.4) - 0.7;
    diagram.left = column - (diagram.width - diagram.gutter) / diagram.scale / 2;
    this.soon();
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus();
    const { offsetX: x, offsetY: y } = event;
    const { diagram } = this;
    const process = diagram.handleAt(x, y);
    if (process !== null) {
      this.drag = { what: "handle", process };
      this.state.lane = process;
    } else if (y < RULER && x > diagram.gutter) {
      this.drag = { what: "cut" };
      this.state.moveCut(diagram.cutAt(x));
    } else this.drag = { what: "pan", x, y, left: diagram.left, top: diagram.top, moved: false };
  }

  private move(event: PointerEvent): void {
    const { offsetX: x, offsetY: y } = event;
    const { diagram, state, drag } = this;
    if (!drag) {
      const found = diagram.hit(x, y);
      this.canvas.style.cursor = diagram.handleAt(x, y) !== null ? "ew-resize" : y < RULER ? "col-resize" : found !== null ? "pointer" : "grab";
      this.hover(found, x, y);
    } else if (drag.what === "handle") {
      const wanted = diagram.countAt(drag.process, x);
      const { cut, refusal } = event.shiftKey ? this.pulled(drag.process, wanted) : state.cuts!.moved(state.cut, drag.process, wanted);
      if (refusal !== null || cut.some((count, at) => count !== state.cut[at])) state.moveCut(cut, refusal);
    } else if (drag.what === "cut") {
      state.moveCut(diagram.cutAt(x));
    } else if (drag.what === "pan") {
      drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 3;
      diagram.left = drag.left - (x - drag.x) / diagram.scale;
      diagram.top = drag.top - (y - drag.y);
      this.hover(null, 0, 0);
      this.soon();
    }
  }

  /** With shift a process takes along whatever has to come with it. */
  private pulled(process: number, wanted: number): { cut: number[]; refusal: null } {
    const { cuts, cut } = this.state;
    const found = wanted > cut[process]! ? cuts!.raised(cut, process, wanted) : cuts!.lowered(cut, process, wanted);
    return { cut: found, refusal: null };
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (drag?.what === "pan" && !drag.moved) {
      const found = this.diagram.hit(event.offsetX, event.offsetY);
      this.state.selected = found;
      if (found !== null) this.state.lane = this.run.process[found]!;
      this.state.changed();
    }
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { diagram } = this;
    if (event.shiftKey) diagram.top += event.deltaY || event.deltaX;
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) diagram.left += event.deltaX / diagram.scale;
    else diagram.zoom(Math.exp(-event.deltaY / 400), event.offsetX);
    this.soon();
  }

  private hover(event: number | null, x: number, y: number): void {
    if (event !== this.state.hovered) {
      this.state.hovered = event;
      this.soon();
      if (event !== null) this.card.replaceChildren(...describe(this.run, this.state, event));
      this.card.hidden = event === null;
    }
    if (event === null) return;
    const { clientWidth, clientHeight } = this.element;
    const { offsetWidth, offsetHeight } = this.card;
    this.card.style.left = `${Math.max(4, Math.min(x + 16, clientWidth - offsetWidth - 6))}px`;
    this.card.style.top = `${y + 18 + offsetHeight > clientHeight ? Math.max(4, y - offsetHeight - 14) : y + 18}px`;
  }

  // ---- keys -------------------------------------------------------------------------------------------

  private key(event: KeyboardEvent): void {
    const { diagram, state } = this;
    const page = (diagram.width - diagram.gutter) / diagram.scale;
    const middle = (diagram.width + diagram.gutter) / 2;
    const actions: Record<string, () => void> = {
      ArrowRight: () => (event.shiftKey ? state.advance(state.lane, 1) : this.select(1, 0)),
      ArrowLeft: () => (event.shiftKey ? state.advance(state.lane, -1) : this.select(-1, 0)),
      ArrowDown: () => this.select(0, 1),
      ArrowUp: () => this.select(0, -1),
      "+": () => diagram.zoom(1.3, middle),
      "=": () => diagram.zoom(1.3, middle),
      "-": () => diagram.zoom(1 / 1.3, middle),
      "0": () => diagram.fit(),
      Home: () => (diagram.left = -1),
      End: () => (diagram.left = diagram.layout.columns),
      PageDown: () => (diagram.left += page * 0.8),
      PageUp: () => (diagram.left -= page * 0.8),
      Enter: () => state.selected !== null && this.cutTo(state.selected),
      Escape: () => {
        state.selected = null;
        state.changed();
      },
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
    this.soon();
  }

  /** The least cut with the chosen event. */
  private cutTo(event: number): void {
    const { cuts } = this.state;
    this.state.moveCut(cuts!.raised(cuts!.initial, this.run.process[event]!, this.run.position[event]!));
  }

  private select(along: number, across: number): void {
    const { state, run, diagram } = this;
    const shown = diagram.lanes.filter((lane) => lane.process !== null).map((lane) => lane.process!);
    if (!shown.length) return;
    let event = state.selected;
    if (event === null) {
      const process = shown.includes(state.lane) ? state.lane : shown[0]!;
      event = run.chains[process]![Math.max(0, diagram.from(process, diagram.left))] ?? null;
    } else if (along) {
      event = run.chains[run.process[event]!]![run.position[event]! - 1 + along] ?? event;
    } else {
      const at = shown.indexOf(run.process[event]!) + across;
      const process = shown[Math.max(0, Math.min(shown.length - 1, at))]!;
      const chain = run.chains[process]!;
      if (chain.length) event = chain[Math.min(chain.length - 1, diagram.from(process, diagram.layout.column[event]!))]!;
    }
    if (event === null) return;
    state.selected = event;
    state.lane = run.process[event]!;
    diagram.reveal(event);
    state.changed();
  }

  reveal(event: number): void {
    this.diagram.reveal(event);
    this.soon();
  }

  /** For paper: the canvas is sized now, since nobody waits for an observer. */
  printed(on: boolean): void {
    this.element.style.width = on ? `${PAPER.width}px` : "";
    this.element.style.height = on ? `${PAPER.height}px` : "";
    this.resize();
    if (!on) return;
    this.element.style.height = `${Math.min(PAPER.height, this.diagram.contentHeight + 56)}px`;
    this.resize();
  }

  // ---- files ------------------------------------------------------------------------------------------

  exportedSvg(): string {
    const { diagram } = this;
    const height = Math.min(diagram.height, diagram.contentHeight + 12);
    const pen = new SvgContext({ width: diagram.width, height });
    diagram.draw(pen as unknown as Pen);
    this.soon();
    return pen.getSerializedSvg(true);
  }

  exportedPng(): Promise<Blob | null> {
    return new Promise((done) => this.canvas.toBlob(done, "image/png"));
  }
}
