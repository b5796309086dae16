/** Trials of a hub in the real sandbox: how their writes are kept. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parsePolicy } from "@acp/core/policy";
import { describe, expect, it } from "vitest";
import { keptMessage } from "../src/trial/text.js";
import { AGENT } from "./desk.js";
import { namespaces, openScene, tried, WRITES } from "./support/trial-scene.js";

describe.skipIf(!namespaces.run)(`writes of a trial ${namespaces.reason}`, () => {
  it("keep just the writes of a digest, after a person's yes to it", async () => {
    const scene = await openScene();
    scene.write(".envrc.d/keep", "");
    const { digest = "" } = tried((await scene.attempt(`${WRITES}; echo evil > .envrc`)).result);
    const asked = scene.hub.keepTrial(digest, AGENT);
    const request = await scene.request();
    expect(request).toMatchObject({ riskLevel: "needs-review", agentId: AGENT.agentId });
    expect(request.command).toContain(`digest ${digest}\n`);
    expect(request.command).toMatch(
      /^keep what a trial wrote\n[^]*~ "a\.txt" \(9 bytes\)\n\+ "new\.txt" \(2 bytes\)$/u,
    );
    expect(request.riskReasons.join()).toContain("1 more are left out");
    expect(existsSync(join(scene.project, "new.txt"))).toBe(false);
    await scene.answer("allow-once");
    const result = await asked;
    expect(result).toMatchObject({
      ran: true,
      value: { taken: ["a.txt", "new.txt"], apart: [".envrc"], conflicts: [], failed: [] },
    });
    expect([
      readFileSync(join(scene.project, "a.txt"), "utf8"),
      existsSync(join(scene.project, ".envrc")),
    ]).toEqual(["one\nmore\n", false]);
    expect(scene.notices("exec_trial_kept")).toMatchObject([{ digest, taken: 2, apart: 1 }]);
    expect(result.ran && keptMessage(result.value)).toContain("Kept: 2 paths");
  });

  it("keep nothing with another digest, for another agent, after a no, after silence, or twice", async () => {
    const written = { trials: true, askFallback: "full", dangerouslyAllowOnTimeout: true };
    const scene = await openScene({
      written,
      policy: parsePolicy({ version: "1", default: "allow" }),
    });
    const { digest = "" } = tried((await scene.attempt(WRITES)).result);
    for (const [other, agentId] of [
      ["0".repeat(64), AGENT.agentId],
      [digest, "other"],
      ["../..", AGENT.agentId],
    ] as const)
      expect(await scene.hub.keepTrial(other, { agentId })).toMatchObject({
        ran: false,
        verdict: { code: "action_invalid" },
      });
    expect(scene.sent).toEqual([]);
    const no = scene.hub.keepTrial(digest, AGENT);
    await scene.answer("deny");
    expect(await no).toMatchObject({ ran: false, verdict: { code: "consent_denied" } });
    const silence = scene.hub.keepTrial(digest, AGENT);
    await scene.request(1);
    await scene.clock.advance(60_001);
    expect(await silence).toMatchObject({ ran: false, verdict: { code: "consent_expired" } });
    expect(existsSync(join(scene.project, "new.txt"))).toBe(false);
    const yes = scene.hub.keepTrial(digest, AGENT);
    await scene.answer("allow-always", 2);
    expect((await yes).ran).toBe(true);
    expect(await scene.hub.keepTrial(digest, AGENT)).toMatchObject({
      ran: false,
      verdict: { code: "action_invalid" },
    });
  });

  it("are asked about before they are kept, whatever a rule allows", async () => {
    const policy = parsePolicy({
      version: "1",
      default: "allow",
      rules: [{ match: { tool: "*" }, action: "allow" }],
    });
    const scene = await openScene({ policy });
    const { digest = "" } = tried((await scene.attempt(WRITES)).result);
    const asked = scene.hub.keepTrial(digest, AGENT);
    await scene.request();
    await scene.answer("deny");
    expect((await asked).ran).toBe(false);
    expect(existsSync(join(scene.project, "new.txt"))).toBe(false);
  });

  it("leave alone what changed between the trial and the yes", async () => {
    const scene = await openScene();
    const { digest = "" } = tried((await scene.attempt(WRITES)).result);
    const asked = scene.hub.keepTrial(digest, AGENT);
    await scene.request();
    scene.write("a.txt", "mine\n");
    await scene.answer("allow-once");
    expect(await asked).toMatchObject({
      ran: true,
      value: { taken: ["new.txt"], conflicts: ["a.txt"] },
    });
    expect(readFileSync(join(scene.project, "a.txt"), "utf8")).toBe("mine\n");
  });
});
