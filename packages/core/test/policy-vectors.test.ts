import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { httpAction, isConsentError, shellAction, toolAction } from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import type { Action } from "../src/index.js";
import { hasWildcard } from "../src/policy/glob.js";
import { matchGlob } from "../src/policy/pattern.js";
import { describeVectors, tally, vectorJson } from "./vectors.js";
import type { Tally } from "./vectors.js";

interface GlobCase {
  readonly name: string;
  readonly pattern: string | { readonly path: string };
  readonly text: string;
  readonly home?: string;
  readonly cwd?: string;
  readonly want: boolean | { readonly error: string };
}

interface RuleCase {
  readonly name: string;
  readonly policy: unknown;
  readonly home?: string;
  readonly cwd?: string;
  readonly action?: {
    readonly tool?: string;
    readonly server?: string;
    readonly args?: unknown;
    readonly method?: string;
    readonly url?: string;
    readonly command?: string;
  };
  readonly at?: string;
  readonly want: unknown;
}

const own = <T>(file: string): { readonly cases: readonly T[] } =>
  JSON.parse(readFileSync(new URL(`../../../spec/vectors/${file}`, import.meta.url), "utf8")) as {
    readonly cases: readonly T[];
  };

const origins = ({
  home,
  cwd,
}: {
  readonly home?: string;
  readonly cwd?: string;
}): { home?: string; cwd?: string } => ({
  ...(home === undefined ? {} : { home }),
  ...(cwd === undefined ? {} : { cwd }),
});

const resultOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return { error: error.code };
  }
};

describe("spec/vectors/globs.json", () => {
  it.each(own<GlobCase>("globs.json").cases.map((each) => [each.name, each] as const))(
    "matchGlob() %s",
    (_name, each) => {
      expect(resultOf(() => matchGlob(each.pattern, each.text, origins(each)))).toEqual(each.want);
    },
  );
});

const actionOf = ({
  tool,
  server = "fs",
  args,
  method,
  url,
  command,
}: NonNullable<RuleCase["action"]>): Action => {
  if (tool !== undefined) return toolAction(server, tool, args);
  return command === undefined ? httpAction(method ?? "", url ?? "") : shellAction(command);
};

const judged = ({
  policy,
  action,
  at = "2026-01-05T12:00:00Z",
  want,
  ...rest
}: RuleCase): unknown => {
  const parsed = parsePolicy(policy, origins(rest));
  if (action === undefined)
    return { default: parsed.defaultEffect, warnings: parsed.warnings.length };
  const ruling = parsed.judge(actionOf(action), { agent: { id: "agent" }, nowMs: Date.parse(at) });
  return typeof want === "string" ? (ruling?.effect ?? "none") : ruling;
};

const refused = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return {
      error: error.code,
      path: error.path,
      ...(error.suggestion === undefined ? {} : { suggestion: error.suggestion }),
    };
  }
};

describe("spec/vectors/rules.json", () => {
  it.each(
    own<RuleCase>("rules.json").cases.map((each, index) => [index, each.name, each] as const),
  )("parsePolicy() %i %s", (_index, _name, each) => {
    expect(refused(() => judged(each))).toEqual(each.want);
  });
});

/** A row of picomatch: several patterns mean any of them. */
interface PicomatchRow {
  readonly patterns: readonly string[];
  readonly input: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly expected: boolean;
}

const picomatchRows = (): readonly PicomatchRow[] => {
  const { rows } = vectorJson("glob/picomatch_calls.json") as {
    readonly rows: readonly (Omit<PicomatchRow, "patterns"> & {
      readonly pattern: string | readonly string[];
    })[];
  };
  return rows.map(({ pattern, input, options, expected }) => ({
    patterns: [pattern].flat(),
    input,
    options: options ?? {},
    expected,
  }));
};

const isDotted = (path: string): boolean =>
  path.split("/").some((segment) => segment.startsWith("."));
const isNormal = (path: string): boolean =>
  path === "/" || !/^$|\\|\/\/|.\/$|(?:^|\/)\.\.?(?:\/|$)|^[A-Za-z]:/.test(path);
const segmentsOf = (path: string): readonly string[] =>
  path.split("/").filter((segment) => segment !== "**");

/** Why a row of picomatch says nothing about us, told from the row alone, never from our answer. */
function leftOut({
  options: { dot, windows, ...others },
  patterns,
  input,
}: PicomatchRow): string | undefined {
  if (Object.keys(others).length > 0) return "has options other than dot and windows";
  if (windows === true && input.includes("\\"))
    return "reads a backslash as a separator: ours never does";
  if (patterns.some((pattern) => /[[\]{}()|\\"]|^!/.test(pattern)))
    return "has brackets, braces, parentheses, quotes, |, \\ or a leading !: not in our patterns";
  if (dot !== true && isDotted(input) && patterns.some(hasWildcard))
    return "expects * to pass over dotfiles: ours never does, so that a deny does not";
  return undefined;
}

function leftOutOfGlobs(row: PicomatchRow): string | undefined {
  if ([row.input, ...row.patterns].some((text) => text.includes("/")))
    return "has a slash: our * crosses it";
  if (["", ".", ".."].includes(row.input))
    return "has an input that there no * matches: empty, . or ..";
  return leftOut(row);
}

function leftOutOfPaths(row: PicomatchRow): string | undefined {
  const why = leftOut(row);
  const { patterns, input } = row;
  if (why !== undefined) return why;
  if (patterns.some((pattern) => segmentsOf(pattern).some((segment) => segment.includes("**"))))
    return "does not load: ** inside a segment";
  if (patterns.some((pattern) => pattern.split("/").length - segmentsOf(pattern).length > 2))
    return "does not load: more than two **";
  if (
    patterns.some((pattern) => segmentsOf(pattern).some((segment) => segment.split("*").length > 3))
  )
    return "does not load: more than two * in a segment";
  if (patterns.some((pattern) => pattern.split("/").includes("..")))
    return "does not load: .. in the pattern";
  if (input.length > 4_096 || patterns.some((pattern) => pattern.length > 4_096))
    return "is longer than a path may be";
  if (!isNormal(input))
    return "has an input that we normalise or refuse: empty, . or .., doubled or last slash, drive";
  if (!patterns.every((pattern) => isNormal(pattern.replace(/^\.\//, ""))))
    return "has a doubled or last slash in the pattern, which we drop";
  if (patterns.some((pattern) => pattern.startsWith("/") !== input.startsWith("/")))
    return "is half absolute: our relative patterns start at the working directory";
  if (patterns.some((pattern) => /^(?:\*\/)+\*\*$/.test(pattern)))
    return "is */**, which there matches no parent, though a/** does";
  return undefined;
}

const runPicomatch = (
  why: (row: PicomatchRow) => string | undefined,
  matches: (pattern: string, input: string) => boolean,
): Tally => {
  const counted = tally();
  for (const row of picomatchRows()) {
    const reason = why(row);
    if (reason !== undefined) counted.exclude(reason);
    else if (row.patterns.some((pattern) => matches(pattern, row.input)) === row.expected)
      counted.pass();
    else counted.fail(JSON.stringify(row));
  }
  return counted;
};

describeVectors("picomatch", "glob", () => {
  it("matchGlob() agrees on the plain rows, as path patterns", () => {
    const counted = runPicomatch(leftOutOfPaths, (path, input) =>
      matchGlob({ path }, input, { cwd: "/work" }),
    );
    expect(counted.end("picomatch, paths")).toEqual({
      passed: 1_320,
      failed: [],
      excluded: {
        "has an input that we normalise or refuse: empty, . or .., doubled or last slash, drive": 578,
        "is half absolute: our relative patterns start at the working directory": 74,
        "expects * to pass over dotfiles: ours never does, so that a deny does not": 527,
        "has brackets, braces, parentheses, quotes, |, \\ or a leading !: not in our patterns": 3_326,
        "does not load: more than two * in a segment": 20,
        "has a doubled or last slash in the pattern, which we drop": 190,
        "does not load: ** inside a segment": 262,
        "has options other than dot and windows": 1_551,
        "does not load: .. in the pattern": 8,
        "does not load: more than two **": 35,
        "reads a backslash as a separator: ours never does": 220,
        "is */**, which there matches no parent, though a/** does": 3,
      },
    });
  });

  it("matchGlob() agrees on the plain rows without a slash, as globs", () => {
    expect(runPicomatch(leftOutOfGlobs, matchGlob).end("picomatch, globs")).toEqual({
      passed: 551,
      failed: [],
      excluded: {
        "has an input that there no * matches: empty, . or ..": 20,
        "has a slash: our * crosses it": 3_992,
        "expects * to pass over dotfiles: ours never does, so that a deny does not": 28,
        "has brackets, braces, parentheses, quotes, |, \\ or a leading !: not in our patterns": 2_624,
        "has options other than dot and windows": 875,
        "reads a backslash as a separator: ours never does": 24,
      },
    });
  });
});

interface SmokescreenRow {
  readonly name: string;
  readonly host?: string;
  readonly glob?: string;
  readonly match?: boolean;
  readonly invalid_glob?: string;
}

/** Where our hosts differ on purpose: S1 §5.4 lets `*` stand anywhere, for any characters. */
const HOST_DIFFERENCES: Readonly<Record<string, string>> = {
  "wildcard after leading component": "allows * in the middle",
  "multiple wildcards": "allows more than one *",
  "matches everything (*)": "allows * alone: everything, written out",
  "non-normalized domain": "brings a pattern to A-labels instead of refusing it",
};

const hostMatches = (pattern: string, host: string): boolean => {
  const policy = parsePolicy({
    version: "1",
    rules: [{ match: { host: pattern }, action: "allow" }],
  });
  if (host === "") return false; // no Action has an empty host
  return (
    policy.judge(httpAction("CONNECT", `${host}:443`), { agent: { id: "agent" }, nowMs: 0 }) !==
    undefined
  );
};

describeVectors("smokescreen", "hosts", () => {
  it("parsePolicy() agrees on host globs", () => {
    const counted = tally();
    const { rows } = vectorJson("hosts/smokescreen_host_globs.json") as {
      readonly rows: readonly SmokescreenRow[];
    };
    for (const row of rows) {
      const difference = HOST_DIFFERENCES[row.name];
      const { host = "", glob = "", match, invalid_glob } = row;
      const want = invalid_glob === undefined ? match : { error: "policy_invalid" };
      if (difference !== undefined) counted.exclude(difference);
      else if (
        isDeepStrictEqual(
          resultOf(() => hostMatches(invalid_glob ?? glob, host)),
          want,
        )
      )
        counted.pass();
      else counted.fail(row.name);
    }
    expect(counted.end("smokescreen host globs")).toEqual({
      passed: 12,
      failed: [],
      excluded: Object.fromEntries(Object.values(HOST_DIFFERENCES).map((reason) => [reason, 1])),
    });
  });
});
