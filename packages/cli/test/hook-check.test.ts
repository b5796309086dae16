/**
 * `acp exec hook --check`: says of an installed agent whether its hook stops a command. A small
 * double of each agent, and the real ones where they are.
 */
import { chmod, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { CHECKED_AGENTS } from "../src/hook-check/agents.js";
import { findProgram } from "../src/hook-check/drive.js";
import { acp, scratch } from "./harness.js";
import type { Scratch } from "./harness.js";

const DOUBLE = fileURLToPath(new URL("fixtures/agent-double.mjs", import.meta.url));
const SYSTEM = [dirname(process.execPath), "/usr/bin", "/bin"];
const NAMES = { "claude-code": "claude", codex: "codex", "gemini-cli": "gemini" } as const;

/** A folder for the PATH with an agent in it that has these manners. */
async function withDouble(
  agent: keyof typeof NAMES,
  manner: string,
): Promise<Scratch & { readonly env: { readonly PATH: string } }> {
  const at = await scratch();
  const folder = join(at.path, "bin");
  await mkdir(folder);
  const path = join(folder, NAMES[agent]);
  await writeFile(
    path,
    `#!/bin/sh\nexec '${process.execPath}' '${DOUBLE}' ${NAMES[agent]} ${manner}\n`,
  );
  await chmod(path, 0o755);
  return { ...at, env: { PATH: [folder, ...SYSTEM].join(delimiter) } };
}

const check = async (agent: string, env: Readonly<Record<string, string>>) => {
  const { code, stdout } = await acp(["exec", "hook", "--check", agent, "--json"], { env });
  const [first] = JSON.parse(stdout).agents;
  return { code, ...first };
};

describe.each(someInLane(["claude-code", "codex", "gemini-cli"] as const))(
  "acp exec hook --check %s",
  (agent) => {
    it.each([
      ["heeds", "stopped", 0],
      ["heeds-nothing", "not_stopped", 1],
      ["calls-no-hook", "hook_not_called", 1],
      ["asks-no-model", "not_driven", 5],
      ["runs-nothing", "not_driven", 5],
    ])("says of an agent that %s: %s", async (manner, verdict, code) => {
      await using at = await withDouble(agent, manner);
      expect(await check(agent, at.env)).toMatchObject({ agent, verdict, code });
    });

    const installed = CHECKED_AGENTS.find((each) => each.agent === agent);
    const isThere =
      installed !== undefined &&
      !("reason" in findProgram(installed.program, { env: process.env }));
    const name = `says that the real one is stopped${isThere ? "" : `, skipped: ${NAMES[agent]} is not installed here`}`;
    it.skipIf(!isThere)(name, async () => {
      expect(await check(agent, { PATH: process.env["PATH"] ?? "" })).toMatchObject({
        agent,
        verdict: "stopped",
        code: 0,
      });
    });
  },
);

describe("acp exec hook --check", () => {
  it("says what is not installed, and what cannot be driven", async () => {
    expect(await check("codex", { PATH: "/nowhere" })).toMatchObject({
      verdict: "not_installed",
      code: 5,
    });
    await using at = await scratch();
    await writeFile(join(at.path, "cursor-agent"), "#!/bin/sh\n");
    await chmod(join(at.path, "cursor-agent"), 0o755);
    expect(await check("cursor", { PATH: at.path })).toMatchObject({
      verdict: "not_driven",
      code: 5,
    });
    const { stdout } = await acp(["exec", "hook", "--check"], { env: { PATH: "/nowhere" } });
    expect(stdout.match(/is not installed/g)).toHaveLength(CHECKED_AGENTS.length);
  });

  it("leaves nothing behind, and the person's own homes as they are", async () => {
    await using at = await withDouble("codex", "heeds");
    const TMPDIR = join(at.path, "tmp");
    await mkdir(TMPDIR);
    await check("codex", { ...at.env, HOME: at.path, TMPDIR, ACP_HOME: join(at.path, "acp") });
    expect(await readdir(at.path, { recursive: true })).toEqual(["bin", "tmp", "bin/codex"]);
  });

  it.each(CHECKED_AGENTS.map((each) => [each.agent, each] as const))(
    "tries for %s what docs/how-to/exec-hooks.md prints",
    async (_agent, each) => {
      const page = await readFile(
        new URL("../../../docs/how-to/exec-hooks.md", import.meta.url),
        "utf8",
      );
      const printed = [...page.matchAll(/```json\n(\{[^`]*\})\n```/g)].map(([, json = ""]) =>
        JSON.parse(json),
      );
      expect(printed).toContainEqual(each.hooks.settings(each.command));
    },
  );
});
