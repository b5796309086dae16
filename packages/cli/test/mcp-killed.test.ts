/**
 * Gates that are killed while a question is open and a call is under way: the next one that starts
 * says so in their logs, and repeats nothing.
 */
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { isQuestionEnd, readAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { attachApprovers } from "@acp/channel-terminal";
import { acp, scratch, startAcp } from "./harness.js";
import type { Running } from "./harness.js";

const SERVER = fileURLToPath(new URL("fixtures/slow-server.mjs", import.meta.url));
const POLICY = `version: "1"
default_action: deny
rules:
  - id: acts
    match: { tool: act }
    action: allow
  - id: asks
    match: { tool: ask }
    action: ask
`;
const message = (id: number, method: string, params: unknown): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};

async function eventsOf(log: string): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const event of readAuditLog(log)) events.push(event);
  return events;
}

const countOf = async (log: string, type: string): Promise<number> => {
  const events = await eventsOf(log).catch(() => []);
  return events.filter(({ eventType }) => eventType === type).length;
};

/** A gate, and somebody who sees its questions and never answers. */
interface Busy {
  readonly running: Running;
  readonly silent: AsyncDisposable;
}

/**
 * A gate in the middle of its work: `act` is forwarded and has no answer, `ask` is shown and has
 * none either.
 */
async function startBusy(home: string, log: string, calls: string): Promise<Busy> {
  const running = startAcp(["mcp", "--", process.execPath, SERVER, calls], { home });
  onTestFinished(() => running[Symbol.asyncDispose]());
  running.child.stdin?.write(message(1, "initialize", INITIALIZE));
  await running.seen("stdout", '"serverInfo"');
  running.child.stdin?.write(
    `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`,
  );
  const directory = join(home, "run");
  const silent = await attachApprovers({ directory, signal: new AbortController().signal });
  // A gate answers its client before it listens for approvers, and whom nobody can be asked about
  // is denied.
  const sockets = async (): Promise<readonly string[]> =>
    (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(".sock"));
  await expect.poll(sockets).toContain(`${running.child.pid}.sock`);
  await expect.poll(async () => silent.gates() - (await sockets()).length).toBe(0);
  running.child.stdin?.write(message(2, "tools/call", { name: "act", arguments: { n: 1 } }));
  running.child.stdin?.write(message(3, "tools/call", { name: "ask", arguments: { n: 2 } }));
  await expect.poll(() => countOf(log, "consent_delivered")).toBe(1);
  await expect.poll(() => countOf(log, "tool_call_forwarded")).toBe(1);
  await expect.poll(() => readFile(calls, "utf8").catch(() => "")).toBe("act\n");
  return { running, silent };
}

it("what killed gates left open ends at the next start, in every log of the home, once, and nothing is repeated", async () => {
  await using at = await scratch();
  const home = join(at.path, "h");
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  const logs = ["audit.jsonl", "audit.2.jsonl"].map((name) => join(home, name));
  const calls = [join(at.path, "calls-1"), join(at.path, "calls-2")];
  const busy: Busy[] = [];
  for (const [index, log] of logs.entries())
    busy.push(await startBusy(home, log, calls[index] ?? ""));
  for (const { running } of busy) running.child.kill("SIGKILL");
  for (const { running } of busy) expect(await running.ended).toMatchObject({ signal: "SIGKILL" });
  for (const { silent } of busy) await silent[Symbol.asyncDispose]();
  const before = await Promise.all(logs.map(eventsOf));
  // A home that lost its open questions: those that are there are asked again, see
  // mcp-channels.test.ts.
  await rm(join(home, "pending"), { recursive: true });

  const restart = async (): Promise<string> => {
    await using next = startAcp(["mcp", "--", process.execPath, SERVER, join(at.path, "calls-3")], {
      home,
    });
    next.child.stdin?.write(message(1, "initialize", INITIALIZE));
    await next.seen("stdout", '"serverInfo"');
    // Nobody is asked about what the dead gates asked, in this gate or in another.
    expect(JSON.parse((await acp(["pending", "--json"], { home })).stdout)).toEqual({
      gates: 1,
      pending: [],
    });
    next.child.stdin?.end();
    return (await next.ended).stderr;
  };
  const said = await restart();
  for (const log of logs)
    expect(said).toContain(
      `${log}: 2 questions, answers or calls that an earlier gate left open were ended`,
    );
  for (const [index, log] of logs.entries()) {
    const old = before[index] ?? [];
    const numberOf = (type: string): number => old.findIndex(({ eventType }) => eventType === type);
    const asked = old[numberOf("consent_requested")];
    const added = (await eventsOf(log)).slice(old.length, old.length + 3);
    expect(added).toMatchObject([
      {
        eventType: "consent_expired",
        requestId: asked?.requestId,
        tool: "ask",
        decision: "expired",
        metadata: { requested_seq: numberOf("consent_requested") },
      },
      {
        eventType: "outcome_unknown",
        tool: "act",
        metadata: { forwarded_seq: numberOf("tool_call_forwarded") },
      },
      { eventType: "log_opened", metadata: { open_questions: [] } },
    ]);
  }

  const after = await eventsOf(logs[1] ?? "");
  expect(await restart()).not.toContain("left open");
  // A log that nobody writes does not grow by being looked at.
  expect(await eventsOf(logs[1] ?? "")).toEqual(after);
  expect(await Promise.all(calls.map((file) => readFile(file, "utf8")))).toEqual([
    "act\n",
    "act\n",
  ]);
  expect(await readdir(at.path)).not.toContain("calls-3");
  expect(await acp(["audit", "verify"], { home })).toMatchObject({ code: 0 });
});

it("questions that another gate took over end once, in its log, and expire in none", async () => {
  await using at = await scratch();
  const home = join(at.path, "h");
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  const logs = ["audit.jsonl", "audit.2.jsonl"].map((name) => join(home, name));
  const busy: Busy[] = [];
  for (const [index, log] of logs.entries())
    busy.push(await startBusy(home, log, join(at.path, `calls-${index}`)));
  for (const { running } of busy) running.child.kill("SIGKILL");
  for (const { running } of busy) expect(await running.ended).toMatchObject({ signal: "SIGKILL" });
  for (const { silent } of busy) await silent[Symbol.asyncDispose]();

  const start = async (): Promise<Running> => {
    const running = startAcp(["mcp", "--", process.execPath, SERVER, join(at.path, "none")], {
      home,
    });
    onTestFinished(() => running[Symbol.asyncDispose]());
    running.child.stdin?.write(message(1, "initialize", INITIALIZE));
    await running.seen("stdout", '"serverInfo"');
    return running;
  };
  const end = async ({ child, ended }: Running): Promise<void> => {
    child.stdin?.end();
    expect(await ended).toMatchObject({ code: 0 });
  };
  // The first takes both questions over. The second gets the log in which one of them was asked,
  // and must not end it there.
  const first = await start();
  const second = await start();
  const { pending } = JSON.parse((await acp(["pending", "--json"], { home })).stdout);
  expect(pending).toHaveLength(2);
  for (const { id } of pending)
    expect(await acp(["approve", "--once", id, "--deny"], { home })).toMatchObject({ code: 0 });
  await end(first);
  await end(second);
  await end(await start());

  const events = (await Promise.all(logs.map(eventsOf))).flat();
  const idsOf = (isWanted: (eventType: string) => boolean): readonly string[] =>
    events.flatMap(({ requestId, eventType }) => (isWanted(eventType) ? requestId : [])).sort();
  const asked = idsOf((eventType) => eventType === "consent_requested");
  expect(asked).toHaveLength(2);
  expect(idsOf(isQuestionEnd)).toEqual(asked);
  expect(idsOf((eventType) => eventType === "consent_expired")).toEqual([]);
  const elsewhere = events.flatMap(({ metadata }) => metadata["ended_elsewhere"] ?? []);
  expect(elsewhere).toEqual([
    (await eventsOf(logs[1] ?? "")).find(({ eventType }) => eventType === "consent_requested")
      ?.requestId,
  ]);
});

it("what a gate that lives has open is left to it", async () => {
  await using at = await scratch();
  const home = join(at.path, "h");
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  const log = join(home, "audit.jsonl");
  const { running, silent } = await startBusy(home, log, join(at.path, "calls"));
  await using _silent = silent;
  await using other = startAcp(["mcp", "--", process.execPath, SERVER, join(at.path, "other")], {
    home,
  });
  other.child.stdin?.write(message(1, "initialize", INITIALIZE));
  await other.seen("stdout", '"serverInfo"');
  expect(JSON.parse((await acp(["pending", "--json"], { home })).stdout)).toMatchObject({
    gates: 2,
    pending: [{ id: expect.any(String) }],
  });
  for (const type of ["consent_expired", "outcome_unknown"])
    expect(await countOf(log, type)).toBe(0);
  expect(running.child.exitCode).toBe(null);
});

it("a log that is broken is said, and keeps no other gate from starting", async () => {
  await using at = await scratch();
  const home = join(at.path, "h");
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  await writeFile(join(home, "audit.2.jsonl"), '{"not":"an event"}\n', { mode: 0o600 });
  await using gate = startAcp(["mcp", "--", process.execPath, SERVER, join(at.path, "calls")], {
    home,
  });
  gate.child.stdin?.write(message(1, "initialize", INITIALIZE));
  await gate.seen("stdout", '"serverInfo"');
  await gate.seen("stderr", /audit\.2\.jsonl: Cannot [^\n]*/);
  gate.child.stdin?.end();
  expect(await gate.ended).toMatchObject({ code: 0 });
  expect(
    (await eventsOf(join(home, "audit.jsonl"))).map(({ metadata }) => metadata["notice"]),
  ).toContain("log_failed");
});
