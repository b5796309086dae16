/** Trials of a hub in the real sandbox: what runs unasked, and what is asked about all the same. */
import type { Readable } from "node:stream";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandTrials, Layer, Ruling } from "@acp/core";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { parsePolicy } from "@acp/core/policy";
import { createVault, Secret } from "@acp/core/vault";
import { createTrials } from "@acp/sandbox-linux";
import { describe, expect, it, vi } from "vitest";
import type { RunOptions } from "../src/run-approved.js";
import type { TrialResult } from "../src/trial/trial-result.js";
import { trialMessage } from "../src/trial/text.js";
import { AGENT, type DeskOptions, openDesk, REVIEWED } from "./desk.js";
import { AGENT_UID, isRoot, namespaces, openScene, tried, WRITES } from "./support/trial-scene.js";

const NEVER: TrialResult = { tried: false, reason: "it never began" };
const reasonOf = (result: TrialResult): string => (result.tried ? "tried" : result.reason);

describe.skipIf(!namespaces.run)(`trials of a hub ${namespaces.reason}`, () => {
  it("run unasked what a person would be asked about; it is not kept, and the log and the agent are told so", async () => {
    const scene = await openScene();
    const { result, text } = await scene.attempt(`${WRITES}; exit 7`);
    const { digest, ...rest } = tried(result);
    expect(rest).toMatchObject({
      kept: false,
      outcome: { end: "exited", exitCode: 7 },
      changes: ['~ "a.txt" (9 bytes)', '+ "new.txt" (2 bytes)'],
      changeCount: 2,
      neverKept: 0,
      covered: [".env"],
      recorded: true,
    });
    expect(text).toBe("one\nmore\n");
    expect([
      readFileSync(join(scene.project, "a.txt"), "utf8"),
      existsSync(join(scene.project, "new.txt")),
    ]).toEqual(["one\n", false]);
    expect(scene.sent).toEqual([]);
    expect(scene.types()).toEqual([
      "tool_call_intercepted",
      "policy_evaluated",
      "tool_call_forwarded",
      "gate_notice",
      "tool_call_completed",
    ]);
    expect(scene.audit.events().map(({ metadata }) => metadata["isolation"])).toEqual(
      Array.from({ length: 5 }, () => "full:namespace"),
    );
    expect(scene.audit.events()[1]).toMatchObject({ decision: "allow", policyRule: "exec.trial" });
    expect(scene.notices("exec_trial")).toMatchObject([
      { digest, changes: 2, covered: 1, text: expect.stringContaining("unasked") },
    ]);
    expect(trialMessage(result)).toMatch(
      /Not kept: nothing that it wrote is in the workspace[^]*a\.txt[^]*ask with the digest [0-9a-f]{64};/u,
    );
  });

  it("show no secret, home or variable, and reach no network", async () => {
    const scene = await openScene({ variables: { PATH: "/usr/bin:/bin", SECRET_TOKEN: "s3cr3t" } });
    writeFileSync(join(scene.home, "key"), "s3cr3t");
    scene.write(
      "probe.sh",
      `cat .env ${scene.home}/key; env; ls -A ~; for to in 192.0.2.1/80 127.0.0.1/18443; do (exec 3<>/dev/tcp/$to) && echo reached; done; true`,
    );
    const { text } = await scene.attempt("bash probe.sh");
    expect(text).not.toMatch(/s3cr3t|reached/u);
    expect(text).toContain("HOME=/home/agent");
  });

  it("do not show what rules deny, nor what a layer lets no tool read", async () => {
    const layer: Layer = {
      name: "own",
      judge: (action) =>
        JSON.stringify(action).includes("layered")
          ? { effect: "deny", ruleId: "own", reason: "nobody reads it" }
          : undefined,
    };
    const scene = await openScene();
    const { project } = scene;
    const denying = parsePolicy({
      version: "1",
      rules: [
        {
          match: { tool: "open_anything", args: { where: { path: `${project}/private/**` } } },
          action: "deny",
        },
      ],
    });
    for (const name of ["private/a", "layered.txt"]) scene.write(name, "denied\n");
    const read = "cat private/a *.txt; touch x";
    expect((await scene.attempt(read)).text).toBe("denied\none\ndenied\n");
    const trials = createTrials({
      directory: join(scene.home, "trials"),
      ...(isRoot && { user: AGENT_UID }),
    });
    const guarded = await openDesk({
      projectRoot: project,
      trials,
      written: { trials: true },
      policy: denying,
      layers: [layer],
    });
    let text = "";
    const result = await guarded.hub.runTrial(read, AGENT, {
      onOutput: ({ chunk }) => void (text += Buffer.from(chunk).toString()),
    });
    await trials[Symbol.asyncDispose]();
    expect(tried(result).covered).toEqual([".env", "layered.txt", "private"]);
    expect(text).not.toContain("denied");
  });

  it.each([
    ["dangerous", "rm -rf /tmp/test-data", {}, "it is dangerous"],
    ["allowed", "ls", {}, "nobody would be asked about it"],
    [
      "denied by the configuration",
      REVIEWED,
      { written: { trials: true, security: "deny" } },
      "it is denied",
    ],
    [
      "without a configuration that has them",
      REVIEWED,
      { written: {} },
      'the configuration has no "trials": true',
    ],
    ["wanted by a rule", REVIEWED, { policy: asking({}) }, "a rule wants a person's consent"],
    [
      "wanted by a rule with a passkey",
      REVIEWED,
      { policy: asking({ approval: "passkey" }) },
      "a rule wants a person's consent",
    ],
    ["of a critical level", REVIEWED, { policy: allowing("critical") }, "its level is critical"],
    ["paused", REVIEWED, { paused: () => "lunch" }, "questions are paused: lunch"],
    ["of a paused agent", REVIEWED, { pausedAgent: () => "lunch" }, "lunch"],
  ] as const)(
    "are none of a command that is %s",
    async (_what, command, options: DeskOptions, why) => {
      const scene = await openScene(options);
      expect(reasonOf((await scene.attempt(command)).result)).toContain(why);
      expect(
        existsSync(join(scene.home, "trials")) ? readdirSync(join(scene.home, "trials")) : [],
      ).toEqual([]);
      expect(scene.sent).toEqual([]);
    },
  );

  it("are none without the option, and where the sandbox cannot start the command is asked about as ever", async () => {
    const plain = await openDesk({ written: { trials: true } });
    expect(await plain.hub.runTrial(REVIEWED, AGENT)).toEqual({
      tried: false,
      reason: "this hub has no trials",
    });
    const scene = await openScene({
      wrap: (trials) => ({
        ...trials,
        hold: () => Promise.reject(new Error("no namespaces here")),
      }),
    });
    expect(reasonOf((await scene.attempt(REVIEWED)).result)).toBe("no namespaces here");
    const verdict = scene.hub.onApprovalNeeded(REVIEWED, AGENT);
    await scene.answer("allow-once");
    expect((await verdict).decision).toBe("allow");
  });

  it("are none where the log cannot announce them", async () => {
    const scene = await openScene();
    scene.audit.append = () => Promise.reject(new Error("disk full"));
    const { result, text } = await scene.attempt("echo ran; touch x");
    expect([result.tried, text]).toEqual([false, ""]);
    expect(readdirSync(join(scene.home, "trials"))).toEqual([]);
  });

  it("cannot be kept where the log does not have what they wrote", async () => {
    const scene = await openScene();
    const { append } = scene.audit;
    scene.audit.append = (events) =>
      events.some(({ metadata }) => metadata["notice"] === "exec_trial")
        ? Promise.reject(new Error("disk full"))
        : append(events);
    const result = tried((await scene.attempt(WRITES)).result);
    expect([result.recorded, result.digest, result.changeCount]).toEqual([false, undefined, 2]);
    expect(trialMessage(result)).toContain("nothing to keep");
  });

  it("are none where an assessor, or a configuration that changed meanwhile, wants a person", async () => {
    const ruling: Ruling = { effect: "ask", ruleId: "assessed", reason: "who knows" };
    const assessed = await openScene({
      assessors: [{ name: "careful", assess: () => Promise.resolve(ruling) }],
    });
    expect((await assessed.attempt("echo ran; touch x")).text).toBe("");
    let isOn = true;
    const config = {
      profileId: "p",
      read: () => parseExecApprovalConfig({ trials: isOn }),
      allow: () => Promise.resolve(),
    };
    const wrap = (trials: CommandTrials<Readable>): CommandTrials<Readable> => ({
      ...trials,
      hold: (order) => trials.hold(order).finally(() => (isOn = false)),
    });
    const changed = await openScene({ config, wrap });
    const { result, text } = await changed.attempt("echo ran; touch x");
    expect([reasonOf(result), text]).toEqual([expect.stringContaining('no "trials": true'), ""]);
    expect(readdirSync(join(changed.home, "trials"))).toEqual([]);
  });

  it("mask what they write as every command's output is, and are given no secret", async () => {
    const secrets = Object.freeze([
      new Secret({ name: "TOKEN", value: "s3cr3t-value-123", servers: ["*"], hosts: ["*"] }),
    ]);
    const scene = await openScene({ vault: createVault(() => secrets) });
    scene.write("notes.txt", "s3cr3t-value-123\n");
    expect((await scene.attempt("cat notes.txt; touch x")).text).toBe("[secret TOKEN]\n");
    const { result, text } = await scene.attempt("echo '{{secret:TOKEN}}' > out; cat out");
    expect([result.tried, text]).toEqual([false, ""]);
  });

  it("count together with other commands where a rule has a rate", async () => {
    const rate = { match: { kind: "shell" }, action: "allow", rate_limit: "2/minute" };
    const scene = await openScene({ policy: parsePolicy({ version: "1", rules: [rate] }) });
    expect((await scene.attempt("touch x")).result.tried).toBe(true);
    expect((await scene.hub.onApprovalNeeded("ls", AGENT)).decision).toBe("allow");
    expect((await scene.hub.onApprovalNeeded("ls", AGENT)).decision).toBe("deny");
    expect((await scene.attempt("touch x")).result.tried).toBe(false);
  });

  it("leave others their places: an agent that floods is asked about", async () => {
    const scene = await openScene();
    const stop = new AbortController();
    const flood = Array.from({ length: 6 }, () =>
      scene.attempt("sleep 600; touch x", { signal: stop.signal }, "flooder"),
    );
    const refused: string[] = [];
    for (const each of flood) void each.then(({ result }) => refused.push(reasonOf(result)));
    await vi.waitFor(() => expect(refused).toHaveLength(4), { timeout: 60_000 });
    expect(new Set(refused)).toEqual(new Set(["too many trials are running"]));
    expect((await scene.attempt("touch x", {}, "other")).result.tried).toBe(true);
    stop.abort(new Error("enough"));
    await Promise.all(flood);
    expect((await scene.attempt("touch x", {}, "flooder")).result.tried).toBe(true);
  });

  it("end with their agent, their caller, their time and their output", async () => {
    const scene = await openScene();
    const begun = async (
      options: RunOptions,
    ): Promise<Promise<{ readonly result: TrialResult }>[]> => {
      let running: Promise<{ readonly result: TrialResult }> | undefined;
      await new Promise<void>((resolve) => {
        running = scene.attempt("echo on; sleep 600; touch x", {
          ...options,
          onOutput: () => resolve(),
        });
      });
      return running === undefined ? [] : [running];
    };
    const [running] = await begun({});
    await scene.hub.cancelPending(AGENT.agentId);
    expect(tried((await running)?.result ?? NEVER).outcome.end).toBe("aborted");
    expect(
      tried((await scene.attempt("touch x; yes", { outputBytesMax: 1_000 })).result).outcome,
    ).toMatchObject({
      end: "output_limit",
      outputBytes: 1_000,
    });
    const [timed] = await begun({ timeoutMs: 5_000 });
    await scene.clock.advance(5_001);
    expect(tried((await timed)?.result ?? NEVER).outcome.end).toBe("timed_out");
  });
});

function asking(more: Readonly<Record<string, unknown>>): ReturnType<typeof parsePolicy> {
  return parsePolicy({
    version: "1",
    rules: [{ match: { kind: "shell" }, action: "ask", ...more }],
  });
}

function allowing(level: string): ReturnType<typeof parsePolicy> {
  return parsePolicy({
    version: "1",
    rules: [{ match: { kind: "shell" }, action: "allow", level }],
  });
}
