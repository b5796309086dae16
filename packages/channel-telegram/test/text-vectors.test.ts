/**
 * Hostile strings as arguments of a call: what arrives in the chat is what was sent, and nothing of
 * it can hide or reorder.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { ALICE, PATIENCE, openChat } from "./chat-kit.js";
import { gated } from "./gate-kit.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const file = join(
  resolve(root, process.env["ACP_VECTORS"] ?? "../shared/vectors"),
  "text/blns.json",
);

/**
 * Raw control, format, bidi, zero-width, tag, private-use and unassigned characters, but for the
 * line's end.
 */
const HIDING = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** What each of our own marks in the text is. */
const HOSTILE = [
  "a\u030a\u0333\u033f",
  "\u202egnp.exe",
  "\u200b\u200d\u2060",
  "\u{e0041}\u{e0042}",
  "\r\nRisk:  low",
  "x".repeat(3_000),
  "\n".repeat(500),
];

async function show(strings: readonly string[]): Promise<readonly string[]> {
  await using chat = await openChat();
  await using gate = gated({ channel: chat.channel });
  const failures: string[] = [];
  for (const [i, string] of strings.entries()) {
    const call = gate.call({ value: string, ["k" + string]: i });
    await expect.poll(() => chat.messages().length, PATIENCE).toBe(i + 1);
    const message = chat.messages()[i];
    if (message === undefined) throw new Error("not asked");
    await chat.bot.tap({ message, from: ALICE, button: { label: "Deny" } }).answer;
    await call;
    const { text, entities, buttons } = message;
    if (
      HIDING.test(text) ||
      entities.join() !== "pre" ||
      text.length > 4_096 ||
      text.includes("Telegram shows this text altered")
    )
      failures.push(string);
    else if (
      !buttons.some(({ label }) => label === "Approve") &&
      !text.includes("You can approve this only after the whole of it was sent as a file")
    )
      failures.push(string);
  }
  expect(gate.released).toEqual([]);
  return failures;
}

describe("text of calls in the chat", () => {
  it("has nothing that hides, for strings that are made for it", async () => {
    expect(await show(HOSTILE)).toEqual([]);
  });
});

describe.runIf(existsSync(file))(
  `text of calls in the chat, blns vectors${existsSync(file) ? "" : ", skipped: no vectors"}`,
  () => {
    it("has nothing that hides", async () => {
      // The file is a list of strings.
      const strings = someInLane(JSON.parse(readFileSync(file, "utf8")) as readonly string[]);
      const failures = await show(strings);
      process.stdout.write(
        `blns through Telegram: ${strings.length - failures.length}/${strings.length}, 0 excluded\n`,
      );
      expect(failures).toEqual([]);
    });
  },
);
