// The live page: asks the server that it came from, with the token that it was given. One request at a time, so that
// answers come in the order of what was pressed.

import type { PictureDocument } from "./model";

/** What has changed: the run itself never does, so an answer leaves it out. */
export type Answer = Omit<PictureDocument, "trace" | "live">;

export class Live {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly token: string) {}

  ask(path: string, body: unknown): Promise<Answer> {
    const answer = this.last.then(() => this.send(path, body));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async send(path: string, body: unknown): Promise<Answer> {
    const answer = await this.sent(path, body);
    const found = (await answer.json()) as Answer & { error?: string };
    if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
    return found;
  }

  private async sent(path: string, body: unknown): Promise<Response> {
    try {
      return await fetch(`/api/${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Possibly-Token": this.token },
        body: JSON.stringify(body),
      });
    } catch {
      throw new Error("The server does not answer. Does possibly view --serve still run?");
    }
  }
}
