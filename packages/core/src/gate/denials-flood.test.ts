import { describe, expect, it } from "vitest";
import { agent, last, makeKit } from "../../test/gate-kit.js";
import { toolAction } from "../index.js";
import { parsePolicy } from "../policy.js";

const policy = parsePolicy({
  version: "1",
  rules: [
    { match: { tool: "read" }, action: "allow" },
    { match: { tool: "*" }, action: "deny" },
  ],
});
const CALLS = 5_000;

describe("a gate whose agent is refused in a loop", () => {
  it("refuses every call and writes a bounded log, with the number of what is not in it", async () => {
    const { gate, sink } = makeKit({ policy });
    const flood = { id: "flood" };
    let denied = 0;
    for (let index = 0; index < CALLS; index += 1) {
      const verdict = await gate(toolAction("files", `write_${index}`, {}), { agent: flood });
      if (verdict.decision === "deny" && verdict.code === "policy_denied") denied += 1;
    }
    expect(denied).toBe(CALLS);
    // Neither what is allowed nor another agent is counted with it.
    expect(await gate(toolAction("files", "read", {}), { agent: flood })).toMatchObject({
      decision: "allow",
    });
    expect(last(sink.events)).toMatchObject({ eventType: "policy_evaluated", decision: "allow" });
    await gate(toolAction("files", "write", {}), { agent });
    expect(last(sink.events)).toMatchObject({ agent: agent.id, decision: "deny" });
    await gate.close();
    const counted = sink.events.flatMap(({ metadata: { notice, count } }) =>
      notice === "denials_counted" ? [Number(count)] : [],
    );
    const written = sink.events.filter(
      (event) =>
        event.eventType === "policy_evaluated" &&
        event.agent === "flood" &&
        event.decision === "deny",
    );
    expect(written.length + counted.reduce((sum, each) => sum + each, 0)).toBe(CALLS);
    expect(sink.events.length).toBeLessThan(250);
  });
});
