import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";
import { allowlistOf } from "../../test/allowlist.js";
import { patchedFiles } from "./patch.js";

const patch = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const here = (text: string, delimiter = "'EOF'"): string =>
  `apply_patch <<${delimiter}\n${text}\nEOF\n`;
const judge = (command: string, more: object = {}) =>
  evaluateCommandSafety(command, { cwd: "/work/project", projectRoot: "/work/project", ...more });
const rules = (command: string, more: object = {}): readonly string[] =>
  judge(command, more).reasons.map(({ ruleId }) => ruleId);

const EDIT = patch(
  "*** Update File: src/a.ts",
  "*** Move to: src/b.ts",
  "@@",
  "-old",
  "+*** Delete File: not/one",
  "*** Delete File: c.txt",
);

describe("patchedFiles()", () => {
  it("names what a patch adds, edits, moves and deletes, and takes no line of a file for a header", () => {
    expect(patchedFiles(EDIT)).toEqual([
      { path: "src/a.ts", deed: "edits" },
      { path: "src/b.ts", deed: "moves to" },
      { path: "c.txt", deed: "deletes" },
    ]);
    expect(patchedFiles("hello")).toEqual([]);
  });
});

describe("evaluateCommandSafety() of apply_patch", () => {
  it.each([
    ["a here-document", here(EDIT)],
    ["a here-document with a bare delimiter", here(EDIT, "EOF")],
    ["its argument", `apply_patch '${EDIT}'`],
    ["a here-string", `apply_patch <<< '${EDIT}'`],
    ["its other name", here(EDIT).replace("apply_patch", "applypatch")],
  ])("reads an edit from %s", (_name, command) => {
    const { riskLevel, reasons } = judge(command);
    expect([riskLevel, reasons.map(({ ruleId }) => ruleId)]).toEqual([
      "needs-review",
      ["apply_patch.write"],
    ]);
    expect(reasons[0]?.message).toBe(
      "`apply_patch` edits `src/a.ts`, moves to `src/b.ts`, deletes `c.txt`",
    );
  });

  it("judges the paths as writes, from where the command runs", () => {
    const add = (path: string) => here(patch(`*** Add File: ${path}`, "+x"));
    expect(rules(add("../other/x"))).toContain("apply_patch.outside");
    expect(rules(add("/work/project/x"))).toEqual(["apply_patch.write"]);
    expect(rules(add(".env"))).toContain("apply_patch.secret");
    expect(rules(`cd src && ${add("../x")}`)).toEqual(["apply_patch.write"]);
    expect(rules(`cd .. && ${add("x")}`)).toContain("apply_patch.unknown-place");
    expect(judge(add("/etc/cron.d/x")).riskLevel).toBe("dangerous");
    expect(judge(add("/root/.bashrc")).riskLevel).toBe("dangerous");
    expect(judge(`apply_patch '${patch("*** Add File: /etc/cron.d/x", "+x")}'`).riskLevel).toBe(
      "dangerous",
    );
  });

  it.each([
    ["no patch", here("hello")],
    ["nothing", "apply_patch"],
    ["a file", "apply_patch < patch.txt"],
    ["a pipe", "cat patch.txt | apply_patch"],
    ["what a variable holds", here(patch("*** Add File: $HOME/x", "+x"), "EOF")],
    [
      "two texts",
      `apply_patch <<'A' <<'B'\n${patch("*** Add File: a")}\nA\n${patch("*** Add File: b")}\nB\n`,
    ],
    ["two arguments", "apply_patch a b"],
  ])("does not know what it edits of %s", (_name, command) => {
    expect(rules(command)).toContain("apply_patch.unknown");
  });

  it("is lifted by no allowlist, and what stands beside it counts", () => {
    const allowlist = allowlistOf("apply_patch **");
    expect(judge(here(EDIT), { allowlist }).riskLevel).toBe("needs-review");
    expect(rules(`${here(EDIT)}npm publish`)).toContain("npm.network");
    expect(judge(`${here(EDIT)}sudo rm -rf /`).riskLevel).toBe("dangerous");
  });
});
