import { describe, expect, it } from "vitest";
import { jqProblem, yqProblem } from "./jq.js";
import { cpuMs } from "../../../../../tools/cpu-ms.js";

describe("jqProblem()", () => {
  it.each([
    ".",
    ".env",
    ".a.env.b",
    '.["env"]',
    'select(.name == "env")',
    '"import \\" include"',
    ".a | keys | length",
    "map(.price) | add / length",
    '"\\(.key): \\(.value)"',
    "[inputs]",
    "@base64d",
    "$__loc__",
    ". # a comment about the input\n| keys",
    "envelope",
    "$ENVIRONMENT",
  ])("lets %j pass", (filter) => {
    expect(jqProblem(filter)).toBeUndefined();
  });

  it.each([
    "env",
    "env.HOME",
    ".a | env",
    "..env",
    "$ENV",
    "$ENV.HOME",
    '"\\(env)"',
    '"\\($ENV.X)"',
    "{a: env}",
    "{$ENV}",
    "[env]",
    'import "x" as x; .',
    'include "x"; .',
    "input_filename",
    "modulemeta",
    "get_search_list",
    "$__prog_args",
    '. # "\n| env # "',
    '"a" + env + "b"',
    '"\\"" | env',
  ])("stops %j", (filter) => {
    expect(jqProblem(filter)?.topic).toBe("secret");
  });

  it("reads 10,000 characters at once", () => {
    const start = cpuMs();
    for (const piece of ['"', '\\"', '"\\', ".", "a", "#", "$"])
      jqProblem(piece.repeat(10_000 / piece.length));
    expect(cpuMs() - start).toBeLessThan(10_000);
  });
});

describe("yqProblem()", () => {
  it.each([".a", ".services | keys", '.env.x = "load"', "select(fileIndex == 0)", ".a.load"])(
    "lets %j pass",
    (filter) => {
      expect(yqProblem(filter)).toBeUndefined();
    },
  );

  it.each([
    'load("x")',
    'load_str("x")',
    "env(HOME)",
    "strenv(X)",
    ".a = envsubst",
    "eval(.x)",
    'system("x")',
    "$ENV",
  ])("stops %j", (filter) => {
    expect(yqProblem(filter)).toBeDefined();
  });
});
