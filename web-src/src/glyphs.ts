// The form of an event tells its kind, so that the picture can be read without colour.

export type Pen = CanvasRenderingContext2D;

type Form = "circle" | "right" | "left" | "diamond" | "square" | "half-right" | "half-left" | "hexagon";

interface Glyph {
  form: Form;
  filled: boolean;
}

export const GLYPHS: Record<string, Glyph> = {
  internal: { form: "circle", filled: false },
  send: { form: "right", filled: true },
  receive: { form: "left", filled: false },
  write: { form: "diamond", filled: true },
  read: { form: "diamond", filled: false },
  acquire: { form: "square", filled: true },
  release: { form: "square", filled: false },
  enter: { form: "half-right", filled: true },
  exit: { form: "half-left", filled: true },
  spawn: { form: "hexagon", filled: true },
  start: { form: "hexagon", filled: false },
  join: { form: "hexagon", filled: true },
  end: { form: "hexagon", filled: false },
};

const PLAIN: Glyph = { form: "circle", filled: false };

export function glyphOf(kind: string): Glyph {
  return GLYPHS[kind] ?? PLAIN;
}

export function outline(pen: Pen, form: Form, x: number, y: number, r: number): void {
  pen.beginPath();
  switch (form) {
    case "circle":
      pen.arc(x, y, r, 0, 2 * Math.PI);
      break;
    case "right":
      polygon(pen, [[x - r * 0.85, y - r], [x + r * 1.15, y], [x - r * 0.85, y + r]]);
      break;
    case "left":
      polygon(pen, [[x + r * 0.85, y - r], [x - r * 1.15, y], [x + r * 0.85, y + r]]);
      break;
    case "diamond":
      polygon(pen, [[x, y - r * 1.2], [x + r * 1.2, y], [x, y + r * 1.2], [x - r * 1.2, y]]);
      break;
    case "square":
      pen.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
      break;
    case "half-right":
      polygon(pen, [[x - r * 0.7, y - r], [x + r * 0.3, y - r], [x + r, y], [x + r * 0.3, y + r], [x - r * 0.7, y + r]]);
      break;
    case "half-left":
      polygon(pen, [[x + r * 0.7, y - r], [x - r * 0.3, y - r], [x - r, y], [x - r * 0.3, y + r], [x + r * 0.7, y + r]]);
      break;
    case "hexagon":
      polygon(pen, [[x - r, y], [x - r / 2, y - r], [x + r / 2, y - r], [x + r, y], [x + r / 2, y + r], [x - r / 2, y + r]]);
  }
}

function polygon(pen: Pen, points: [number, number][]): void {
  points.forEach(([x, y], index) => (index ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
}
