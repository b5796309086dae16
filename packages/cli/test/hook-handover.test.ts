/**
 * Hooks over handovers: a hook that waits for a person as its resident gives way waits on at the
 * next one, for the same question, and never allows because there is none.
 */
import { chmod, mkdir, readdir } from "node:fs/promises";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { expect, it, vi } from "vitest";
import { buildOf, versionOf } from "../src/build-of.js";
import { createFrameReader, frameOf, greetingFrame, recordIn } from "../src/resident/wire.js";
import { BIN, acp } from "./harness.js";
import { EVENTS, decisionOf, hookWorld } from "./hook-world.js";
import type { HookWorld } from "./hook-world.js";

const PATIENCE = { timeout: 60_000, interval: 20 };
const EVENT = EVENTS.codex("npm publish");

it("a hook that waits over two handovers is answered once, and nobody is asked twice", async () => {
  await using at = await hookWorld();
  await using _resident = await at.resident();
  const stop = new AbortController();
  await using approver = await attachApprovers({
    directory: join(at.home, "run"),
    signal: stop.signal,
  });
  await using hook = at.startHook("codex", EVENT, ["--wait", "600"]);
  await vi.waitFor(() => expect(approver.pending()).toHaveLength(1), PATIENCE);
  const asked = approver.pending()[0]?.request.id;
  const begun = async (): Promise<number> =>
    (await at.log()).filter(({ event_type }) => event_type === "tool_call_intercepted").length;
  for (const handovers of [1, 2]) {
    expect((await acp(["resident", "restart", "--home", at.home])).code).toBe(0);
    // The hook is back: its call was begun once more.
    await vi.waitFor(async () => expect(await begun()).toBe(1 + handovers), PATIENCE);
    await vi.waitFor(
      () => expect(approver.pending().map(({ request }) => request.id)).toEqual([asked]),
      PATIENCE,
    );
  }
  expect(hook.child.exitCode).toBeNull();
  const [question] = approver.pending();
  if (question === undefined) throw new Error("nothing is asked");
  const claim = { decision: "approved", nowMs: Date.now(), channel: "terminal" } as const;
  expect(await approver.answer(makeResponse(question.request, claim))).toMatchObject({
    outcome: "approved",
  });
  const ended = await hook.ended;
  // Codex reads silence as "run it".
  expect([ended.code, decisionOf(ended), ended.stderr]).toEqual([0, "none", ""]);
  const types = (await at.log()).map(({ event_type }) => event_type);
  for (const type of ["consent_requested", "consent_approved", "tool_call_forwarded"])
    expect([type, types.filter((each) => each === type).length]).toEqual([type, 1]);
  stop.abort();
  await acp(["resident", "stop", "--home", at.home]);
});

/** Takes the event of each connection, and then says what the test gives it; the last says nothing. */
async function givesWay(at: HookWorld, then: readonly (readonly Buffer[])[]) {
  await mkdir(join(at.home, "run"), { mode: 0o700 });
  const entry = join(dirname(BIN), "../dist/index.js");
  const build = buildOf(entry);
  const waits: (string | undefined)[] = [];
  const events: string[] = [];
  const server = createServer();
  const attend = (socket: Socket): void => {
    const number = events.push("") - 1;
    const reader = createFrameReader(
      ({ kind, body }) => {
        if (kind === "hello") {
          const { argv } = recordIn(body) ?? {};
          waits.push(Array.isArray(argv) ? String(argv.find((each) => /wait/.test(each))) : "");
          for (const frame of number < then.length ? [] : [frameOf("refused", "{}")])
            socket.write(frame);
          if (number < then.length) socket.write(frameOf("ready"));
        }
        if (kind === "input") events[number] += body.toString("utf8");
        if (kind === "end") for (const frame of then[number] ?? []) socket.write(frame);
      },
      () => socket.destroy(),
    );
    socket.on("error", () => undefined).on("data", (chunk: Buffer) => reader.push(chunk));
    // The next one is of another build: it is the only one that has the question.
    socket.write(
      greetingFrame({
        version: versionOf(entry),
        build: number === 0 ? build : "1:2:3:4",
        isCurrent: true,
      }),
    );
  };
  server.on("connection", attend);
  const path = join(at.home, "run", "agents");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  await chmod(path, 0o600);
  return {
    waits,
    events,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

const AGAIN = [frameOf("hold"), frameOf("again")];

it("a hook gives its event to the resident that follows, with what is left of its time", async () => {
  await using at = await hookWorld();
  const answer = [frameOf("output", '{"decision":"x"}'), frameOf("exit", '{"code":0}')];
  const [half] = answer;
  await using residents = await givesWay(at, [
    [...AGAIN],
    [...(half ? [half] : []), ...AGAIN],
    answer,
  ]);
  const { code, stdout } = await at.hook("codex", EVENT, ["--wait", "500"]);
  expect([code, stdout]).toEqual([0, '{"decision":"x"}']);
  expect(residents.events.map((text) => JSON.parse(text))).toEqual([EVENT, EVENT, EVENT]);
  expect(residents.waits).toEqual(["--wait", expect.any(String), expect.any(String)]);
  for (const wait of residents.waits.slice(1)) {
    const left = Number(/^--wait=(\d+)$/.exec(wait ?? "")?.[1]);
    expect(left).toBeGreaterThanOrEqual(1);
    expect(left).toBeLessThan(500);
  }
});

it("a hook that was handed over and finds nobody who answers it is a refusal", async () => {
  await using at = await hookWorld();
  await using residents = await givesWay(at, [AGAIN]);
  const { code, stdout, stderr } = await at.hook("codex", EVENT, ["--wait", "500"]);
  expect([code, stdout, stderr]).toEqual([
    2,
    "",
    expect.stringContaining("the resident ended without an answer"),
  ]);
  expect(residents.events).toHaveLength(2);
  // It did not judge alone.
  expect((await readdir(at.home)).filter((name) => name.startsWith("audit"))).toEqual([]);
});
