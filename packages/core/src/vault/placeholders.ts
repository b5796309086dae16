/**
 * Placeholders: `{{secret:NAME}}` in the arguments of a tool call, or in the headers of an HTTP
 * request. Format: spec/vault.md §4.
 */
import { type Action, isHttpAction, isToolAction } from "../action/action.js";
import { isJsonList, type JsonValue } from "../json/value.js";
import { isSecretName } from "./secret-name.js";

/** The beginning of every placeholder; the whole is `{{secret:NAME}}`. */
export const PLACEHOLDER_START = "{{secret:";
const PLACEHOLDER = /\{\{secret:([A-Za-z0-9_.-]+)\}\}/g;

/** The placeholders of an action. */
export interface Placeholders {
  /** Names of the secrets, each once, in their order in the action. */
  readonly names: readonly string[];
  /**
   * True if a placeholder is in a place that takes none (a key, a URL, a command) or is malformed.
   */
  readonly hasStray: boolean;
}

/** Finds the placeholders of an action, wherever they stand. */
export function placeholdersOf(action: Action): Placeholders {
  const names = new Set<string>();
  let open = 0;
  let proper = 0;
  const note = (text: string, isProper: boolean): void => {
    if (!text.includes(PLACEHOLDER_START)) return;
    open += text.split(PLACEHOLDER_START).length - 1;
    if (!isProper) return;
    for (const [, name = ""] of text.matchAll(PLACEHOLDER)) {
      if (!isSecretName(name)) continue;
      names.add(name);
      proper++;
    }
  };
  for (const text of Object.values(action.meta)) if (typeof text === "string") note(text, false);
  note(action.name, false);
  if (isToolAction(action)) eachText(action.args, note);
  else if (isHttpAction(action))
    for (const value of Object.values(action.args?.headers ?? {})) note(value, true);
  else note(action.args, false);
  return { names: [...names], hasStray: open !== proper };
}

/** Whether any stands in the action. */
export function hasPlaceholder(action: Action): boolean {
  const { names, hasStray } = placeholdersOf(action);
  return hasStray || names.length > 0;
}

function eachText(value: JsonValue, note: (text: string, isProper: boolean) => void): void {
  if (typeof value === "string") note(value, true);
  else if (typeof value !== "object" || value === null) return;
  else if (isJsonList(value)) for (const item of value) eachText(item, note);
  else
    for (const key of Object.keys(value)) {
      note(key, false);
      eachText(value[key] ?? null, note);
    }
}

/**
 * A frozen copy in which every placeholder of a text is replaced, once: what a replacement holds is
 * not looked at again.
 */
export function fillPlaceholders(value: JsonValue, valueOf: (name: string) => string): JsonValue {
  if (typeof value === "string") return fillText(value, valueOf);
  if (typeof value !== "object" || value === null) return value;
  if (isJsonList(value)) return Object.freeze(value.map((item) => fillPlaceholders(item, valueOf)));
  const copy: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(value))
    Object.defineProperty(copy, key, {
      value: fillPlaceholders(member, valueOf),
      enumerable: true,
    });
  return Object.freeze(copy);
}

/** A text with its placeholders replaced. */
export function fillText(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (_whole: string, name: string) => valueOf(name));
}
