/** The door of the extension: what it registers with the editor. */
import * as vscode from "vscode";
import { check, command, folder, page, pop, step } from "./commands";
import { TemporalStack } from "./stack";

export function activate(context: vscode.ExtensionContext): void {
  const diagnostics = vscode.languages.createDiagnosticCollection("possibly");
  const stack = new TemporalStack();
  const told = (work: () => Promise<void>) => () =>
    work().catch((error: Error) => vscode.window.showErrorMessage(error.message));
  context.subscriptions.push(
    diagnostics,
    vscode.debug.registerDebugAdapterDescriptorFactory("possibly", {
      createDebugAdapterDescriptor: () => new vscode.DebugAdapterExecutable(command(), ["dap"], { cwd: folder() }),
    }),
    vscode.debug.registerDebugAdapterTrackerFactory("possibly", {
      createDebugAdapterTracker: () => ({
        onDidSendMessage: (message: { event?: string }) => {
          if (message.event === "stopped" || message.event === "terminated") stack.refresh();
        },
      }),
    }),
    vscode.window.registerTreeDataProvider("possibly.stack", stack),
    vscode.commands.registerCommand("possibly.check", told(() => check(diagnostics))),
    vscode.commands.registerCommand("possibly.page", told(page)),
    vscode.commands.registerCommand("possibly.step", told(step)),
    vscode.commands.registerCommand("possibly.pop", told(pop)),
  );
}
