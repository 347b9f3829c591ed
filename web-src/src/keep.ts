// What a person did to the page outlives its redrawing: typed texts, choices, focus, scrolling. An element that is to be
// known again carries `data-keep`, a name that is the same in the next page. Nothing is redrawn while a button is
// pressed or a letter is being composed: what is pressed must still be there when it is let go.

export interface Kept {
  values: Map<string, string>;
  opened: Map<string, boolean>;
  scrolls: Map<string, [number, number]>;
  focus: { key: string; from: number | null; to: number | null } | null;
}

type Field = HTMLInputElement | HTMLSelectElement;

function named(roots: Element[]): HTMLElement[] {
  return roots.flatMap((root) => [root, ...root.querySelectorAll("*")])
    .filter((each) => each instanceof HTMLElement || each instanceof SVGElement)
    .filter((each) => (each as HTMLElement).dataset.keep !== undefined) as HTMLElement[];
}

const isText = (element: Element): element is HTMLInputElement =>
  element instanceof HTMLInputElement && ["text", "search"].includes(element.type);

/** A choice is known by its words: the next page may have others before it. */
const valueOf = (field: Field) => (field instanceof HTMLSelectElement ? (field.selectedOptions[0]?.text ?? "") : field.value);

export function kept(roots: Element[]): Kept {
  const found: Kept = { values: new Map(), opened: new Map(), scrolls: new Map(), focus: null };
  for (const element of named(roots)) {
    const key = element.dataset.keep!;
    if (isText(element) || element instanceof HTMLSelectElement) found.values.set(key, valueOf(element));
    if (element instanceof HTMLDetailsElement) found.opened.set(key, element.open);
    if (element.scrollTop || element.scrollLeft) found.scrolls.set(key, [element.scrollLeft, element.scrollTop]);
    if (element === document.activeElement) {
      const [from, to] = isText(element) ? [element.selectionStart, element.selectionEnd] : [null, null];
      found.focus = { key, from, to };
    }
  }
  return found;
}

/** Gives the elements back what they had; a choice that is no longer there stays as it is. */
export function restore(roots: Element[], found: Kept): void {
  for (const element of named(roots)) {
    const key = element.dataset.keep!;
    const value = found.values.get(key);
    if (value !== undefined && isText(element)) element.value = value;
    if (value !== undefined && element instanceof HTMLSelectElement) choose(element, value);
    const opened = found.opened.get(key);
    if (opened !== undefined && element instanceof HTMLDetailsElement) element.open = opened;
  }
}

function choose(select: HTMLSelectElement, text: string): void {
  const option = [...select.options].find((each) => each.text === text);
  if (!option || option.selected) return;
  select.value = option.value;
  select.dispatchEvent(new Event("change"));
}

/** Focus and scrolling, for elements that are in the document. */
export function restorePlace(roots: Element[], found: Kept): void {
  for (const element of named(roots)) {
    const key = element.dataset.keep!;
    const scroll = found.scrolls.get(key);
    if (scroll) [element.scrollLeft, element.scrollTop] = scroll;
    if (found.focus?.key !== key || !element.isConnected) continue;
    element.focus({ preventScroll: true });
    if (isText(element) && found.focus.from !== null) element.setSelectionRange(found.focus.from, found.focus.to);
  }
}

// ---- when nothing is pressed --------------------------------------------------------------------------

let isPressed = false;
let target: EventTarget | null = null;
let waiting: (() => void)[] = [];

function press(on: boolean, what: EventTarget | null = null): void {
  isPressed = on;
  target = what;
  // The click comes after the release, and it is still for what is there now.
  if (!on && waiting.length) setTimeout(run, 0);
}

function run(): void {
  if (isPressed) return;
  const actions = waiting;
  waiting = [];
  for (const action of actions) action();
}

export function whenReleased(action: () => void): void {
  waiting.push(action);
  if (!isPressed) run();
}

/** Whether something in there is pressed: then it is drawn again when it is let go. */
export function isPressedIn(element: Element): boolean {
  return isPressed && target instanceof Element && element.contains(target);
}

const onKey = (event: KeyboardEvent) => event.key === " " && event.target instanceof HTMLButtonElement;
document.addEventListener("pointerdown", (event) => press(true, event.target), true);
document.addEventListener("pointermove", (event) => isPressed && event.buttons === 0 && event.pointerType === "mouse" && press(false), true);
document.addEventListener("compositionstart", () => press(true), true);
document.addEventListener("keydown", (event) => onKey(event) && press(true, event.target), true);
for (const name of ["pointerup", "pointercancel", "compositionend"]) document.addEventListener(name, () => press(false), true);
document.addEventListener("keyup", (event) => event.key === " " && press(false), true);
addEventListener("blur", () => press(false));
