/**
 * Answer: one event of a coding agent to one answer in its own words. Whatever goes wrong is a
 * refusal: agents read exit code 2 as "blocked", and any other failure as no hook at all.
 */
import {
  ConsentError,
  JSON_BYTES_MAX,
  actionDigest,
  escapeText,
  isJsonObject,
  parseJson,
} from "@acp/core";
import type { JsonObject, Ruling } from "@acp/core";
import type { Exit } from "../exit-codes.js";
import { failureOf, renderFailure } from "../failure.js";
import { readInput } from "../input.js";
import { askPerson } from "./ask.js";
import type { HookAnswered } from "./ask.js";
import type { HookDesk } from "./desk.js";
import { judgeCall } from "./judge.js";
import type { HookCaller, Judged } from "./judge.js";
import { logBlocked, logDecision, logOutcome } from "./log.js";
import { HOOK_PROTOCOLS, NO_DECISION, broken, namesOf, protocolOf } from "./protocols.js";
import type { FoundProtocol, HookAnswer, HookCall } from "./protocols.js";

/** What the hook's process writes, and how it ends. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: Exit;
}

/** What agents whose event nobody understands may still read. */
const UNKNOWN_EVENT: HookAnswer = ({ effect, reason }) => ({
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: effect,
    permissionDecisionReason: reason,
  },
  decision: effect,
  permission: effect,
  reason,
});

/** Characters of a refusal's text in the log. */
const NOTICE_CHARS_MAX = 1_000;
/** The longest that a hook may wait for a person: agents end theirs at some time. */
const WAIT_SECONDS_MAX = 3_600;

/**
 * Answers the event on the caller's standard input. Never rejects.
 *
 * @param signal - Aborts when nobody waits for the answer any more.
 */
export async function answerHook(
  caller: HookCaller,
  desk: HookDesk,
  signal: AbortSignal,
): Promise<HookReply> {
  let answer = UNKNOWN_EVENT;
  try {
    const event = await readEvent(caller);
    const found = protocolOf(event, caller.operands[0]);
    ({ answer } = found);
    const call = found.protocol.read(event, caller.io.env);
    if (call === undefined) return reply(NO_DECISION);
    return reply(await handle({ caller, desk, signal, event, call, found }));
  } catch (error) {
    const failure = failureOf(error);
    await logBlocked(
      desk.log,
      caller.operands[0] ?? "",
      escapeText(failure.message).slice(0, NOTICE_CHARS_MAX),
    );
    const said = answer({ effect: "deny", reason: escapeText(failure.message) });
    return { ...reply(said), stderr: `${renderFailure(failure)}\n`, exit: "usage" };
  }
}

const reply = (said: JsonObject): HookReply => ({
  stdout: `${JSON.stringify(said)}\n`,
  stderr: "",
  exit: "ok",
});

async function readEvent({ operands, io }: HookCaller): Promise<JsonObject> {
  const [agent] = operands;
  const agents = HOOK_PROTOCOLS.map((each): string => each.agent);
  if (agent !== undefined && !agents.includes(agent))
    throw broken(`no agent is called "${agent}"; known are ${agents.join(", ")}`);
  const event = parseJson(
    await readInput("-", io, { what: "the hook's event", bytesMax: JSON_BYTES_MAX }),
  );
  if (!isJsonObject(event)) throw broken("it is not a JSON object");
  return event;
}

/** An event about a command, and who answers it. */
interface Hooked {
  readonly caller: HookCaller;
  readonly desk: HookDesk;
  readonly signal: AbortSignal;
  readonly event: JsonObject;
  readonly call: HookCall;
  readonly found: FoundProtocol;
}

/**
 * Judges the command, or notes what became of it. What the agent is told is in the log before it
 * hears of it.
 */
async function handle(hooked: Hooked): Promise<JsonObject> {
  const { caller, desk, call, found } = hooked;
  const { protocol, outcome } = found;
  const waitMs = readWait(caller);
  const judged = await judgeCall(caller, call);
  const names = namesOf(hooked.event);
  const command = { agent: protocol.agent, action: judged.action, names };
  const key = JSON.stringify([
    protocol.agent,
    names["session_id"],
    names["tool_use_id"] ?? actionDigest(judged.action),
  ]);
  if (outcome !== undefined) {
    // Where a person said yes, the gate writes it down and tells that person.
    const report = desk.takeReport(key);
    await (report === undefined ? logOutcome(desk.log, command, outcome) : report(outcome));
    return NO_DECISION;
  }
  const ruling = await underPause(desk, protocol.agent, judged);
  const rewrite = ruling === judged.ruling ? judged.rewrite : undefined;
  if (rewrite !== undefined && found.canRewrite) {
    const allowed: Ruling = {
      ...ruling,
      effect: "allow",
      reason: `this runs instead: ${rewrite.command} (${rewrite.reason})`,
    };
    const said = say(hooked, allowed, rewrite.command);
    await logDecision(desk.log, command, { ruling: allowed, answer: said, rewrite });
    return said;
  }
  const hinted =
    rewrite === undefined
      ? ruling
      : { ...ruling, reason: `${ruling.reason}; this would pass: ${rewrite.command}` };
  if (ruling.effect !== "ask" || waitMs === undefined) {
    const said = say(hooked, hinted);
    await logDecision(desk.log, command, { ruling: hinted, answer: said });
    return said;
  }
  const session = typeof names["session_id"] === "string" ? { session: names["session_id"] } : {};
  const { action, terms } = judged;
  const answered = await askPerson(desk, {
    agent: protocol.agent,
    ...session,
    action,
    terms,
    waitMs,
    signal: hooked.signal,
  });
  return tell(hooked, { answered, key, hinted });
}

/**
 * A paused agent runs nothing, and while questions are paused nothing runs that a person would be
 * asked about.
 */
async function underPause(desk: HookDesk, agent: string, { ruling }: Judged): Promise<Ruling> {
  if (ruling.effect === "deny") return ruling;
  const why = await desk.pauseOf(agent, ruling.effect === "ask");
  return why === undefined ? ruling : { effect: "deny", ruleId: "paused", reason: why };
}

function say(
  { found, call }: Hooked,
  { effect, reason }: Pick<Ruling, "effect" | "reason">,
  command?: string,
): JsonObject {
  const input = command === undefined ? {} : { input: { ...call.input, command } };
  return found.answer({ effect, reason: `acp: ${escapeText(reason)}`, ...input });
}

/** Hands a person's answer on. What they wrote instead runs only where the agent takes it. */
async function tell(
  hooked: Hooked,
  {
    answered,
    key,
    hinted,
  }: { readonly answered: HookAnswered; readonly key: string; readonly hinted: Ruling },
): Promise<JsonObject> {
  const { effect, edited, report } = answered;
  if (effect === "deny")
    return say(hooked, { effect, reason: `${hinted.reason}; ${answered.reason}` });
  if (edited !== undefined && !hooked.found.canRewrite) {
    await report?.({ status: "not_performed", error: "edit_not_taken" });
    return say(hooked, {
      effect: "deny",
      reason: `a person wants this instead, and it was not run: ${edited}`,
    });
  }
  if (report !== undefined) hooked.desk.keepReport(key, report);
  return say(hooked, answered, edited);
}

function readWait({ values: { wait } }: HookCaller): number | undefined {
  if (wait === undefined) return undefined;
  const seconds = /^\d{1,4}$/.test(wait) ? Number(wait) : 0;
  if (seconds >= 1 && seconds <= WAIT_SECONDS_MAX) return seconds * 1_000;
  throw new ConsentError(
    "options_invalid",
    `Cannot wait "${wait}": give whole seconds, 1 to ${WAIT_SECONDS_MAX}`,
  );
}
