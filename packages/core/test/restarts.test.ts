/**
 * What people said before a gate died counts for the next one: over one store, with a new process
 * each time.
 */
import { manualClock, seededIds } from "@acp/testing";
import { describe, expect, it } from "vitest";
import {
  type ConsentRequest,
  createConsentGate,
  makeResponse,
  memoryStore,
  type RefusalCode,
  type Store,
  toolAction,
  type Verdict,
} from "../src/index.js";
import { toAll } from "../src/channels.js";
import { parsePolicy } from "../src/policy.js";
import { first, recordingSink } from "./gate-kit.js";
import { type MemoryChannel, memoryChannel } from "./memory-channel.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const agent = { id: "demo", parents: ["cid"] };
const approvers = [
  { id: "ada", channel: "web", subject: "1" },
  { id: "ada", channel: "phone", subject: "+1" },
  { id: "bob", channel: "phone", subject: "+2" },
  { id: "cid", channel: "web", subject: "3" },
  { id: "demo", channel: "web", subject: "4" },
];

interface Process {
  readonly gate: ReturnType<typeof createConsentGate>;
  /** The first question. */
  request(): ConsentRequest;
  now(): number;
  settle(): Promise<void>;
  /** Answers the first question on a channel as somebody, and says what became of it. */
  says(
    on: "web" | "phone",
    subject: string,
    kind?: "approve" | "deny",
  ): Promise<string | undefined>;
}

/** Processes over one store, one after the other. */
function machine(rule: object): { start(): Promise<Process> } {
  const clock = manualClock();
  const store: Store = memoryStore(clock);
  const policy = parsePolicy({
    version: "1",
    rules: [{ match: { tool: "*" }, action: "ask", ...rule }],
  });
  let count = 0;
  return {
    async start() {
      const channels: Readonly<Record<"web" | "phone", MemoryChannel>> = {
        web: memoryChannel("web"),
        phone: memoryChannel("phone"),
      };
      const channel = toAll(channels.web, channels.phone);
      const gate = createConsentGate({
        policy,
        clock,
        store,
        approvers,
        audit: recordingSink(),
        ids: seededIds(++count),
        channel,
      });
      await gate.resume();
      await clock.advance(0);
      return {
        gate,
        request: () => first(channels.web.given).request,
        now: clock.now,
        settle: () => clock.advance(0),
        async says(on, subject, kind = "approve") {
          const id = channels[on].given[0]?.request.id ?? "";
          const receipt = (await channels[on].answer(id, kind, subject)) as
            | { readonly status: string; readonly code?: RefusalCode }
            | undefined;
          await clock.advance(0);
          return receipt?.code ?? receipt?.status;
        },
      };
    },
  };
}

/**
 * A question whose caller was told to call again, so that the next process can give it the
 * decision.
 */
async function asked(
  rule: object,
): Promise<{ readonly before: Process; readonly restart: () => Promise<Process> }> {
  const { start } = machine(rule);
  const before = await start();
  const opened = await before.gate.open(write, { agent });
  if (opened.decision !== "pending") throw new Error(opened.code);
  await opened.defer();
  await before.settle();
  return { before, restart: start };
}
const retry = ({ gate }: Process): Promise<Verdict> => gate(write, { agent });

describe("a quorum over restarts", () => {
  it("counts different people, one of them before and one after; on two channels a person counts once", async () => {
    const { before, restart } = await asked({ quorum: 2 });
    expect(await before.says("web", "1")).toBe("counted");
    const second = await restart();
    expect(await second.says("phone", "+1")).toBe("already_answered");
    const third = await restart();
    expect(await third.says("web", "1")).toBe("already_answered");
    expect(await third.says("phone", "+2")).toBe("final");
    expect(await retry(await restart())).toMatchObject({
      decision: "allow",
      approvers: ["ada", "bob"],
    });
  });

  it("never counts who asks, nor who started them", async () => {
    const { before, restart } = await asked({ quorum: 2 });
    for (const each of [before, await restart()]) {
      expect(await each.says("web", "3")).toBe("approver_not_allowed");
      expect(await each.says("web", "4")).toBe("approver_not_allowed");
    }
  });

  it("ends with one no, also of somebody who said yes before", async () => {
    const { before, restart } = await asked({ quorum: 2 });
    await before.says("web", "1");
    const second = await restart();
    expect(await second.says("phone", "+1", "deny")).toBe("final");
    expect(await second.says("phone", "+2")).toBe("request_ended");
    expect(await retry(await restart())).toMatchObject({
      decision: "deny",
      code: "consent_denied",
    });
  });

  it("is not asked where there are fewer people than it takes", async () => {
    const { start } = machine({ quorum: 3 });
    expect(await retry(await start())).toMatchObject({ code: "no_approver" });
  });
});

describe("a late answer after a restart", () => {
  it.each([
    ["deny", "it was denied"],
    ["approve", "it was approved"],
  ] as const)(
    "to a question that ended with %s is told so, and does nothing",
    async (kind, how) => {
      const { before, restart } = await asked({});
      await before.says("phone", "+2", kind);
      const { gate } = await restart();
      const late = makeResponse(before.request(), {
        decision: kind === "deny" ? "approved" : "denied",
        nowMs: before.now(),
        channel: "web",
      });
      expect(await gate.answer(late, { channel: "web", subject: "1" })).toEqual({
        status: "refused",
        code: "request_ended",
        reason: `the question is over: ${how}`,
      });
      expect(await retry(await restart())).toMatchObject({
        code: kind === "deny" ? "consent_denied" : "consent_approved",
      });
    },
  );
});

describe("a lease after a restart", () => {
  it("has the uses and the time that are left", async () => {
    const { start } = machine({ offers: [{ covers: "call", ttl: 60, uses: 3 }] });
    const one = await start();
    const verdict = retry(one);
    await one.settle();
    const taken = makeResponse(one.request(), {
      decision: "approved",
      nowMs: one.now(),
      channel: "web",
      grantId: "call",
    });
    expect(await one.gate.answer(taken, { channel: "web", subject: "1" })).toMatchObject({
      status: "final",
    });
    expect(await verdict).toMatchObject({ code: "consent_approved" });
    expect(await retry(one)).toMatchObject({ code: "grant_used" });
    expect(await retry(await start())).toMatchObject({ code: "grant_used" });
    expect(await retry(await start())).toMatchObject({ code: "grant_used" });
    expect((await (await start()).gate.open(write, { agent })).decision).toBe("pending");
  });
});
