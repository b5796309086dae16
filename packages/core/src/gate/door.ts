/**
 * The door: what a caller hands in, as plain data of the gate's own. Copied, bounded and frozen
 * before anything is waited for, so that nobody can change afterwards what was judged, shown,
 * signed or logged.
 */
import { isAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import { looksLikeAction } from "../copies.js";
import { boundedList, boundedText, isObject, ownValue } from "../json/own.js";
import type { Facts } from "../layers.js";
import {
  AGENT_COMMAND_CHARS_MAX,
  AGENT_PARENTS_MAX,
  NAME_CHARS_MAX,
  RULING_REASON_CHARS_MAX,
} from "../limits.js";
import { parseToolDefinition } from "../tool-definition.js";
import type { Denied } from "../verdict.js";
import type { QuestionContext } from "../approval/pending-record.js";
import type { GateContext, Performance, PerformOptions } from "./consent-gate.js";
import { deny, messageOf } from "./deny.js";
import type { Agent } from "../types/agent.js";

/** A call that may be judged. */
export interface Admitted {
  readonly action: Action;
  /** Nobody else holds it; only the signal is the caller's. */
  readonly context: GateContext;
}

const MAKERS = "a constructor or parseAction";
const MAKERS_HERE = `${MAKERS} of this @acp/core, though it looks like one; if another copy of the package made it, install only one (npm ls @acp/core)`;

/**
 * What the caller handed in, or why it is not judged. Never throws, and repeats nothing of what it
 * refuses.
 */
export function admit(action: unknown, context: unknown): Admitted | Denied {
  try {
    if (!isAction(action))
      return deny(
        "action_invalid",
        `the action was not made by ${looksLikeAction(action) ? MAKERS_HERE : MAKERS}`,
      );
    return { action, context: readContext(context) };
  } catch (error) {
    return deny("context_invalid", messageOf(error));
  }
}

/**
 * The caller's context as data of our own.
 *
 * @throws ConsentError `json_*`; whatever a Proxy's trap throws.
 */
export function readContext(given: unknown): GateContext {
  if (!isObject(given)) throw new TypeError("the call has no context");
  const agent = readAgent(ownValue(given, "agent"));
  // What is not there takes no time: a descriptor costs as much as a rule. What is there, inherited
  // or not, is looked at.
  if (
    !(
      "session" in given ||
      "task" in given ||
      "tool" in given ||
      "obstacle" in given ||
      "call" in given ||
      "signal" in given
    )
  )
    return { agent };
  const session = ownValue(given, "session");
  const task = ownValue(given, "task");
  const tool = ownValue(given, "tool");
  const obstacle = ownValue(given, "obstacle");
  const call = ownValue(given, "call");
  const signal = ownValue(given, "signal");
  return {
    agent,
    ...(session === undefined
      ? {}
      : { session: boundedText(session, { path: "session", charsMax: NAME_CHARS_MAX }) }),
    ...(task === undefined
      ? {}
      : { task: boundedText(task, { path: "task", charsMax: NAME_CHARS_MAX }) }),
    ...(tool === undefined ? {} : { tool: parseToolDefinition(tool) }),
    ...(obstacle === undefined
      ? {}
      : {
          obstacle: boundedText(obstacle, { path: "obstacle", charsMax: RULING_REASON_CHARS_MAX }),
        }),
    ...(call === undefined ? {} : { call: readCall(call) }),
    ...(signal === undefined ? {} : { signal: readSignal(signal) }),
  };
}

const CALL_ID = /^cc_[0-9a-f]{32}$/;

/** Of one form, and none of another id's: whoever reads the log must not take it for one. */
function readCall(given: unknown): string {
  if (typeof given !== "string" || !CALL_ID.test(given))
    throw new TypeError('"call" is not the id of a call');
  return given;
}

/**
 * The caller's signal; of another kind than the platform's it could not be waited for. Reading it
 * here finds one that throws.
 */
export function readSignal(given: unknown): AbortSignal {
  if (!(given instanceof AbortSignal)) throw new TypeError('"signal" is not an AbortSignal');
  if (typeof given.aborted !== "boolean") throw new TypeError('"signal" cannot be read');
  return given;
}

/** How to perform, or the deny where that cannot be read. Never throws. */
export function readPerformOptions(options: unknown): PerformOptions | Denied {
  try {
    if (!isObject(options)) return {};
    const given = ownValue(options, "signal");
    return {
      signal: given === undefined ? undefined : readSignal(given),
      completesLater: ownValue(options, "completesLater") === true,
    };
  } catch (error) {
    return deny("context_invalid", messageOf(error));
  }
}

/** What to perform and how, or the deny where that cannot be read. Never throws. */
export function readPerformance<T>(given: Performance<T>): Performance<T> | Denied {
  try {
    const perform = isObject(given) ? given.perform : undefined;
    if (typeof perform !== "function") throw new TypeError("there is nothing to perform");
    const read = readPerformOptions(given);
    return "decision" in read ? read : { perform, ...read };
  } catch (error) {
    return deny("context_invalid", messageOf(error));
  }
}

const AGENT_ID = { path: "agent.id", charsMax: NAME_CHARS_MAX };

/** The last agent that was nothing but an id: most calls come from the one that called before. */
let latest: Agent = Object.freeze({ id: "" });

function readAgent(given: unknown): Agent {
  if (!isObject(given)) throw new TypeError("the call names no agent");
  const id = ownValue(given, "id");
  if (id === undefined || id === "") throw new TypeError("the call names no agent");
  if (!("name" in given || "command" in given || "parents" in given))
    return id === latest.id ? latest : (latest = Object.freeze({ id: boundedText(id, AGENT_ID) }));
  const name = readOptional(given, "name", NAME_CHARS_MAX);
  const command = readOptional(given, "command", AGENT_COMMAND_CHARS_MAX);
  const parents = ownValue(given, "parents");
  return Object.freeze({
    id: boundedText(id, AGENT_ID),
    ...(name === undefined ? {} : { name }),
    ...(command === undefined ? {} : { command }),
    ...(parents === undefined ? {} : { parents: readParents(parents) }),
  });
}

function readOptional(
  given: object,
  key: "name" | "command",
  charsMax: number,
): string | undefined {
  const value = ownValue(given, key);
  return value === undefined
    ? undefined
    : boundedText(value, { path: `agent.${key}`, charsMax, mayBeEmpty: true });
}

function readParents(given: unknown): readonly string[] {
  const ids = boundedList(given, { path: "agent.parents", itemsMax: AGENT_PARENTS_MAX });
  return Object.freeze(
    ids.map((id, at) =>
      boundedText(id, { path: `agent.parents[${at}]`, charsMax: NAME_CHARS_MAX }),
    ),
  );
}

/** Who answered, as a channel authenticated them. */
export interface Answerer {
  readonly channel: string;
  readonly subject: string;
}

/**
 * Who answered, as data of our own; what it leaves out is the fallback's. `undefined` where that is
 * nobody. Never throws.
 */
export function readAnswerer(
  given: unknown,
  fallback: Partial<Answerer> = {},
): Answerer | undefined {
  try {
    const by = isObject(given) ? given : {};
    return {
      channel: boundedText(ownValue(by, "channel") ?? fallback.channel, {
        path: "channel",
        charsMax: NAME_CHARS_MAX,
      }),
      subject: boundedText(ownValue(by, "subject") ?? fallback.subject, {
        path: "subject",
        charsMax: NAME_CHARS_MAX,
      }),
    };
  } catch {
    return undefined;
  }
}

/**
 * What layers may know of an admitted call. Whoever shows it to code that is not ours freezes it
 * first.
 */
export function factsOf(given: Omit<GateContext, "signal">, nowMs: number): Facts {
  const { agent } = given;
  const place = placeOf(given);
  return place === undefined ? { agent, nowMs } : { agent, nowMs, ...place };
}

/**
 * What a question keeps of the call, so that an edit is judged like the call itself, also after a
 * restart.
 */
export function questionContext(given: Omit<GateContext, "signal" | "agent">): {
  readonly context?: QuestionContext;
} {
  const context = placeOf(given);
  return context === undefined ? {} : { context };
}

/**
 * Where the call was made; `undefined` for nearly every call: objects that spread others cost more
 * than what judges them.
 */
function placeOf({
  session,
  task,
  tool,
}: Omit<GateContext, "signal" | "agent">): QuestionContext | undefined {
  if (session === undefined && task === undefined && tool === undefined) return undefined;
  return {
    ...(session === undefined ? {} : { session }),
    ...(task === undefined ? {} : { task }),
    ...(tool === undefined ? {} : { tool }),
  };
}
