// Bundles the picture into the Python package: picture.js, picture.css and the licences of what is inside.
import { build } from "esbuild";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, "../src/possibly/views/web/assets");

// svgcanvas reads a font through a style attribute, which the page's policy forbids; the style object does as well.
const ATTRIBUTE = /(\w+)\.setAttribute\(["']style["'],\s*["']font:["']\s*\+\s*this\.font\)/;
const withoutStyleAttributes = {
  name: "without-style-attributes",
  setup(builder) {
    builder.onLoad({ filter: /node_modules\/svgcanvas\/.*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (path.includes("/dist/") && !ATTRIBUTE.test(text)) throw new Error("svgcanvas has changed: see build.mjs");
      return { contents: text.replace(ATTRIBUTE, "$1.style.font = this.font"), loader: "js" };
    });
  },
};

const result = await build({
  plugins: [withoutStyleAttributes],
  absWorkingDir: here,
  entryPoints: { picture: "src/main.ts" },
  outdir: output,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  charset: "ascii",
  legalComments: "none",
  metafile: true,
});

// Every package that has a file in the bundle, with its licence in full.
const packages = new Set();
for (const file of Object.keys(result.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
  if (found) packages.add(found[1]);
}
// A package may have others compiled into its file: then their licences stand beside it.
const inside = Object.keys(result.metafile.inputs)
  .map((file) => join(here, `${file}.LEGAL.txt`))
  .filter(existsSync)
  .map((file) => readFileSync(file, "utf8").trim());
const texts = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = readFileSync(join(folder, file), "utf8").trim();
  return `${name} ${about.version} (${about.license})\n\n${text}\n`;
});
const head = "The script of the page contains these libraries, each under its own licence.\n";
writeFileSync(join(output, "LICENCES.txt"), [head, ...texts, ...inside.map((text) => `${text}\n`)].join(`\n${"-".repeat(78)}\n\n`));
