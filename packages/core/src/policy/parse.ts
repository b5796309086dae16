/**
 * Parsing: a policy's data into a compiled, immutable Policy. Strict: what is not understood does
 * not load. Format: spec/policy.md. Vectors: spec/vectors/rules.json. Text is read by readPolicy in
 * "@acp/core/yaml".
 */
import type { Action, ToolAction } from "../action/action.js";
import type { ArgumentsScope } from "../types/scope.js";
import { markCompiled } from "../compiled-mark.js";
import { ConsentError } from "../errors.js";
import { copyJson } from "../json/copy.js";
import type { JsonValue } from "../json/value.js";
import { createClassifier, riskiest } from "./classify.js";
import { createZoneClocks } from "./conditions.js";
import { document } from "./document.js";
import type { TextTest } from "./glob.js";
import { createJudge } from "./judge.js";
import { provesArguments } from "./offers.js";
import type { PathOrigins } from "./path.js";
import type { Policy } from "./policy.js";
import { createReader } from "./readings.js";
import type { RuleContext } from "./rule.js";
import { readWhole } from "./shape.js";
import { POLICY } from "./spot.js";
import type { Locate, Spot } from "./spot.js";

/** Options of {@link parsePolicy}. */
export type PolicyOptions = PathOrigins;

/**
 * Compiles a policy from plain data.
 *
 * @throws ConsentError `policy_invalid` that names every mistake; its `path` and, where there is
 *   one, `suggestion` are those of the first. `options_invalid` for a relative `home` or `cwd`.
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
  const warnings: string[] = [];
  const denied: TextTest[] = [];
  // Rules are read before it is known whether the rows of classify are right.
  let classify = createClassifier([]);
  const context: RuleContext = {
    origins,
    read: createReader(),
    clocks: createZoneClocks(),
    classify: (action) => classify(action),
    warn: (warning) => void warnings.push(warning),
    onDeniedPath: (test) => void denied.push(test),
  };
  const root: Spot = { subject: POLICY, value: input, path: [], locate };
  const { defaultEffect, rules = [], rows = [] } = readWhole(document, root, context);
  classify = createClassifier(rows);
  const { judge, deniesAll } = createJudge(rules, origins);
  return markCompiled({
    defaultEffect,
    rules: Object.freeze(rules.map(({ summary }) => Object.freeze(summary))),
    warnings: Object.freeze(warnings),
    judge,
    deniesAll(action: ToolAction) {
      const said = deniesAll(action);
      if (said !== "unless_allowed") return said;
      return defaultEffect === "deny" ? "default" : undefined;
    },
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
