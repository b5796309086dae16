/**
 * Trials of a hub in the real sandbox: what runs unasked, what is asked about all the same, and how
 * writes are kept.
 */
import type { Readable } from "node:stream";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CommandTrials, Layer, Ruling } from "@acp/core";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { parsePolicy } from "@acp/core/policy";
import { createVault, Secret } from "@acp/core/vault";
import { createTrials } from "@acp/sandbox-linux";
import { hostNeed } from "@acp/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { RunOptions } from "../src/run-approved.js";
import type { TrialResult, Tried } from "../src/trial/trial-result.js";
import { keptMessage, trialMessage } from "../src/trial/text.js";
import { AGENT, type Desk, type DeskOptions, openDesk, REVIEWED } from "./desk.js";

vi.setConfig({ testTimeout: 240_000 });

const AGENT_UID = 61_009;
const isRoot = process.getuid?.() === 0;

const namespaces = hostNeed("bubblewrap and user namespaces", () => {
  const drop = isRoot
    ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bwrap"]
    : ["bwrap"];
  const [program = "", ...rest] = drop;
  execFileSync(
    program,
    [...rest, "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"],
    { stdio: "pipe" },
  );
  return undefined;
});

interface Scene extends Desk {
  readonly home: string;
  readonly write: (name: string, text: string) => void;
  /** Runs a trial; its output is beside its result. */
  readonly attempt: (
    command: string,
    options?: RunOptions,
    agentId?: string,
  ) => Promise<{ readonly result: TrialResult; readonly text: string }>;
  readonly notices: (name: string) => readonly unknown[];
}

async function openScene(
  options: DeskOptions & {
    readonly wrap?: (trials: CommandTrials<Readable>) => CommandTrials<Readable>;
  } = {},
): Promise<Scene> {
  const { wrap = (trials) => trials, written = { trials: true }, ...rest } = options;
  const top = await realpath(await mkdtemp(join(tmpdir(), "acp-trial-")));
  onTestFinished(() => rm(top, { recursive: true, force: true }));
  chmodSync(top, 0o755);
  const [project, home] = [join(top, "work"), join(top, "home")];
  mkdirSync(project);
  mkdirSync(home, { mode: 0o700 });
  const own = (path: string): void => {
    if (isRoot) chownSync(path, AGENT_UID, AGENT_UID);
  };
  own(project);
  const write = (name: string, text: string): void => {
    const path = join(project, name);
    mkdirSync(dirname(path), { recursive: true });
    own(dirname(path));
    writeFileSync(path, text);
    own(path);
  };
  write("a.txt", "one\n");
  write(".env", "TOKEN=s3cr3t\n");
  const trials = createTrials({
    directory: join(home, "trials"),
    hidden: [home],
    ...(isRoot && { user: AGENT_UID }),
  });
  onTestFinished(() => trials[Symbol.asyncDispose]());
  const desk = await openDesk({ projectRoot: project, trials: wrap(trials), written, ...rest });
  return {
    ...desk,
    home,
    write,
    attempt: async (command, runOptions, agentId = AGENT.agentId) => {
      const chunks: Uint8Array[] = [];
      const result = await desk.hub.runTrial(
        command,
        { agentId },
        { onOutput: ({ chunk }) => void chunks.push(chunk), ...runOptions },
      );
      return { result, text: Buffer.concat(chunks).toString("utf8") };
    },
    notices: (name) =>
      desk.audit
        .events()
        .flatMap(({ metadata }) => (metadata["notice"] === name ? [metadata] : [])),
  };
}

function tried(result: TrialResult): Tried {
  if (!result.tried) throw new Error(result.reason);
  return result;
}

const NEVER: TrialResult = { tried: false, reason: "it never began" };
const reasonOf = (result: TrialResult): string => (result.tried ? "tried" : result.reason);

/**
 * A write, with what it wrote beforehand, as an unknown program would: nobody proved it harmless.
 */
const WRITES = "echo more >> a.txt; echo n > new.txt; cat a.txt";

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
