import { describe, expect, it } from "vitest";
import { httpAction, shellAction, toolAction } from "../action/action.js";
import { actionDigest, sha256Digest } from "../action/digest.js";
import { DENIALS_COUNTED_MAX, DENIALS_WINDOW_MS, DENIALS_WRITTEN_MAX } from "../limits.js";
import { seededIds } from "@acp/testing";
import type { Clock } from "../types/clock.js";
import { systemClock } from "../system.js";
import { type CountedDenial, createDenialCount } from "./count-denials.js";

function world(): {
  readonly take: (more?: Partial<CountedDenial>) => ReturnType<DenialTake>;
  readonly count: ReturnType<typeof createDenialCount>;
  pass: (ms: number) => void;
} {
  let nowMs = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => nowMs };
  const count = createDenialCount({ clock, ids: seededIds(), isolation: "full:namespace" });
  const denial: CountedDenial = {
    agent: { id: "a" },
    action: toolAction("files", "read", { path: "/x" }),
    rule: "r",
    code: "policy_denied",
  };
  return {
    take: (more = {}) => count.take({ ...denial, ...more }),
    count,
    pass: (ms) => void (nowMs += ms),
  };
}
type DenialTake = ReturnType<typeof createDenialCount>["take"];

/** The same, so often. */
function times(count: number, act: () => { readonly isWritten: boolean }): number {
  return Array.from({ length: count }, act).filter(({ isWritten }) => isWritten).length;
}

describe("createDenialCount()", () => {
  it("has the first of a kind written, and no more of them than is said", () => {
    const { take } = world();
    expect(times(DENIALS_WRITTEN_MAX + 500, () => take())).toBe(DENIALS_WRITTEN_MAX);
  });

  it("has the first written of another agent, rule, code and kind of action", () => {
    const { take } = world();
    times(DENIALS_WRITTEN_MAX + 1, () => take());
    expect(take({ agent: { id: "b" } }).isWritten).toBe(true);
    expect(take({ rule: "other" }).isWritten).toBe(true);
    expect(take({ code: "agent_paused" }).isWritten).toBe(true);
    expect(take({ action: httpAction("GET", "http://x.test/") }).isWritten).toBe(true);
    expect(take({ action: shellAction("ls") }).isWritten).toBe(true);
  });

  it("counts those of an agent's agents, whatever they call themselves and whatever they ask for, as its own", () => {
    const { take } = world();
    times(DENIALS_WRITTEN_MAX, () => take());
    const other = toolAction("files", "other", { path: "/y" });
    expect(take({ agent: { id: "new", parents: ["a"] }, action: other }).isWritten).toBe(false);
  });

  it("says how many, when, of what and which", () => {
    const { take, count, pass } = world();
    times(DENIALS_WRITTEN_MAX, () => take());
    const second = httpAction("GET", "http://x.test:81/");
    take();
    pass(5);
    take();
    const digest = [1, 2].reduce(
      (before) => sha256Digest([before, actionDigest(toolAction("files", "read", { path: "/x" }))]),
      "",
    );
    expect(count.rest()).toEqual([
      expect.objectContaining({
        eventType: "gate_notice",
        agent: "a",
        decision: "deny",
        policyRule: "r",
        metadata: {
          isolation: "full:namespace",
          notice: "denials_counted",
          text: "2 more denials of this agent were enforced and not written one by one",
          code: "policy_denied",
          count: 2,
          first_ms: 1_000_000,
          last_ms: 1_000_005,
          names: ["files/read"],
          digest,
        },
      }),
    ]);
    expect(count.rest()).toEqual([]);
    times(DENIALS_WRITTEN_MAX + 1, () => take({ action: second }));
    expect(count.rest()).toEqual([
      expect.objectContaining({ metadata: expect.objectContaining({ names: ["x.test:81"] }) }),
    ]);
  });

  it("writes a number after a thousand, and with the next denial after the window, which is written itself", () => {
    const { take, pass } = world();
    times(DENIALS_WRITTEN_MAX + DENIALS_COUNTED_MAX - 1, () => take());
    expect(take().due).toEqual([
      expect.objectContaining({
        metadata: expect.objectContaining({ count: DENIALS_COUNTED_MAX }),
      }),
    ]);
    take();
    pass(DENIALS_WINDOW_MS);
    const { isWritten, due } = take({ agent: { id: "b" } });
    expect([isWritten, due]).toEqual([
      true,
      [expect.objectContaining({ agent: "a", metadata: expect.objectContaining({ count: 1 }) })],
    ]);
    expect(take().isWritten).toBe(true);
  });

  it("begins anew where the clock goes back", () => {
    const { take, pass } = world();
    times(DENIALS_WRITTEN_MAX + 1, () => take());
    pass(-1);
    expect(take()).toMatchObject({ isWritten: true, due: [{ metadata: { count: 1 } }] });
  });
});
