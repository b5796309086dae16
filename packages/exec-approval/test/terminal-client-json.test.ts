/** The terminal client in JSON lines: what comes out for a program, and what goes in. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { runTerminalClient } from "../src/terminal-client.js";
import { createWorld, until } from "./support/world.js";
import { DANGEROUS, openTerminal, type Terminal } from "./support/terminal.js";

describe("JSON lines", () => {
  const lines = (terminal: Terminal): readonly Record<string, unknown>[] =>
    terminal
      .screen()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  it("come out for every request and end, and answers go in", async () => {
    await using terminal = await openTerminal({ format: "json" });
    const one = await terminal.show();
    const two = await terminal.show();
    await until(() =>
      expect(lines(terminal)).toEqual([
        { type: "open", ...one },
        { type: "open", ...two },
      ]),
    );
    terminal.type(`${JSON.stringify({ approvalId: one.approvalId, decision: "allow-once" })}\n`);
    await until(() =>
      expect(lines(terminal)).toContainEqual({
        type: "result",
        approvalId: one.approvalId,
        ok: true,
      }),
    );
    await terminal.over(two.approvalId, "expired");
    await until(() =>
      expect(lines(terminal)).toContainEqual({
        type: "ended",
        approvalId: two.approvalId,
        outcome: "expired",
      }),
    );
    terminal.reply = { ok: false, error: { code: "NOT_FOUND", message: "gone" } };
    terminal.type(`\n${JSON.stringify({ approvalId: two.approvalId, decision: "deny" })}\n`);
    await until(() =>
      expect(lines(terminal).at(-1)).toEqual({
        type: "result",
        approvalId: two.approvalId,
        ok: false,
        error: { code: "NOT_FOUND", message: "gone" },
      }),
    );
    terminal.endInput();
    expect(await terminal.end).toBe("input_over");
  });

  it.each([
    "[]",
    "{",
    '{"approvalId":"x","decision":"yes"}',
    '{"approvalId":"x","decision":"deny","decision":"allow-once"}',
    "o",
  ])("%s is refused", async (line) => {
    await using terminal = await openTerminal({ format: "json" });
    terminal.type(`${line}\n`);
    await until(() =>
      expect(lines(terminal)).toEqual([expect.objectContaining({ type: "refused" })]),
    );
    expect(terminal.answers).toEqual([]);
  });

  it("take the word for what is dangerous", async () => {
    await using terminal = await openTerminal({ format: "json" });
    const { approvalId } = await terminal.show(DANGEROUS);
    await until(() => expect(lines(terminal)).toHaveLength(1));
    terminal.type(`${JSON.stringify({ approvalId, decision: "allow-once" })}\n`);
    await until(() =>
      expect(lines(terminal).at(-1)).toEqual({
        type: "refused",
        approvalId,
        reason: 'confirmation is not "approve"',
      }),
    );
    terminal.type(
      `${JSON.stringify({ approvalId, decision: "allow-once", confirmation: "approve" })}\n`,
    );
    await until(() => expect(lines(terminal).at(-1)).toMatchObject({ type: "result", ok: true }));
  });

  it("are what a pipe gets unless told otherwise", async () => {
    const world = await createWorld();
    await using _world = world;
    const client = world.device("phone");
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.end("x\n");
    expect(
      await runTerminalClient({
        client,
        hubDeviceId: "hub",
        input,
        output,
        signal: new AbortController().signal,
      }),
    ).toBe("input_over");
    expect(JSON.parse(String(output.read()))).toMatchObject({ type: "refused" });
  });
});
