// Colours, from the style sheet, so that light, dark and print have one source.

export interface Colours {
  text: string;
  paper: string;
  soft: string;
  faint: string;
  line: string;
  accent: string;
  good: string;
  bad: string;
  open: string;
  past: string;
  bar: string;
  mark: string;
}

const NAMES: (keyof Colours)[] = [
  "text", "paper", "soft", "faint", "line", "accent", "good", "bad", "open", "past", "bar", "mark",
];

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as unknown as Colours;
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function toggleTheme(): void {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
}
