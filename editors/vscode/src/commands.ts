/** Runs `possibly` and shows what it says: verdicts among the problems, the page of a trace in a panel. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { problemsOf, type Log, type Problem } from "./problems";

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

export const command = (): string => vscode.workspace.getConfiguration("possibly").get("command") ?? "possibly";
export const folder = (): string => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? ".";

/** Standard output; a violated property is an answer, bad input is an error. */
function said(words: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command(), words, { cwd: folder(), maxBuffer: 1 << 28 }, (error, out, err) => {
      if (error && (typeof error.code !== "number" || error.code === 2)) reject(new Error(err || String(error)));
      else resolve(out);
    });
  });
}

function openFile(): string {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Error("open a trace first");
  return editor.document.fileName;
}

export async function check(diagnostics: vscode.DiagnosticCollection): Promise<void> {
  const trace = openFile();
  const [spec] = (await vscode.window.showOpenDialog({ title: "Specification file" })) ?? [];
  if (!spec) return;
  const log = JSON.parse(await said(["check", trace, "--spec", spec.fsPath, "--format", "sarif"])) as Log;
  const byFile = new Map<string, vscode.Diagnostic[]>();
  for (const problem of problemsOf(log)) {
    const file = path.resolve(folder(), problem.file);
    byFile.set(file, [...(byFile.get(file) ?? []), diagnosticOf(problem)]);
  }
  diagnostics.clear();
  for (const [file, found] of byFile) diagnostics.set(vscode.Uri.file(file), found);
}

function diagnosticOf(problem: Problem): vscode.Diagnostic {
  const range = new vscode.Range(problem.line, 0, problem.line, 1000);
  const found = new vscode.Diagnostic(range, problem.message, SEVERITIES[problem.severity]);
  found.source = `possibly ${problem.rule}`;
  return found;
}

export async function page(): Promise<void> {
  const trace = openFile();
  const file = path.join(mkdtempSync(path.join(tmpdir(), "possibly-")), "page.html");
  await said(["view", trace, "-o", file]);
  const panel = vscode.window.createWebviewPanel("possibly", "possibly", vscode.ViewColumn.Beside, {
    enableScripts: true,
  });
  panel.webview.html = readFileSync(file, "utf8");
}

/** Asks for a formula and goes there, or back by one, in the session at hand. */
export async function step(): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  const formula = await vscode.window.showInputBox({ prompt: "A formula, such as F(x == 2)" });
  if (!session || !formula) return;
  const { result } = await session.customRequest("evaluate", { expression: `step ${formula}`, context: "repl" });
  if (String(result).startsWith("no way")) throw new Error(result);
}

export async function pop(): Promise<void> {
  await vscode.debug.activeDebugSession?.customRequest("possibly/pop");
}
