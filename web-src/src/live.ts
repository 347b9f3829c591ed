// The live page: asks the server that it came from, with the token that it was given.

import type { PictureDocument } from "./model";

export class Live {
  constructor(private readonly token: string) {}

  async ask(path: string, body: unknown): Promise<PictureDocument> {
    const answer = await fetch(`/api/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Possibly-Token": this.token },
      body: JSON.stringify(body),
    });
    const found = (await answer.json()) as PictureDocument & { error?: string };
    if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
    return found;
  }
}
