/**
 * Many clients of one resident: started together, flooding, and with a resident that is killed in
 * the middle of their calls. The judge is the server's own journal, not our log.
 *
 * ACP_RESIDENT_ROUNDS: how often it is killed (default 20 in the deep lane).
 */
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { verifyAuditLog } from "@acp/audit";
import { attachApprovers } from "@acp/channel-terminal";
import { join } from "node:path";
import { isDeep } from "../../../tools/deep.js";
import { residentWorld, startsOf, textOf } from "./resident-world.js";
import type { RawClient, ResidentWorld } from "./resident-world.js";

/**
 * Starts so many clients at once, each of an agent of its own, which have budgets of their own; each
 * has made its handshake.
 */
const clients = (at: ResidentWorld, count: number): Promise<readonly RawClient[]> =>
  Promise.all(
    Array.from({ length: count }, (_, n) => at.client({ args: ["--agent", `agent-${n}`] })),
  );

async function endAll(all: readonly RawClient[]): Promise<void> {
  await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
}

/** Why a call was denied, as its answer says it. */
const deniedIn = (result: object | undefined): { code?: string; retryable?: boolean } =>
  JSON.parse(JSON.stringify(result))?._meta?.["acp/denied"] ?? {};

/** Numbers that were done more than once. */
const twice = (done: readonly string[]): readonly string[] =>
  done.filter((n, at) => done.indexOf(n) !== at);

describe("a resident with many clients", () => {
  it.each([20, ...(isDeep ? [50] : [])])(
    "is one, with one log, when %d clients start at once",
    async (count) => {
      await using at = await residentWorld();
      const all = await clients(at, count);
      const answers = await Promise.all(all.map((each, n) => each.call("act", { n })));
      const failed = all.flatMap((each, n) =>
        textOf(answers[n] ?? {}) === "" ? each.stderr() : [],
      );
      expect(failed).toEqual([]);
      expect(answers.map(textOf)).toEqual(all.map((_, n) => String(n)));
      expect(await startsOf(at.home)).toBe(1);
      expect(await at.logs()).toEqual(["audit.jsonl"]);
      expect(twice(at.done())).toEqual([]);
      await endAll(all);
      await at.acp(["resident", "stop"]);
      expect(await verifyAuditLog(join(at.home, "audit.jsonl"))).toMatchObject({ ok: true });
    },
  );

  it("answers one while another floods it", async () => {
    await using at = await residentWorld();
    const [quiet, loud] = await clients(at, 2);
    if (quiet === undefined || loud === undefined) throw new Error("no clients");
    const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { text: "x".repeat(60_000) } })}\n`;
    const flood = new AbortController();
    const flooding = (async () => {
      while (!flood.signal.aborted) {
        if (loud.child.stdin?.write(line) === false) await wait(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const times: number[] = [];
    for (let n = 0; n < 50; n++) {
      const startMs = performance.now();
      expect(textOf(await quiet.call("act", { n }))).toBe(String(n));
      times.push(performance.now() - startMs);
    }
    flood.abort();
    await flooding;
    // A bound that also a busy machine keeps; alone the median is a few milliseconds.
    expect(times.toSorted((a, b) => a - b)[25]).toBeLessThan(5_000);
    const status = await readFile(`/proc/${at.pid()}/status`, "utf8");
    expect(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1])).toBeLessThan(400_000);
    await endAll([quiet, loud]);
  });

  it("denies what one client asks beyond its budget, and serves the others meanwhile", async () => {
    await using at = await residentWorld();
    const [loud, quiet] = await clients(at, 2);
    if (quiet === undefined || loud === undefined) throw new Error("no clients");
    // Somebody is there to answer, so that questions stay open.
    const stop = new AbortController();
    await using approver = await attachApprovers({
      directory: join(at.home, "run"),
      signal: stop.signal,
    });
    await vi.waitFor(() => expect(approver.gates()).toBe(1), { timeout: 60_000 });
    const codes = new Map<string, number>();
    const count = isDeep ? 10_000 : 1_000;
    for (let n = 0; n < count; n++)
      void loud.call("ask", { n }).then(
        ({ result }) => {
          const { code = "none", retryable } = deniedIn(result);
          codes.set(code, (codes.get(code) ?? 0) + 1);
          if (code === "client_limit_reached") expect(retryable).toBe(true);
        },
        () => undefined,
      );
    for (let n = 0; n < 20; n++) expect(textOf(await quiet.call("act", { n }))).toBe(String(n));
    await vi.waitFor(() => expect(codes.get("client_limit_reached")).toBe(count - 16), {
      timeout: 120_000,
    });
    expect([...codes.keys()]).toEqual(["client_limit_reached"]);
    expect(approver.pending()).toHaveLength(16);
    const { stdout } = await at.acp(["resident", "status", "--json"]);
    const used = JSON.parse(stdout).clients.map((each: { used: object }) => each.used);
    expect(used).toContainEqual(expect.objectContaining({ questions: 16, calls: 16 }));
    stop.abort();
    await endAll([quiet, loud]);
  });

  it("that is killed at any moment does nothing twice, and each request gets one answer", async () => {
    await using at = await residentWorld();
    const rounds = Number(process.env["ACP_RESIDENT_ROUNDS"] ?? (isDeep ? 20 : 3));
    let n = 0;
    for (let round = 0; round < rounds; round++) {
      const all = await clients(at, 3);
      const calls: Promise<unknown>[] = [];
      for (let call = 0; call < 10; call++)
        for (const each of all)
          calls.push(each.call("act", { n: n++, ms: call % 3 === 0 ? 50 : 0 }));
      // Another moment in each round: before the first is forwarded, and after the last is answered.
      await wait(round * 7);
      process.kill(at.pid(), "SIGKILL");
      await Promise.all(calls);
      for (const each of all) {
        for (const [id, answers] of each.answers) expect([id, answers.length]).toEqual([id, 1]);
        const next = await each.call("act", { n: n++ });
        // Where every call was done before the end, this one may have been sent to the dead one.
        if (next.error?.data?.code !== "outcome_unknown") expect(textOf(next)).toBe(String(n - 1));
        const last = n++;
        expect(textOf(await each.call("act", { n: last }))).toBe(String(last));
      }
      await endAll(all);
    }
    expect(twice(at.done())).toEqual([]);
  });

  it("that is stopped in the middle of calls ends its servers, and each request gets one answer", async () => {
    await using at = await residentWorld();
    const all = await clients(at, 3);
    const calls = all.map((each, n) => each.call("act", { n, ms: 60_000 }));
    await vi.waitFor(() => expect(at.done()).toHaveLength(3), { timeout: 60_000 });
    expect(await at.acp(["resident", "stop"])).toMatchObject({ code: 0 });
    const answers = await Promise.all(calls);
    expect(answers.map(textOf)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^\d$/)]),
    );
    for (const each of all) for (const got of each.answers.values()) expect(got).toHaveLength(1);
    expect(at.done()).toHaveLength(3);
    await endAll(all);
  });
});
