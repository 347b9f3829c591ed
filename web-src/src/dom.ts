// Elements made from parts. A part is text or an element: no text is ever parsed as markup.

import { isPressedIn, whenReleased } from "./keep";

export type Part = string | Node | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

function filled<E extends Element>(element: E, attributes: Attributes, parts: Part[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const part of parts) if (part !== null && part !== undefined && part !== false) element.append(part);
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...parts: Part[]): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, parts);
}

export function s(tag: string, attributes: Attributes = {}, ...parts: Part[]): SVGElement {
  return filled(document.createElementNS(SVG, tag) as SVGElement, attributes, parts);
}

export function button(label: string, title: string, action: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", title, "aria-label": title, "data-keep": title, click: action, ...attributes }, label);
}

/** Rows of one height, of which only those in sight exist. */
export class LongList {
  readonly element: HTMLElement;
  private readonly space: HTMLElement;
  private count = 0;
  private row: (index: number) => HTMLElement = () => h("div");
  private readonly height = 26;

  constructor(label: string, keep = label) {
    this.space = h("div", { class: "long-space" });
    this.element = h("div", { class: "long", role: "list", tabindex: 0, "aria-label": label, "data-keep": keep, scroll: () => this.draw() }, this.space);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(count: number, row: (index: number) => HTMLElement): void {
    this.count = count;
    this.row = row;
    this.space.style.height = `${count * this.height}px`;
    this.draw();
  }

  draw(): void {
    if (isPressedIn(this.space)) return whenReleased(() => this.draw());
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.height) - 4);
    const last = Math.min(this.count, first + Math.ceil((this.element.clientHeight || 300) / this.height) + 8);
    const rows: HTMLElement[] = [];
    for (let index = first; index < last; index++) {
      const row = this.row(index);
      row.style.top = `${index * this.height}px`;
      row.setAttribute("role", "listitem");
      rows.push(row);
    }
    this.space.replaceChildren(...rows);
  }

  reveal(index: number): void {
    const top = index * this.height;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + this.height > scrollTop + clientHeight) {
      this.element.scrollTop = Math.max(0, top - clientHeight / 2);
    }
    this.draw();
  }
}

export function saved(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
