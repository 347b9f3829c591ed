"use strict";
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/extension.ts
var extension_exports = {};
__export(extension_exports, {
  activate: () => activate
});
module.exports = __toCommonJS(extension_exports);
var vscode3 = __toESM(require("vscode"));

// src/commands.ts
var import_node_child_process = require("node:child_process");
var import_node_fs = require("node:fs");
var import_node_os = require("node:os");
var path = __toESM(require("node:path"));
var vscode = __toESM(require("vscode"));

// src/problems.ts
var LEVELS = { error: "error", warning: "warning", note: "information" };
function problemsOf(log) {
  const results = (log.runs ?? []).flatMap((run) => run.results ?? []);
  return results.flatMap((result) => (result.locations ?? []).flatMap((place) => problemAt(result, place)));
}
function problemAt(result, place) {
  const physical = place.physicalLocation;
  if (!physical?.region) return [];
  return [
    {
      file: decodeURIComponent(physical.artifactLocation.uri.replace(/^file:\/\//, "")),
      line: physical.region.startLine - 1,
      message: result.message.text,
      severity: LEVELS[result.level ?? "error"] ?? "error",
      rule: result.ruleId
    }
  ];
}

// src/commands.ts
var SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information
};
var command = () => vscode.workspace.getConfiguration("possibly").get("command") ?? "possibly";
var folder = () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? ".";
function said(words) {
  return new Promise((resolve2, reject) => {
    (0, import_node_child_process.execFile)(command(), words, { cwd: folder(), maxBuffer: 1 << 28 }, (error, out, err) => {
      if (error && (typeof error.code !== "number" || error.code === 2)) reject(new Error(err || String(error)));
      else resolve2(out);
    });
  });
}
function openFile() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Error("open a trace first");
  return editor.document.fileName;
}
async function check(diagnostics) {
  const trace = openFile();
  const [spec] = await vscode.window.showOpenDialog({ title: "Specification file" }) ?? [];
  if (!spec) return;
  const log = JSON.parse(await said(["check", trace, "--spec", spec.fsPath, "--format", "sarif"]));
  const byFile = /* @__PURE__ */ new Map();
  for (const problem of problemsOf(log)) {
    const file = path.resolve(folder(), problem.file);
    byFile.set(file, [...byFile.get(file) ?? [], diagnosticOf(problem)]);
  }
  diagnostics.clear();
  for (const [file, found] of byFile) diagnostics.set(vscode.Uri.file(file), found);
}
function diagnosticOf(problem) {
  const range = new vscode.Range(problem.line, 0, problem.line, 1e3);
  const found = new vscode.Diagnostic(range, problem.message, SEVERITIES[problem.severity]);
  found.source = `possibly ${problem.rule}`;
  return found;
}
async function page() {
  const trace = openFile();
  const file = path.join((0, import_node_fs.mkdtempSync)(path.join((0, import_node_os.tmpdir)(), "possibly-")), "page.html");
  await said(["view", trace, "-o", file]);
  const panel = vscode.window.createWebviewPanel("possibly", "possibly", vscode.ViewColumn.Beside, {
    enableScripts: true
  });
  panel.webview.html = (0, import_node_fs.readFileSync)(file, "utf8");
}
async function step() {
  const session = vscode.debug.activeDebugSession;
  const formula = await vscode.window.showInputBox({ prompt: "A formula, such as F(x == 2)" });
  if (!session || !formula) return;
  const { result } = await session.customRequest("evaluate", { expression: `step ${formula}`, context: "repl" });
  if (String(result).startsWith("no way")) throw new Error(result);
}
async function pop() {
  await vscode.debug.activeDebugSession?.customRequest("possibly/pop");
}

// src/stack.ts
var vscode2 = __toESM(require("vscode"));
var TemporalStack = class {
  changed = new vscode2.EventEmitter();
  onDidChangeTreeData = this.changed.event;
  refresh() {
    this.changed.fire();
  }
  async getChildren(parent) {
    if (parent !== void 0) return "step" in parent ? parent.step.moves.map((move) => ({ move })) : [];
    const session = vscode2.debug.activeDebugSession;
    if (session?.type !== "possibly") return [];
    const { steps } = await session.customRequest("possibly/stack");
    return steps.reverse().map((step2) => ({ step: step2 }));
  }
  getTreeItem(entry) {
    if ("move" in entry) return new vscode2.TreeItem(entry.move);
    const item = new vscode2.TreeItem(entry.step.formula, vscode2.TreeItemCollapsibleState.Collapsed);
    item.description = `steps ${entry.step.start + 1} to ${entry.step.end}`;
    return item;
  }
};

// src/extension.ts
function activate(context) {
  const diagnostics = vscode3.languages.createDiagnosticCollection("possibly");
  const stack = new TemporalStack();
  const told = (work) => () => work().catch((error) => vscode3.window.showErrorMessage(error.message));
  context.subscriptions.push(
    diagnostics,
    vscode3.debug.registerDebugAdapterDescriptorFactory("possibly", {
      createDebugAdapterDescriptor: () => new vscode3.DebugAdapterExecutable(command(), ["dap"], { cwd: folder() })
    }),
    vscode3.debug.registerDebugAdapterTrackerFactory("possibly", {
      createDebugAdapterTracker: () => ({
        onDidSendMessage: (message) => {
          if (message.event === "stopped" || message.event === "terminated") stack.refresh();
        }
      })
    }),
    vscode3.window.registerTreeDataProvider("possibly.stack", stack),
    vscode3.commands.registerCommand("possibly.check", told(() => check(diagnostics))),
    vscode3.commands.registerCommand("possibly.page", told(page)),
    vscode3.commands.registerCommand("possibly.step", told(step)),
    vscode3.commands.registerCommand("possibly.pop", told(pop))
  );
}
// Annotate the CommonJS export names for ESM import in node:
0 && (module.exports = {
  activate
});
