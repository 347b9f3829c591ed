// The bundle itself, with a small stand-in for the editor around it, and `possibly` as it is.
"use strict";
const assert = require("node:assert");
const Module = require("node:module");
const path = require("node:path");
const test = require("node:test");

const ROOT = path.resolve(__dirname, "../../..");
const registered = {};
const shown = { errors: [], pages: [], problems: new Map() };
const editor = {
  Range: class {
    constructor(...numbers) { this.numbers = numbers; }
  },
  Diagnostic: class {
    constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
  },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2 },
  DebugAdapterExecutable: class {
    constructor(command, words) { Object.assign(this, { command, words }); }
  },
  EventEmitter: class {
    event = () => undefined;
    fire() { shown.refreshed = true; }
  },
  TreeItem: class {
    constructor(label, state) { Object.assign(this, { label, state }); }
  },
  TreeItemCollapsibleState: { Collapsed: 1 },
  Uri: { file: (name) => name },
  ViewColumn: { Beside: 2 },
  commands: { registerCommand: (name, work) => { registered[name] = work; } },
  debug: {
    activeDebugSession: undefined,
    registerDebugAdapterDescriptorFactory: (_, factory) => { registered.adapter = factory; },
    registerDebugAdapterTrackerFactory: (_, factory) => { registered.tracker = factory; },
  },
  languages: {
    createDiagnosticCollection: () => ({
      clear: () => shown.problems.clear(),
      set: (file, found) => shown.problems.set(file, found),
    }),
  },
  window: {
    activeTextEditor: { document: { fileName: path.join(ROOT, "examples/mutex/run.jsonl") } },
    createWebviewPanel: () => ({ webview: { set html(text) { shown.pages.push(text); } } }),
    registerTreeDataProvider: (_, provider) => { registered.stack = provider; },
    showErrorMessage: (text) => shown.errors.push(text),
    showInputBox: async () => "F P1.critical",
    showOpenDialog: async () => [{ fsPath: path.join(ROOT, "examples/mutex/mutex.spec") }],
  },
  workspace: {
    workspaceFolders: [{ uri: { fsPath: ROOT } }],
    getConfiguration: () => ({ get: () => process.env.POSSIBLY_COMMAND }),
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? editor : load(name, ...rest));
require("../dist/extension.js").activate({ subscriptions: [] });

test("the adapter is started by the command of the settings", () => {
  const found = registered.adapter.createDebugAdapterDescriptor();
  assert.deepStrictEqual([found.command, found.words], [process.env.POSSIBLY_COMMAND, ["dap"]]);
});

test("verdicts become problems at lines", async () => {
  await registered["possibly.check"]();
  assert.deepStrictEqual(shown.errors, []);
  const [[file, [problem, ...others]]] = shown.problems;
  assert.strictEqual(path.relative(ROOT, file), path.join("examples", "mutex", "mutex.py"));
  assert.deepStrictEqual(others, []);
  assert.deepStrictEqual(problem.range.numbers.slice(0, 2), [23, 0]);
  assert.deepStrictEqual([problem.severity, problem.source], [0, "possibly mutex"]);
});

test("the page of a trace is shown in a panel", async () => {
  await registered["possibly.page"]();
  assert.deepStrictEqual(shown.errors, []);
  assert.match(shown.pages[0], /<title>/);
});

test("the temporal stack has the newest step on top, and its moves below", async () => {
  assert.deepStrictEqual(await registered.stack.getChildren(), []);
  const steps = [
    { formula: "F a", start: 0, end: 2, moves: ["P1:1", "P2:1"] },
    { formula: "F b", start: 2, end: 3, moves: ["P1:2"] },
  ];
  const asked = [];
  editor.debug.activeDebugSession = {
    type: "possibly",
    customRequest: async (name, words) => {
      asked.push([name, words?.expression]);
      return name === "evaluate" ? { result: "after 3 steps" } : { steps: [...steps] };
    },
  };
  const [top, bottom] = await registered.stack.getChildren();
  assert.deepStrictEqual([top.step.formula, bottom.step.formula], ["F b", "F a"]);
  const item = registered.stack.getTreeItem(bottom);
  assert.deepStrictEqual([item.label, item.description], ["F a", "steps 1 to 2"]);
  assert.deepStrictEqual(await registered.stack.getChildren(bottom), [{ move: "P1:1" }, { move: "P2:1" }]);
  assert.strictEqual(registered.stack.getTreeItem({ move: "P1:1" }).label, "P1:1");
  await registered["possibly.step"]();
  await registered["possibly.pop"]();
  assert.deepStrictEqual(asked.slice(-2), [["evaluate", "step F P1.critical"], ["possibly/pop", undefined]]);
});

test("the tree is drawn again when the program stops", () => {
  registered.tracker.createDebugAdapterTracker().onDidSendMessage({ event: "stopped" });
  assert.ok(shown.refreshed);
});

test("what is wrong is said in the editor", async () => {
  editor.window.activeTextEditor = { document: { fileName: "nowhere.jsonl" } };
  await registered["possibly.page"]();
  assert.match(shown.errors[0], /nowhere\.jsonl/);
});
