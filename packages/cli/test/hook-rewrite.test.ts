/**
 * `acp exec hook` and a command that is asked about only for what its folder may hold: where the
 * engine has a wording that passes by itself, the agent runs that one, nobody is asked, and
 * everybody sees which.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acp } from "./harness.js";
import { EVENTS, decisionOf, hookWorld } from "./hook-world.js";
import type { HookWorld } from "./hook-world.js";

/**
 * Asked about as it stands: a bare repository in the folder would run what its configuration names.
 */
const COMMAND = "git -C lib status";
/** With `--wait`, so that a question would show: nobody is there who could answer one. */
const WAIT = ["--wait", "100"] as const;
const ALONE = { ACP_ALONE: "1" } as const;

/** What the engine offers in the place of {@link COMMAND}. */
async function offered(): Promise<string> {
  const { stdout } = await acp(["exec", "check", COMMAND, "--cwd", "/work/project", "--json"]);
  const { rewrite } = JSON.parse(stdout);
  return String(rewrite.command);
}

const kinds = async ({ log }: HookWorld): Promise<readonly string[]> =>
  (await log()).map(({ event_type }) => event_type);

describe.each([
  ["alone", ALONE, false],
  ["with a resident", {}, true],
] as const)("acp exec hook with a rewrite, %s", (_name, env, isResident) => {
  it("has each agent that takes another command run the engine's wording, says so, and asks nobody", async () => {
    await using at = await hookWorld();
    await using _resident = isResident ? await at.resident() : undefined;
    const command = await offered();
    expect(command).toContain("safe.bareRepository=explicit");
    const said = async (agent: "claude-code" | "codex" | "gemini-cli") =>
      JSON.parse((await at.hook(agent, EVENTS[agent](COMMAND), WAIT, env)).stdout);
    const claude = await said("claude-code");
    expect(claude).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: "allow",
        updatedInput: { command, description: "why" },
      },
      systemMessage: expect.stringContaining(command),
    });
    expect(await said("codex")).toMatchObject({
      hookSpecificOutput: { permissionDecision: "allow", updatedInput: { command } },
    });
    expect(await said("gemini-cli")).toMatchObject({
      decision: "allow",
      systemMessage: expect.stringContaining(command),
      hookSpecificOutput: { tool_input: { command } },
    });
    expect(await kinds(at)).not.toContain("consent_requested");
    const logged = (await at.log()).filter(({ metadata }) => metadata["rewrite"] !== undefined);
    expect(logged.map(({ metadata }) => metadata["rewrite"])).toEqual(
      Array.from({ length: 3 }, () => ({ command, reason: expect.any(String) })),
    );
  });

  it("only names the wording to an agent that takes none", async () => {
    await using at = await hookWorld();
    await using _resident = isResident ? await at.resident() : undefined;
    const ended = await at.hook("cursor", EVENTS.cursor(COMMAND), [], env);
    expect([decisionOf(ended), ended.stdout]).toEqual([
      "ask",
      expect.stringContaining(`this would pass: ${await offered()}`),
    ]);
  });

  it("runs nothing in the place of a command while questions are paused", async () => {
    await using at = await hookWorld();
    await using _resident = isResident ? await at.resident() : undefined;
    await acp(["pause", "--home", at.home]);
    const ended = await at.hook("claude-code", EVENTS["claude-code"](COMMAND), WAIT, env);
    expect([decisionOf(ended), ended.stdout.includes("updatedInput")]).toEqual(["deny", false]);
  });

  it("offers nothing that the profile would not let pass by itself", async () => {
    await using at = await hookWorld();
    await using _resident = isResident ? await at.resident() : undefined;
    const profile = join(at.path, "config.json");
    await writeFile(profile, '{"execApproval":{"ask":"always"}}');
    const ended = await at.hook(
      "claude-code",
      EVENTS["claude-code"](COMMAND),
      ["--profile", profile],
      env,
    );
    expect([decisionOf(ended), ended.stdout.includes("updatedInput")]).toEqual(["ask", false]);
  });
});
