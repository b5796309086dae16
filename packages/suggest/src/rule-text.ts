/**
 * Rule text: a rule as a person pastes it into a policy file, and back through the reader of
 * policies. Pure.
 */
import { canonicalJson, escapeText, isJsonList, isJsonObject } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import { readYaml } from "@acp/core/yaml";

/**
 * Texts that are the same without quotes, in every YAML; a number, a boolean or null looks like
 * none of them.
 */
const PLAIN = /^[A-Za-z][A-Za-z0-9_.-]*$/;
const WORDS = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

/**
 * The rule as an item of a list in block style, as YAML.
 *
 * @param indent - Blanks in front of the item's dash.
 */
export function ruleText(rule: JsonObject, indent: number): string {
  const lines = Object.entries(rule).flatMap(([key, value]) => entryLines(key, value, 0));
  return lines
    .map((line, index) => `${" ".repeat(indent)}${index === 0 ? "- " : "  "}${line}\n`)
    .join("");
}

/** A rule's match is laid out, what stands in it is short. */
function entryLines(key: string, value: JsonValue, depth: number): readonly string[] {
  if (!isJsonObject(value) || depth === 2 || Object.keys(value).length === 0)
    return [`${scalarText(key)}: ${flowText(value)}`];
  const inner = Object.entries(value).flatMap(([name, member]) =>
    entryLines(name, member, depth + 1),
  );
  return [`${scalarText(key)}:`, ...inner.map((line) => `  ${line}`)];
}

function flowText(value: JsonValue): string {
  if (isJsonList(value)) return `[${value.map(flowText).join(", ")}]`;
  if (!isJsonObject(value)) return scalarText(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${scalarText(key)}: ${flowText(member)}`)
    .join(", ")} }`;
}

/**
 * A text in quotes where it must be, with everything escaped that could hide or reorder: it is read
 * by a person first.
 */
function scalarText(value: string | number | boolean | null): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return PLAIN.test(value) && !WORDS.test(value) ? value : escapeText(JSON.stringify(value));
}

/**
 * The rule that a text made by {@link ruleText} reads as, by the reader of policy files;
 * `undefined` where it is not the one that was meant.
 */
export function readRuleText(text: string, meant: JsonObject): JsonObject | undefined {
  try {
    const { value } = readYaml(`rules:\n${text}`, { name: "policy", code: "policy_invalid" });
    const list = isJsonObject(value) ? value["rules"] : undefined;
    const rule: JsonValue | undefined =
      list !== undefined && isJsonList(list) && list.length === 1 ? list[0] : undefined;
    return isJsonObject(rule) && canonicalJson(rule) === canonicalJson(meant) ? rule : undefined;
  } catch {
    return undefined; // a name that YAML cannot hold
  }
}
