/**
 * Annotations: a server's own word about its tools. Whoever wants less scrutiny says that a tool only
 * reads, so of a server that nobody vouches for, only what warns counts. Pure. Rules:
 * spec/tool-pins.md §7.
 */
import { isRecord } from "../message.js";

/** Hints of MCP, and which of their values asks for more scrutiny. */
const WARNS: Readonly<Record<string, boolean>> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** The hints that warn; `undefined` where there are none. */
export function warningsIn(annotations: unknown): Readonly<Record<string, boolean>> | undefined {
  if (!isRecord(annotations)) return undefined;
  const warnings = Object.entries(WARNS).filter(([hint, value]) => annotations[hint] === value);
  return warnings.length === 0 ? undefined : Object.fromEntries(warnings);
}
