/**
 * ChannelGateCases: a channel under a real gate. The gate's time is in the suite's hands.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type AuditSink, type Layer, type Verdict, createConsentGate, toolAction } from "@acp/core";
import {
  type ChannelCase,
  type Requirement,
  STILLNESS_MS,
  eventually,
  isShown,
} from "./channel-case.js";
import { manualClock } from "./manual-clock.js";

interface GateUnderTest extends AsyncDisposable {
  readonly clock: ReturnType<typeof manualClock>;
  ask(signal?: AbortSignal): Promise<Verdict>;
}

/** How long the gate holds a question whose agent left. */
const RETRY_WINDOW_MS = 30_000;

/** A real gate that asks for everything, for a minute. */
function gateWith({ channel, subject, knownAs }: ChannelCase): GateUnderTest {
  let seq = -1;
  const audit: AuditSink = {
    async append(events) {
      seq += events.length;
      return { seq, hash: `sha256:${"0".repeat(64)}` };
    },
  };
  const clock = manualClock();
  const asks: Layer = {
    name: "asks",
    judge: () => ({
      effect: "ask",
      ruleId: "ask_all",
      reason: "everything is asked",
      ask: { timeoutMs: 60_000 },
    }),
  };
  const approvers = [{ id: "the-person", channel: knownAs, subject }];
  const gate = createConsentGate({
    channel,
    audit,
    clock,
    approvers,
    layers: [asks],
    retryWindowMs: RETRY_WINDOW_MS,
  });
  return {
    clock,
    ask: (signal) =>
      gate(toolAction("files", "write_file", { path: "notes.txt" }), {
        agent: { id: "agent-1" },
        ...(signal === undefined ? {} : { signal }),
      }),
    [Symbol.asyncDispose]: () => gate.close(),
  };
}

async function onlyShown(under: ChannelCase): Promise<string> {
  await eventually(
    under,
    "the gate's question is shown",
    async () => (await under.shown()).length === 1,
  );
  return (await under.shown())[0] ?? "";
}

/** What holds for every channel under a gate. */
export const WITH_GATE: readonly Requirement[] = [
  ...(["approve", "deny"] as const).map((kind) => ({
    name: `a gate's question ends with the ${kind} given here`,
    needs: kind,
    check: async (under: ChannelCase) => {
      await using gate = gateWith(under);
      const verdict = gate.ask();
      await under.answer(await onlyShown(under), kind);
      assert.equal((await verdict).decision, kind === "approve" ? "allow" : "deny");
    },
  })),
  {
    name: "a gate's question that expires is withdrawn and denied",
    check: async (under) => {
      await using gate = gateWith(under);
      const verdict = gate.ask();
      const id = await onlyShown(under);
      await gate.clock.advance(60_000);
      assert.equal((await verdict).code, "consent_expired");
      await isShown(under, id, false);
      await under.answer(id, "approve");
    },
  },
  {
    name: "a gate's question whose agent leaves is denied, stays for its retry, and is withdrawn when none comes",
    check: async (under) => {
      await using gate = gateWith(under);
      const leaving = new AbortController();
      const verdict = gate.ask(leaving.signal);
      const id = await onlyShown(under);
      leaving.abort();
      assert.equal((await verdict).decision, "deny");
      await isShown(under, id, true);
      await gate.clock.advance(RETRY_WINDOW_MS);
      await isShown(under, id, false);
    },
  },
  {
    name: "a gate's question without a transport ends in a deny",
    check: async (under) => {
      await under.breakTransport();
      await using gate = gateWith(under);
      const verdict = gate.ask();
      await sleep(STILLNESS_MS);
      await gate.clock.advance(60_000);
      assert.equal((await verdict).decision, "deny");
    },
  },
];
