/**
 * The official conformance suite of MCP against a server directly and through the built `acp mcp`,
 * over stdio, in both eras: every check has the same verdict.
 */
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { programDoor, stdioDoor } from "./conformance/doors.js";
import { ERAS, judge, suiteNeed } from "./conformance/suite.js";
import type { Era, Verdicts } from "./conformance/suite.js";
import { environment, scratch } from "./environment.js";
import { BIN, RESIDENT, acp } from "./harness.js";

/** Checks that the fixture passes, with no proxy before it; fewer would judge less of ours. */
const PASSED: Readonly<Record<Era, number>> = { "2025-11-25": 84, "2026-07-28": 152 };

const ALLOW_ALL = `version: "1"
default_action: deny
rules:
  - match: { server: fixture }
    action: allow
${["sampling", "elicitation", "roots"]
  .map((asked) => `  - match: { tool: "mcp:${asked}/*" }\n    action: allow\n`)
  .join("")}`;

const failures = (verdicts: Verdicts): readonly string[] =>
  [...verdicts].flatMap(([check, verdict]) =>
    verdict.startsWith("FAILURE") ? [`${check} ${verdict}`] : [],
  );
const passed = (verdicts: Verdicts): number =>
  [...verdicts.values()].filter((verdict) => verdict === "SUCCESS").length;

describe.runIf(suiteNeed.run)(
  `the conformance suite${suiteNeed.run ? "" : ` [${suiteNeed.reason}]`}`,
  () => {
    it.each(ERAS)("finds nothing wrong with the fixture itself (%s)", async (era) => {
      await using door = await programDoor([process.execPath, await fixture(), "http"]);
      const verdicts = await judge(door.url, era);
      expect(failures(verdicts)).toEqual([]);
      expect(passed(verdicts)).toBe(PASSED[era]);
    });

    it.each(ERAS)("says the same of it behind acp mcp, over stdio (%s)", async (era) => {
      await using at = await scratch();
      const home = join(at.path, "home");
      expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
      await writeFile(join(home, "policy.yml"), ALLOW_ALL, { mode: 0o600 });
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
  },
);

const fixture = (): Promise<string> => bundled(new URL("conformance/fixture.ts", import.meta.url));
