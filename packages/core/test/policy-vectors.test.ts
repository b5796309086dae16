import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { httpAction, isConsentError, parsePolicy, shellAction, toolAction } from "../src/index.js";
import type { Action } from "../src/index.js";
import { matchGlob } from "../src/policy/pattern.js";

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
  JSON.parse(readFileSync(new URL(`../../../spec/vectors/${file}`, import.meta.url), "utf8")) as { readonly cases: readonly T[] };

const origins = ({ home, cwd }: { readonly home?: string; readonly cwd?: string }): { home?: string; cwd?: string } => ({
  ...(home === undefined ? {} : { home }),
  ...(cwd === undefined ? {} : { cwd }),
});

const codeOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return { error: error.code };
  }
};

describe("spec/vectors/globs.json", () => {
  it.each(own<GlobCase>("globs.json").cases.map((each) => [each.name, each] as const))("matchGlob() %s", (_name, each) => {
    expect(codeOf(() => matchGlob(each.pattern, each.text, origins(each)))).toEqual(each.want);
  });
});

const actionOf = ({ tool, server = "fs", args, method, url, command }: NonNullable<RuleCase["action"]>): Action => {
  if (tool !== undefined) return toolAction(server, tool, args);
  return command === undefined ? httpAction(method ?? "", url ?? "") : shellAction(command);
};

const judged = ({ policy, action, at = "2026-01-05T12:00:00Z", want, ...rest }: RuleCase): unknown => {
  const parsed = parsePolicy(policy, origins(rest));
  if (action === undefined) return { default: parsed.defaultEffect, warnings: parsed.warnings.length };
  const ruling = parsed.judge(actionOf(action), { agent: { id: "agent" }, nowMs: Date.parse(at) });
  return typeof want === "string" ? (ruling?.effect ?? "none") : ruling;
};

const refused = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return { error: error.code, path: error.path, ...(error.suggestion === undefined ? {} : { suggestion: error.suggestion }) };
  }
};

describe("spec/vectors/rules.json", () => {
  it.each(own<RuleCase>("rules.json").cases.map((each, index) => [index, each.name, each] as const))(
    "parsePolicy() %i %s",
    (_index, _name, each) => {
      expect(refused(() => judged(each))).toEqual(each.want);
    },
  );
});
