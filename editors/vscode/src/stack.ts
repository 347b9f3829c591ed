/** The temporal stack of a debug session as a tree: formulas, and below each the moves that satisfied it. */
import * as vscode from "vscode";

export interface Step {
  formula: string;
  start: number;
  end: number;
  moves: string[];
}
export type Entry = { step: Step } | { move: string };

export class TemporalStack implements vscode.TreeDataProvider<Entry> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  refresh(): void {
    this.changed.fire();
  }

  async getChildren(parent?: Entry): Promise<Entry[]> {
    if (parent !== undefined) return "step" in parent ? parent.step.moves.map((move) => ({ move })) : [];
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== "possibly") return [];
    const { steps } = (await session.customRequest("possibly/stack")) as { steps: Step[] };
    // The newest lies on top, as on every stack.
    return steps.reverse().map((step) => ({ step }));
  }

  getTreeItem(entry: Entry): vscode.TreeItem {
    if ("move" in entry) return new vscode.TreeItem(entry.move);
    const item = new vscode.TreeItem(entry.step.formula, vscode.TreeItemCollapsibleState.Collapsed);
    item.description = `steps ${entry.step.start + 1} to ${entry.step.end}`;
    return item;
  }
}
