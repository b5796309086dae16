import { describe, expect, it } from "vitest";
import vectors from "../../../spec/vectors/exec-config.json" with { type: "json" };
import { isConsentError } from "../src/index.js";
import { parseAllowlist } from "../src/exec/allowlist.js";
import { parseExecApprovalConfig } from "../src/exec/config.js";
import { storablePattern } from "@acp/exec-safety";

const casesOf = (kind: string) => vectors.cases.filter((each) => each.kind === kind);

function pathOfRefusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isConsentError(error, "config_invalid")) return error.path ?? "";
    throw error;
  }
  return "loads";
}

describe("exec config vectors", () => {
  it.each(casesOf("pattern"))(
    "pattern $pattern and $argv: $name",
    ({ pattern, argv = [], want }) => {
      expect(parseAllowlist([{ pattern }]).find(argv)).toBe(want === true ? pattern : undefined);
    },
  );

  it.each(casesOf("config"))("config: $name", ({ config, want }) => {
    expect(pathOfRefusal(() => parseExecApprovalConfig(config))).toBe(want);
  });

  it.each(casesOf("stored"))("stored $program: $name", ({ program = "", want }) => {
    expect(storablePattern(program).pattern ?? null).toBe(want);
  });

  it("has no case of another kind", () => {
    const kinds = new Set(vectors.cases.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(["config", "pattern", "stored"]);
  });
});
