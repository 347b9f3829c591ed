// Starts the debug adapter, lists verdicts as problems, and shows a trace's page in a panel.
"use strict";
const { execFile } = require("node:child_process");
const { mkdtempSync, readFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const vscode = require("vscode");
const { problemsOf } = require("./problems");

const command = () => vscode.workspace.getConfiguration("possibly").get("command");
const folder = () => (vscode.workspace.workspaceFolders || [{ uri: vscode.Uri.file(".") }])[0].uri.fsPath;

function said(words) {
  return new Promise((resolve, reject) => {
    execFile(command(), words, { cwd: folder(), maxBuffer: 1 << 28 }, (error, out, err) => {
      if (error && (typeof error.code !== "number" || error.code === 2)) reject(new Error(err || String(error)));
      else resolve(out);
    });
  });
}

async function check(diagnostics) {
  const trace = vscode.window.activeTextEditor.document.fileName;
  const [spec] = (await vscode.window.showOpenDialog({ title: "Specification file" })) || [];
  if (!spec) return;
  const log = JSON.parse(await said(["check", trace, "--spec", spec.fsPath, "--format", "sarif"]));
  const byFile = new Map();
  for (const each of problemsOf(log)) {
    const file = path.resolve(folder(), each.file);
    const range = new vscode.Range(each.line, 0, each.line, 1000);
    const severity = { error: 0, warning: 1, information: 2 }[each.severity];
    const found = new vscode.Diagnostic(range, each.message, severity);
    found.source = `possibly ${each.rule}`;
    byFile.set(file, [...(byFile.get(file) || []), found]);
  }
  diagnostics.clear();
  for (const [file, found] of byFile) diagnostics.set(vscode.Uri.file(file), found);
}

async function page() {
  const trace = vscode.window.activeTextEditor.document.fileName;
  const file = path.join(mkdtempSync(path.join(tmpdir(), "possibly-")), "page.html");
  await said(["view", trace, "-o", file]);
  const panel = vscode.window.createWebviewPanel("possibly", "possibly", vscode.ViewColumn.Beside, { enableScripts: true });
  panel.webview.html = readFileSync(file, "utf8");
}

function activate(context) {
  const diagnostics = vscode.languages.createDiagnosticCollection("possibly");
  const told = (work) => () => work().catch((error) => vscode.window.showErrorMessage(error.message));
  context.subscriptions.push(
    diagnostics,
    vscode.debug.registerDebugAdapterDescriptorFactory("possibly", {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(command(), ["dap"], { cwd: folder() }),
    }),
    vscode.commands.registerCommand("possibly.check", told(() => check(diagnostics))),
    vscode.commands.registerCommand("possibly.page", told(page)),
  );
}

module.exports = { activate };
