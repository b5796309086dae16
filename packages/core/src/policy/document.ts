/**
 * Document: the whole of a policy as a table of keys, which its reader and its JSON Schema are made
 * of. Format: spec/policy.md §2.
 */
import { CATEGORIES, EFFECTS, RISK_LEVELS } from "../types/words.js";
import type { Effect } from "../types/words.js";
import type { ConsentError } from "../errors.js";
import { isJsonList, isJsonObject } from "../json/value.js";
import type { JsonObject } from "../json/value.js";
import { POLICY_RULES_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { ARGUMENTS_SCHEMA } from "./arguments.js";
import type { ClassifyRow } from "./classify.js";
import { atLeastOne, notBoth } from "./key-rules.js";
import { name, parseName } from "./match.js";
import { MISTAKES_MAX } from "./mistakes.js";
import { defaultId, rule } from "./rule.js";
import type { Rule, RuleContext } from "./rule.js";
import { optional, required, section } from "./section.js";
import { below, list, refined, shapeOf, word } from "./shape.js";
import type { Shape } from "./shape.js";
import { describe, invalid } from "./spot.js";
import type { Spot } from "./spot.js";

/** What a policy holds. */
export interface Document {
  readonly defaultEffect: Effect;
  readonly rules?: readonly Rule[];
  /** The rows of `classify`. */
  readonly rows?: readonly ClassifyRow[];
}

const VERSION = "1";
const DEFAULT_EFFECT: Effect = "ask";

const version: Shape<string> = shapeOf({ const: VERSION }, (spot) => {
  if (spot.value === VERSION) return VERSION;
  throw invalid(spot, `expected the string "${VERSION}", got ${describe(spot.value)}`, {
    suggestion: `version: "${VERSION}"`,
  });
});

type Pattern = Pick<ClassifyRow, "proves" | "hints">;

/** A name pattern in both stances. */
const rowName: Shape<Pattern, RuleContext> = shapeOf(
  name.schema,
  (spot, { read, origins, warn }) => ({
    proves: parseName(spot, { stance: { grants: true, read, origins }, warn }),
    hints: parseName(spot, { stance: { grants: false, read, origins }, warn: () => undefined }),
  }),
);

const row: Shape<ClassifyRow, RuleContext> = refined(
  section(
    {
      tool: required("tool", rowName, "Tools whose name the glob matches."),
      category: required("category", word(CATEGORIES), "Their category."),
      risk: required("risk", word(RISK_LEVELS), "Their risk."),
    },
    [],
    { missing: () => "a row of classify has tool, category and risk" },
  ),
  ({ tool, ...says }) => ({ ...tool, says }),
);

const keys = section(
  {
    version: optional("version", version, `Version of this format: "${VERSION}".`),
    newer: optional("default", word(EFFECTS), "What happens where no rule matches. Default: ask."),
    older: optional("default_action", word(EFFECTS), "The older name of default."),
    rows: optional("classify", list(row), "Category and risk of tools, before ACP's own table."),
    rules: optional(
      "rules",
      list(rule, {
        max: POLICY_RULES_MAX,
        problem: `there are more than ${POLICY_RULES_MAX} rules`,
      }),
      "In their order: the first rule that matches decides.",
    ),
  },
  [
    notBoth("default", "default_action", '"default" and "default_action" mean the same; keep one'),
    atLeastOne(
      ["rules", "default", "default_action"],
      "the policy has neither rules nor a default",
    ),
  ],
);

/** A policy. */
export const document: Shape<Document, RuleContext> = {
  schema: keys.schema,
  read(spot, context) {
    if (isJsonObject(spot.value) && !Object.hasOwn(spot.value, "version"))
      context.warn(`the policy has no version; write version: "${VERSION}"`);
    const outcome = keys.read(spot, context);
    const twins = sameIds(spot);
    if (outcome.mistakes !== undefined || twins.length > 0)
      return { mistakes: [...(outcome.mistakes ?? []), ...twins] };
    const { newer, older, rules, rows } = outcome.value;
    return {
      value: {
        defaultEffect: newer ?? older ?? DEFAULT_EFFECT,
        ...(rules !== undefined && { rules }),
        ...(rows !== undefined && { rows }),
      },
    };
  },
};

/** Rules with the id of an earlier one. */
function sameIds(root: Spot): readonly ConsentError[] {
  const given = isJsonObject(root.value) ? root.value["rules"] : undefined;
  if (!isJsonList(given)) return [];
  const seen = new Map<string, number>();
  const mistakes: ConsentError[] = [];
  for (const [index, each] of given.entries()) {
    const own = isJsonObject(each) ? each["id"] : undefined;
    const id = typeof own === "string" ? own : defaultId(index);
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    if (first === undefined || mistakes.length >= MISTAKES_MAX) continue;
    const spot = below(below(root, "rules"), index);
    const place = own === undefined ? spot : below(spot, "id");
    mistakes.push(invalid(place, `the id ${quote(id)} is taken by rules[${first}]`));
  }
  return mistakes;
}

/**
 * The JSON Schema of a policy, draft 2020-12, for editors and other programs. It is made of the
 * tables that {@link parsePolicy} reads by: it refuses nothing that loads. What a schema cannot say
 * (that a host, a time zone or a path can be used, that ids are unique) only the parser refuses.
 * Published as spec/schemas/policy.schema.json.
 */
export function policySchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:acp:policy:1",
    title: "policy.yml of ACP (Agent Consent Protocol)",
    ...document.schema,
    $defs: { arguments: ARGUMENTS_SCHEMA },
  };
}
