/**
 * Parsing: a policy's data into a compiled, immutable Policy. Strict: what is not understood does
 * not load. Format: spec/policy.md. Vectors: spec/vectors/rules.json. Text is read by readPolicy in
 * "@acp/core/yaml".
 */
import type { Action } from "../action/action.js";
import type { ArgumentsScope } from "../types/scope.js";
import { CATEGORIES, EFFECTS, RISK_LEVELS } from "../types/words.js";
import type { Effect } from "../types/words.js";
import { markCompiled } from "../compiled-mark.js";
import { ConsentError } from "../errors.js";
import { copyJson } from "../json/copy.js";
import type { JsonValue } from "../json/value.js";
import { POLICY_RULES_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { createClassifier, riskiest } from "./classify.js";
import type { ClassifyRow } from "./classify.js";
import { createZoneClocks } from "./conditions.js";
import type { TextTest } from "./glob.js";
import { createJudge } from "./judge.js";
import { parseName } from "./match.js";
import { provesArguments } from "./offers.js";
import type { PathOrigins } from "./path.js";
import type { Policy } from "./policy.js";
import { createReader } from "./readings.js";
import type { Reader } from "./readings.js";
import { parseRule } from "./rule.js";
import type { Rule } from "./rule.js";
import { POLICY, describe, invalid, readList, readMap, readOneOf } from "./spot.js";
import type { Locate, Spot } from "./spot.js";

/** Options of {@link parsePolicy}. */
export type PolicyOptions = PathOrigins;

const KEYS = ["version", "default", "default_action", "rules", "classify"] as const;
const VERSION = "1";
const DEFAULT_EFFECT: Effect = "ask";

type Entries = ReadonlyMap<string, Spot>;

/**
 * Compiles a policy from plain data.
 *
 * @throws ConsentError `policy_invalid` with `path` and, where there is one, `suggestion`;
 *   `options_invalid` for a relative `home` or `cwd`.
 *
 * @example
 * ```ts
 * import { parsePolicy } from "@acp/core/policy";
 *
 * const policy = parsePolicy({
 *   version: "1",
 *   default: "deny",
 *   rules: [{ id: "reads", match: { tool: "read_*" }, action: "allow" }],
 * });
 * ```
 */
export function parsePolicy(input: unknown, options: PolicyOptions = {}): Policy {
  return compilePolicy(plainData(input), options, () => undefined);
}

/** A copy that nobody can change or compute: what was checked is what is compiled. */
function plainData(input: unknown): JsonValue {
  try {
    return copyJson(input);
  } catch (cause) {
    const path = cause instanceof ConsentError && cause.path !== undefined ? cause.path : "";
    throw new ConsentError(
      "policy_invalid",
      `Cannot load policy${path === "" ? "" : ` at ${path}`}: it is not plain JSON data`,
      {
        path,
        cause,
      },
    );
  }
}

/** {@link parsePolicy} for data whose places in a text are known. */
export function compilePolicy(input: JsonValue, options: PolicyOptions, locate: Locate): Policy {
  const origins = checkOrigins(options);
  const root: Spot = { subject: POLICY, value: input, path: [], locate };
  const entries = readMap(root, KEYS);
  if (!entries.has("rules") && !entries.has("default") && !entries.has("default_action")) {
    throw invalid(root, "the policy has neither rules nor a default");
  }
  const warnings: string[] = [];
  checkVersion(entries, warnings);
  const defaultEffect = parseDefault(entries);
  const warn = (warning: string): void => void warnings.push(warning);
  const read = createReader();
  const classify = createClassifier(
    parseClassify(entries.get("classify"), { read, origins, warn }),
  );
  const denied: TextTest[] = [];
  const onDeniedPath = (test: TextTest): void => void denied.push(test);
  const context = { origins, read, clocks: createZoneClocks(), classify, warn, onDeniedPath };
  const list = entries.get("rules");
  const spots = list === undefined ? [] : readList(list);
  if (list !== undefined && spots.length > POLICY_RULES_MAX)
    throw invalid(list, `there are more than ${POLICY_RULES_MAX} rules`);
  const rules = spots.map((spot, index) => parseRule(spot, index + 1, context));
  checkIds(spots, rules);
  return markCompiled({
    defaultEffect,
    rules: Object.freeze(rules.map(({ summary }) => Object.freeze(summary))),
    warnings: Object.freeze(warnings),
    judge: createJudge(rules),
    classify: (action: Action) => riskiest(classify(action)),
    proves: (scope: ArgumentsScope, action: Action) => provesArguments(scope, action, origins),
    deniesPath: (path: string) => denied.some((test) => test(path)),
  });
}

function checkOrigins({ home, cwd }: PolicyOptions): PathOrigins {
  for (const [name, path] of Object.entries({ home, cwd })) {
    if (path !== undefined && (typeof path !== "string" || !path.startsWith("/"))) {
      throw new ConsentError(
        "options_invalid",
        `Cannot load policy: its option "${name}" is not an absolute path`,
      );
    }
  }
  return { ...(home === undefined ? {} : { home }), ...(cwd === undefined ? {} : { cwd }) };
}

function checkVersion(entries: Entries, warnings: string[]): void {
  const version = entries.get("version");
  if (version === undefined)
    warnings.push(`the policy has no version; write version: "${VERSION}"`);
  else if (version.value !== VERSION) {
    throw invalid(version, `expected the text "${VERSION}", got ${describe(version.value)}`, {
      suggestion: `version: "${VERSION}"`,
    });
  }
}

function parseDefault(entries: Entries): Effect {
  const [older, newer] = [entries.get("default_action"), entries.get("default")];
  if (older !== undefined && newer !== undefined)
    throw invalid(newer, `"default" and "default_action" mean the same; keep one`, { part: "key" });
  const given = newer ?? older;
  return given === undefined ? DEFAULT_EFFECT : readOneOf(given, EFFECTS);
}

interface ClassifyContext {
  readonly read: Reader;
  readonly origins: PathOrigins;
  readonly warn: (warning: string) => void;
}

function parseClassify(spot: Spot | undefined, context: ClassifyContext): readonly ClassifyRow[] {
  return spot === undefined ? [] : readList(spot).map((row) => parseClassifyRow(row, context));
}

function parseClassifyRow(spot: Spot, { read, origins, warn }: ClassifyContext): ClassifyRow {
  const entries = readMap(spot, ["tool", "category", "risk"]);
  const [tool, category, risk] = [
    entries.get("tool"),
    entries.get("category"),
    entries.get("risk"),
  ];
  if (tool === undefined || category === undefined || risk === undefined) {
    throw invalid(spot, "a row of classify has tool, category and risk");
  }
  return {
    proves: parseName(tool, { stance: { grants: true, read, origins }, warn }),
    hints: parseName(tool, { stance: { grants: false, read, origins }, warn: () => undefined }),
    says: { category: readOneOf(category, CATEGORIES), risk: readOneOf(risk, RISK_LEVELS) },
  };
}

function checkIds(spots: readonly Spot[], rules: readonly Rule[]): void {
  const seen = new Map<string, number>();
  for (const [index, spot] of spots.entries()) {
    const id = rules[index]?.summary.ruleId ?? "";
    const first = seen.get(id);
    if (first !== undefined)
      throw invalid(
        readMap(spot).get("id") ?? spot,
        `the id ${quote(id)} is taken by rules[${first}]`,
      );
    seen.set(id, index);
  }
}
