/**
 * The official conformance suite of MCP against a server directly and through the built `acp mcp`,
 * over stdio and over HTTP, in both eras: every check has the same verdict.
 */
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { programDoor, stdioDoor, tokenDoor } from "./conformance/doors.js";
import { ERAS, judge, suiteNeed } from "./conformance/suite.js";
import type { Era, Verdicts } from "./conformance/suite.js";
import { environment, scratch } from "./environment.js";
import type { Scratch } from "./environment.js";
import { BIN, RESIDENT, acp, startAcp } from "./harness.js";

/** Checks that the fixture passes, with no proxy before it; fewer would judge less of ours. */
const PASSED: Readonly<Record<Era, number>> = { "2025-11-25": 84, "2026-07-28": 152 };

/**
 * Asked only of a client whose stream broke. Where the server closes one before its answer, our
 * proxy comes back to it by itself, and its client's stream stays open.
 */
const ONLY_DIRECT = /^server-sse-polling: server-sse-disconnect-resume /u;

const ALLOW_ALL = `version: "1"
default_action: deny
rules:
  - match: { server: fixture }
    action: allow
${["sampling", "elicitation", "roots"]
  .map((asked) => `  - match: { tool: "mcp:${asked}/*" }\n    action: allow\n`)
  .join("")}`;

const fixture = (): Promise<string> => bundled(new URL("conformance/fixture.ts", import.meta.url));
const failures = (verdicts: Verdicts): readonly string[] =>
  [...verdicts].flatMap(([check, verdict]) =>
    verdict.startsWith("FAILURE") ? [`${check} ${verdict}`] : [],
  );
const passed = (verdicts: Verdicts): number =>
  [...verdicts.values()].filter((verdict) => verdict === "SUCCESS").length;

/** A home whose policy allows everything of the fixture. */
async function makeHome(at: Scratch, config?: string): Promise<string> {
  const home = join(at.path, "home");
  expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), ALLOW_ALL, { mode: 0o600 });
  if (config !== undefined) await writeFile(join(home, "config.yml"), config, { mode: 0o600 });
  return home;
}

describe.runIf(suiteNeed.run)(
  `the conformance suite${suiteNeed.run ? "" : ` [${suiteNeed.reason}]`}`,
  () => {
    it.each(ERAS)("says the same of a server behind acp mcp, over stdio (%s)", async (era) => {
      await using at = await scratch();
      const home = await makeHome(at);
      const server = [process.execPath, await fixture(), "stdio"];
      const env = { ...environment({ home }), ...RESIDENT };
      const gated = [process.execPath, BIN, "mcp", "--server", "fixture", "--", ...server];
      try {
        await using direct = await stdioDoor(server, { env, cwd: at.path });
        await using behind = await stdioDoor(gated, { env, cwd: at.path });
        expect(await judge(behind.url, era)).toEqual(await judge(direct.url, era));
      } finally {
        await acp(["resident", "stop"], { home });
      }
    });

    it.each(ERAS)("says the same of one behind acp mcp serve, over HTTP (%s)", async (era) => {
      await using at = await scratch();
      await using direct = await programDoor([process.execPath, await fixture(), "http"]);
      const home = await makeHome(
        at,
        `version: "1"\nproxy:\n  upstream_servers:\n    - { name: fixture, url: "${direct.url}" }\n`,
      );
      const { stdout: token } = await acp(["mcp", "token", "suite"], { home });
      const wanted = await judge(direct.url, era);
      // The fixture itself has no fault, so that no check is the same for a bad reason.
      expect(failures(wanted)).toEqual([]);
      expect(passed(wanted)).toBe(PASSED[era]);
      await using served = startAcp(["mcp", "serve", "--port", "0"], { home, env: RESIDENT });
      try {
        await served.seen("stdout", ADDRESS);
        const [url = ""] = ADDRESS.exec(served.stdout()) ?? [];
        await using behind = await tokenDoor(url, token.trim());
        const found = await judge(behind.url, era);
        const same = [...wanted].filter(([check]) => !ONLY_DIRECT.test(check) || found.has(check));
        expect(found).toEqual(new Map(same));
      } finally {
        await acp(["resident", "stop"], { home });
      }
    });
  },
);

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/mcp/u;
