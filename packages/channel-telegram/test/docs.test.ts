/**
 * docs/how-to/channels/telegram.md: its first program is run as it stands there, against the
 * double.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBotApiDouble } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { ALICE, PATIENCE } from "./chat-kit.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

describe("docs/how-to/channels/telegram.md", () => {
  it.each([
    ["Approve", "sent"],
    ["Deny", "not sent: "],
  ])(
    "its first program waits for %s",
    async (label, printed) => {
      const page = await readFile(join(root, "docs/how-to/channels/telegram.md"), "utf8");
      const program = /```js\n([^]*?)```/.exec(page)?.[1] ?? "";
      const folder = await mkdtemp(join(tmpdir(), "first-approval-"));
      await using bot = await createBotApiDouble();
      const file = join(folder, "first-approval.mts");
      // The server's address is all that differs.
      await writeFile(
        file,
        program.replace("chatId:", `apiRoot: ${JSON.stringify(bot.apiRoot)}, chatId:`),
      );
      const child = spawn(process.execPath, ["--import", "tsx", file], {
        cwd: root,
        env: {
          ...process.env,
          TELEGRAM_TOKEN: bot.token,
          TELEGRAM_CHAT: String(ALICE.id),
          TSX_TSCONFIG_PATH: join(root, "tsconfig.json"),
        },
      });
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => (output += String(chunk)));
      const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
      const isThere = (): boolean => bot.messages(ALICE.id).length === 1 || child.exitCode !== null;
      await expect.poll(isThere, PATIENCE).toBe(true);
      const [message] = bot.messages(ALICE.id);
      if (message === undefined) throw new Error(output);
      bot.tap({ message, from: ALICE, button: { label } });
      await expect(exited).resolves.toBe(0);
      expect(output).toContain(printed);
      expect(bot.messages(ALICE.id)[0]?.text).toMatch(
        label === "Approve" ? /^APPROVED by Alice/ : /^DENIED by Alice/,
      );
      await rm(folder, { recursive: true });
    },
    90_000,
  );
});
