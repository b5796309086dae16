/**
 * `acp exec hook --wait`: what needs a person is asked by ACP, and the agent's command waits for
 * the answer; silence, nobody there, and whatever goes wrong are a no that comes before the agent
 * gives its hook up.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { describe, expect, it } from "vitest";
import { acp } from "./harness.js";
import { EVENTS, decisionOf, hookWorld } from "./hook-world.js";
import type { Agent, HookWorld } from "./hook-world.js";
import { answering } from "./mcp-client.js";

const WAIT = ["--wait", "100"] as const;
const YES = { decision: "approved" } as const;
const NO = { decision: "denied", reason: "not on a Friday" } as const;
const ALONE = { ACP_ALONE: "1" } as const;

describe.each([
  ["alone", ALONE],
  ["with a resident", {}],
] as const)("acp exec hook --wait, %s", (_name, env) => {
  const world = async (): Promise<HookWorld> => {
    const at = await hookWorld();
    if (env === ALONE) return at;
    const resident = await at.resident();
    return {
      ...at,
      async [Symbol.asyncDispose]() {
        await resident[Symbol.asyncDispose]();
        await at[Symbol.asyncDispose]();
      },
    };
  };

  it.each([
    ["claude-code", "allow"],
    ["codex", "none"],
    ["gemini-cli", "allow"],
    ["cursor", "allow"],
  ] as const)(
    "lets %s go on once a person said yes, and not after a no; the log has both",
    async (agent, goOn) => {
      await using at = await world();
      const ask = () => at.hook(agent, EVENTS[agent]("npm publish"), WAIT, env);
      const yes = await answering(at.home, YES, ask);
      expect([yes.code, decisionOf(yes), yes.stderr.includes("Cannot")]).toEqual([0, goOn, false]);
      const no = await answering(at.home, NO, ask);
      expect([no.code, decisionOf(no), no.stdout.includes("not on a Friday")]).toEqual([
        0,
        "deny",
        true,
      ]);
      const kinds = (await at.log()).map(({ event_type }) => event_type);
      expect(
        kinds.filter((kind) => kind === "consent_approved" || kind === "consent_denied"),
      ).toEqual(["consent_approved", "consent_denied"]);
      // The first one alone was handed on.
      expect(kinds.filter((kind) => kind === "tool_call_forwarded")).toHaveLength(1);
      expect((await acp(["audit", "verify", "--home", at.home])).code).toBe(0);
    },
  );

  it("asks nobody about what is safe, and about nothing that the profile denies", async () => {
    await using at = await world();
    const profile = join(at.path, "config.json");
    await writeFile(profile, '{"execApproval":{"ask":"off"}}');
    expect(
      decisionOf(await at.hook("gemini-cli", EVENTS["gemini-cli"]("git status"), WAIT, env)),
    ).toBe("allow");
    expect(
      decisionOf(
        await at.hook(
          "gemini-cli",
          EVENTS["gemini-cli"]("npm publish"),
          [...WAIT, "--profile", profile],
          env,
        ),
      ),
    ).toBe("deny");
    expect((await at.log()).filter(({ event_type }) => event_type === "consent_requested")).toEqual(
      [],
    );
  });

  it("denies where nobody is there to be asked, and says what to start", async () => {
    await using at = await world();
    const ended = await at.hook("codex", EVENTS.codex("npm publish"), WAIT, env);
    expect([ended.code, decisionOf(ended), ended.stdout]).toEqual([
      0,
      "deny",
      expect.stringContaining("acp approve"),
    ]);
  });

  it("denies while questions are paused", async () => {
    await using at = await world();
    await acp(["pause", "--home", at.home]);
    const ended = await answering(at.home, YES, () =>
      at.hook("codex", EVENTS.codex("npm publish"), WAIT, env),
    );
    expect(decisionOf(ended)).toBe("deny");
  });

  it("gives the agent what a person wrote instead, where the agent takes it", async () => {
    await using at = await world();
    const edit = {
      decision: "approved_with_modifications",
      modifications: { command: "npm pack", cwd: "/work/project" },
    } as const;
    const ask = (agent: Agent) =>
      answering(at.home, edit, () => at.hook(agent, EVENTS[agent]("npm publish"), WAIT, env));
    const inputOf = async (agent: Agent, find: (said: JsonObject) => unknown) =>
      find(JSON.parse((await ask(agent)).stdout));
    expect(await inputOf("claude-code", (said) => said["hookSpecificOutput"])).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { command: "npm pack", description: "why" },
    });
    expect(await inputOf("codex", (said) => said["hookSpecificOutput"])).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { command: "npm pack" },
    });
    expect(await inputOf("gemini-cli", (said) => said["hookSpecificOutput"])).toMatchObject({
      tool_input: { command: "npm pack" },
    });
    expect(await inputOf("cursor", (said) => said)).toMatchObject({
      permission: "deny",
      agent_message: expect.stringContaining("npm pack"),
    });
  });
});

describe("acp exec hook --wait with a resident", () => {
  it("denies before the agent gives up, keeps the question, and its answer for the same command", async () => {
    await using at = await hookWorld();
    await using _resident = await at.resident();
    const stop = new AbortController();
    await using clients = await attachApprovers({
      directory: join(at.home, "run"),
      signal: stop.signal,
    });
    const late = await at.hook("codex", EVENTS.codex("npm publish"), ["--wait", "1"]);
    expect([decisionOf(late), late.stdout]).toEqual([
      "deny",
      expect.stringContaining("run the same command again"),
    ]);
    const [question] = clients.pending();
    if (question === undefined) throw new Error("the question is not open any more");
    await clients.answer(
      makeResponse(question.request, { ...YES, nowMs: Date.now(), channel: "terminal" }),
    );
    expect(decisionOf(await at.hook("codex", EVENTS.codex("npm publish"), WAIT))).toBe("none");
    // It was a yes to one command, once.
    const other = await at.hook("codex", EVENTS.codex("npm publish"), ["--wait", "1"]);
    expect(decisionOf(other)).toBe("deny");
    stop.abort();
  });

  it("tells the person what became of the command, where the agent says so", async () => {
    await using at = await hookWorld();
    await using _resident = await at.resident();
    await answering(at.home, YES, () =>
      at.hook("claude-code", EVENTS["claude-code"]("npm publish"), WAIT),
    );
    await at.hook("claude-code", {
      ...EVENTS["claude-code"]("npm publish"),
      hook_event_name: "PostToolUse",
      tool_response: {},
    });
    const ended = (await at.log()).filter(({ event_type }) => event_type === "tool_call_completed");
    expect(ended).toMatchObject([{ metadata: { outcome: "performed", reported: true } }]);
  });

  it("denies what needs a person while the keys are locked, and goes on answering what does not", async () => {
    await using at = await hookWorld();
    const passphrase = join(at.path, "passphrase");
    await writeFile(passphrase, "correct horse", { mode: 0o600 });
    const made = await acp(["init", "--home", at.home], {
      env: { ACP_PASSPHRASE_FILE: passphrase },
    });
    expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);
    await using _resident = await at.resident();
    expect(decisionOf(await at.hook("gemini-cli", EVENTS["gemini-cli"]("git status"), WAIT))).toBe(
      "allow",
    );
    const asked = await at.hook("gemini-cli", EVENTS["gemini-cli"]("npm publish"), WAIT);
    expect([decisionOf(asked), asked.stdout]).toEqual([
      "deny",
      expect.stringContaining("key_locked"),
    ]);
  });

  it.each(["0", "soon", "-1", "1.5", "9999"])("blocks with --wait=%s", async (value) => {
    await using at = await hookWorld();
    const { code } = await at.hook("codex", EVENTS.codex("git status"), [`--wait=${value}`], ALONE);
    expect(code).toBe(2);
  });
});
