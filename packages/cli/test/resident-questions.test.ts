/** Questions that outlive their resident: whose they stay, and how often their calls are sent. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import type { ApproverClients } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { expect, it, vi } from "vitest";
import { startAcp } from "./harness.js";
import { EVENTS, decisionOf } from "./hook-world.js";
import { residentWorld, startsOf, textOf } from "./resident-world.js";
import type { ResidentWorld } from "./resident-world.js";

const PATIENCE = { timeout: 60_000, interval: 20 };

async function approverOf(at: ResidentWorld): Promise<ApproverClients> {
  const approver = await attachApprovers({
    directory: join(at.home, "run"),
    signal: new AbortController().signal,
  });
  await vi.waitFor(() => expect(approver.gates()).toBeGreaterThan(0), PATIENCE);
  return approver;
}

const idsOf = (approver: ApproverClients): readonly string[] =>
  approver.pending().map(({ request }) => request.id);

/** Says yes to all that is open. */
async function approveAll(approver: ApproverClients): Promise<readonly unknown[]> {
  const claim = { decision: "approved", nowMs: Date.now(), channel: "terminal" } as const;
  return Promise.all(
    approver.pending().map(({ request }) => approver.answer(makeResponse(request, claim))),
  );
}

it("each client has its own question back whichever configuration came first, and nobody is asked twice", async () => {
  await using at = await residentWorld();
  await at.acp(["init"]);
  const config = join(at.path, "other.yml");
  await writeFile(config, 'version: "1"\ndefaults:\n  prompt_limit: none\n', { mode: 0o600 });
  await using own = await at.client();
  await using other = await at.client({ args: ["--config", config] });
  await using approver = await approverOf(at);
  const calls = [own.call("ask", { n: 1 }), other.call("ask", { n: 2 })];
  await vi.waitFor(() => expect(approver.pending()).toHaveLength(2), PATIENCE);
  const asked = [...idsOf(approver)].sort();
  process.kill(at.pid(), "SIGKILL");
  await vi.waitFor(async () => expect(await startsOf(at.home)).toBe(2), PATIENCE);
  // Each client is back, and its call waits again.
  for (const client of [own, other]) expect(textOf(await client.call("act", { n: 3 }))).toBe("3");
  await vi.waitFor(() => expect([...idsOf(approver)].sort()).toEqual(asked), PATIENCE);
  const taken = { status: "final", outcome: "approved" };
  expect(await approveAll(approver)).toEqual([taken, taken]);
  expect((await Promise.all(calls)).map(textOf)).toEqual(["1", "2"]);
  expect(at.done().toSorted()).toEqual(["1", "2", "3", "3"]);
});

it("a hook has its own question back, also where an MCP client of the same agent comes first", async () => {
  await using at = await residentWorld();
  await using client = await at.client({ args: ["--agent", "codex"] });
  await using approver = await approverOf(at);
  await using hook = startAcp(["exec", "hook", "codex", "--home", at.home, "--wait", "600"], {
    cwd: at.path,
    input: JSON.stringify(EVENTS.codex("npm publish")),
    env: { ACP_ALONE: "0", SHELL: "/bin/bash" },
  });
  await vi.waitFor(() => expect(approver.pending()).toHaveLength(1), PATIENCE);
  const asked = idsOf(approver);
  // Before it gets its turn, the client has its session.
  hook.child.kill("SIGSTOP");
  expect((await at.acp(["resident", "restart"])).code).toBe(0);
  expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
  hook.child.kill("SIGCONT");
  await vi.waitFor(() => expect(idsOf(approver)).toEqual(asked), PATIENCE);
  expect(await approveAll(approver)).toEqual([{ status: "final", outcome: "approved" }]);
  const ended = await hook.ended;
  expect([ended.code, decisionOf(ended)]).toEqual([0, "none"]);
  const log = await readFile(join(at.home, "audit.jsonl"), "utf8");
  expect(log.split('"event_type":"consent_requested"')).toHaveLength(2);
});

it("a question that waits over three handovers is answered, and its call runs once", async () => {
  await using at = await residentWorld();
  await using client = await at.client();
  await using approver = await approverOf(at);
  const id = client.nextId();
  const called = client.call("ask", { n: 1 });
  await vi.waitFor(() => expect(approver.pending()).toHaveLength(1), PATIENCE);
  const asked = idsOf(approver);
  for (let handover = 1; handover <= 3; handover++) {
    expect((await at.acp(["resident", "restart"])).code).toBe(0);
    await vi.waitFor(() => expect(idsOf(approver)).toEqual(asked), PATIENCE);
    // The client is back, and its call waits again.
    expect(textOf(await client.call("act", { n: `after ${handover}` }))).toBe(`after ${handover}`);
    expect(idsOf(approver)).toEqual(asked);
  }
  expect(await startsOf(at.home)).toBe(4);
  expect(client.answers.get(id)).toBeUndefined();
  expect(await approveAll(approver)).toEqual([{ status: "final", outcome: "approved" }]);
  expect(textOf(await called)).toBe("1");
  expect(client.answers.get(id)).toHaveLength(1);
  expect(at.done().filter((n) => n === "1")).toHaveLength(1);
});
