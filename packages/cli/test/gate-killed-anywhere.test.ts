/**
 * A gate that is killed before and after every call of a part that keeps something: whatever was
 * done had been approved, in the log, and once; and what became of each yes is in the log, once.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readAuditLog, verifyAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { bundled } from "../../../tools/bundled.js";
import { scratch } from "./harness.js";

const GATE = await bundled(new URL("fixtures/crashing-gate.ts", import.meta.url));
/** Every how many-th call is tried; `ACP_STRIDE=1` tries all of them. */
const STRIDE = Number(process.env["ACP_STRIDE"] ?? 8);

const AT_ONCE = 5;

interface Run {
  readonly signal: string | null;
  readonly calls: number;
}

async function run(directory: string, ...args: readonly string[]): Promise<Run> {
  const child = spawn(process.execPath, [GATE, directory, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const [code, signal] = await once(child, "close");
  if (code !== 0 && signal !== "SIGKILL")
    throw new Error(`the gate ended with ${String(code ?? signal)}`);
  return { signal: signal === "SIGKILL" ? signal : null, calls: Number(text) };
}

const doneIn = async (directory: string): Promise<readonly string[]> =>
  (await readFile(join(directory, "done.txt"), "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "");

async function eventsIn(directory: string): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const event of readAuditLog(join(directory, "audit.jsonl"))) events.push(event);
  return events;
}

const WHOLE = ["write yes", "write edited", "lease first", "lease second"];

/** What an approval in the log allows, by the tool: how often it may have been done. */
function allowedBy(events: readonly AuditEvent[], tool: string): number {
  return events.filter(
    (event) =>
      event.tool === tool &&
      (event.eventType === "consent_approved" || event.eventType === "grant_used"),
  ).length;
}

const ENDS_OF_YES = new Set(["tool_call_completed", "consent_not_collected", "outcome_unknown"]);

/** What the log says became of each yes, by its question. */
function storiesOf(events: readonly AuditEvent[]): readonly (readonly string[])[] {
  const approved = events.flatMap(({ eventType, requestId }) =>
    eventType === "consent_approved" ? requestId : [],
  );
  return approved.map((id) =>
    events.flatMap(({ eventType, requestId }) =>
      requestId === id && ENDS_OF_YES.has(eventType) ? eventType : [],
    ),
  );
}

async function check(directory: string): Promise<void> {
  const done = await doneIn(directory);
  expect(WHOLE).toEqual(expect.arrayContaining([...done]));
  expect(new Set(done).size).toBe(done.length);
  const events = await eventsIn(directory);
  for (const story of storiesOf(events)) expect(story.length).toBeLessThanOrEqual(1);
  for (const tool of ["write", "lease"]) {
    const times = done.filter((line) => line.startsWith(tool)).length;
    expect(times).toBeLessThanOrEqual(allowedBy(events, tool));
    expect(times).toBeLessThanOrEqual(
      events.filter((event) => event.tool === tool && event.eventType === "tool_call_forwarded")
        .length,
    );
  }
  expect(await verifyAuditLog(join(directory, "audit.jsonl"))).toMatchObject({ ok: true });
}

it("does nothing unapproved and nothing twice, wherever it is killed, and nothing by itself after a restart", {
  timeout: 600_000,
}, async () => {
  await using whole = await scratch();
  const { calls } = await run(whole.path, "0");
  expect(await doneIn(whole.path)).toEqual(WHOLE);
  await check(whole.path);
  const first = 1 + Math.floor(Math.random() * STRIDE);
  const points = Array.from(
    { length: Math.ceil((calls - first + 1) / STRIDE) },
    (_, at) => first + at * STRIDE,
  ).flatMap((number) => ["before", "after"].map((moment) => [String(number), moment] as const));
  let killed = 0;
  const ends = new Set<string>();
  const die = async (number: string, moment: string): Promise<void> => {
    await using at = await scratch();
    const { signal } = await run(at.path, number, moment, "ask");
    if (signal !== null) killed++;
    await check(at.path);
    const before = await doneIn(at.path);
    await run(at.path, "0", "before", "resume");
    expect(await doneIn(at.path)).toEqual(before);
    await check(at.path);
    // The restarted gate is cut off too, maybe before the log has what became of the last yes: the
    // next start says it.
    const isTold = storiesOf(await eventsIn(at.path)).every(({ length }) => length === 1);
    if (!isTold) await run(at.path, "0", "before", "resume");
    const stories = storiesOf(await eventsIn(at.path));
    for (const story of stories) expect(story).toEqual([expect.any(String)]);
    for (const [end] of stories) if (end !== undefined) ends.add(end);
  };
  // Most of the time questions run out: several worlds at once.
  while (points.length > 0)
    await Promise.all(
      points.splice(0, AT_ONCE).map(async ([number, moment]) => die(number, moment)),
    );
  process.stdout.write(
    `killed ${killed} times, at every ${STRIDE}th of ${calls} calls from number ${first}\n`,
  );
  expect(killed).toBeGreaterThan(calls / STRIDE - 1);
  // Each lasts for more than four calls: who looks at every fourth meets all of them.
  if (STRIDE <= 4) expect(ends).toEqual(ENDS_OF_YES);
});
