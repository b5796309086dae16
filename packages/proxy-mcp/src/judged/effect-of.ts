/**
 * Effect of: what the rules say of an action of a client's session now. Asks nobody and records
 * nothing, so it allows nothing either.
 */
import { toolAction } from "@acp/core";
import type { JsonObject, Ruling } from "@acp/core";
import type { CallParts } from "../tool-call.js";

/** What may be done. */
export interface EffectOf {
  readonly server: string;
  /** The tool, or the reserved name of the request. */
  readonly tool: string;
  readonly args: JsonObject;
}

/** What cannot be judged is denied. */
export function effectOf(
  { gate, agent, session }: Pick<CallParts, "gate" | "agent" | "session">,
  { server, tool, args }: EffectOf,
): Ruling["effect"] {
  try {
    return gate.evaluate(toolAction(server, tool, args), { agent, session }).ruling.effect;
  } catch {
    return "deny";
  }
}
