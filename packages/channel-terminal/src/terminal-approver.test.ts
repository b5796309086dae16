import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createBoard } from "./board.js";
import { createLocalClient } from "./local-client.js";
import { createTerminalApprover } from "./terminal-approver.js";

it("createTerminalApprover() says at once that there is no terminal, before anybody counts on it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "file");
  await writeFile(file, "");
  for (const [path, why] of [
    [join(folder, "none"), "there is none"],
    [file, "it is not a terminal"],
  ] as const) {
    const client = createLocalClient(createBoard());
    expect(() => createTerminalApprover({ client, path })).toThrow(why);
    await client.close();
  }
});
