// Bundles the extension into dist/extension.js, which is committed: whoever links the folder needs no npm.
import { build } from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
await build({
  absWorkingDir: here,
  entryPoints: ["src/extension.ts"],
  outfile: process.argv[2] ?? join(here, "dist/extension.js"),
  bundle: true,
  platform: "node",
  external: ["vscode"],
  format: "cjs",
  target: ["node18"],
  charset: "ascii",
});
