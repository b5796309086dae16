/**
 * `acp mcp review`: shows what MCP servers changed of what they present, and pins it anew where a
 * person at the terminal accepts it. Nothing else accepts a change.
 */
import { logEvent, quoteText, randomIds, systemClock } from "@acp/core";
import type { AuditEventInput, JsonObject } from "@acp/core";
import type { FileToolPins } from "@acp/home";
import { askLine } from "../ask-yes.js";
import type { Invocation, Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { readAuditConfig } from "../logs/log-settings.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { guardedPins } from "../pins/home-pins.js";
import { decideHeld, heldTexts } from "../pins/review-pins.js";
import type { Decided, HeldText } from "../pins/review-pins.js";
import { findingsIn, nameOfPin, showChange, showFinding } from "../pins/show-change.js";
import { createRollbackGuard } from "../rollback/state-guard.js";

/** Runs `acp mcp review`. */
export const mcpReview: Run = async (invocation) => {
  const { operands, print, io } = invocation;
  const [server, tool] = operands;
  const home = await homeOf(invocation);
  const guard = createRollbackGuard(home);
  const pins = guardedPins(home, guard);
  const held = await heldTexts(pins, { server, tool });
  if (print.json || !io.stdin.isTTY) {
    print.result({ held: held.map(toJson) }, () =>
      held.length === 0 ? [nothingText(server, tool)] : held.flatMap(linesOf),
    );
    if (!print.json && held.length > 0)
      print.notice("Nothing was decided: standard input is not a terminal, so nobody can agree");
    return held.some(isHeld) ? "review" : "ok";
  }
  const append = async (events: readonly AuditEventInput[]): Promise<void> => {
    // Opened for the line alone: a person takes their time.
    await using audit = await openHomeAudit(home, { config: await readAuditConfig({ home, io }) });
    await audit.append(events);
  };
  guard.heed(append, (text) => print.notice(text));
  const decided: JsonObject[] = [];
  let left = 0;
  for (const each of held) {
    for (const line of linesOf(each)) io.stderr.write(`${line}\n`);
    const answer = await askPerson(invocation, each);
    const done = answer !== undefined && (await settle(invocation, each, { pins, answer, append }));
    if (done) decided.push({ ...nameJson(each), decided: answer });
    else if (isHeld(each)) left += 1;
  }
  print.result({ decided, left }, () =>
    held.length === 0
      ? [nothingText(server, tool)]
      : [`${decided.length} decided, ${left} still held back`],
  );
  return left > 0 ? "review" : "ok";
};

interface Settling {
  readonly pins: FileToolPins;
  readonly answer: Decided;
  readonly append: (events: readonly AuditEventInput[]) => Promise<void>;
}

async function settle(
  { print }: Invocation,
  held: HeldText,
  { pins, answer, append }: Settling,
): Promise<boolean> {
  const shown = held.pin.found ?? held.pin.pin;
  const nowMs = systemClock.now();
  if (!(await decideHeld(pins, held, { decided: answer, shown, nowMs }))) {
    print.notice(
      `${nameOfPin(held.pin)} of ${quoteText(held.server)} changed again meanwhile; nothing was decided about it`,
    );
    return false;
  }
  const stamp = { id: randomIds.next("ae"), atMs: nowMs };
  const notice = answer === "accepted" ? "tool_accepted" : "tool_refused";
  const text = `A person ${answer} what the MCP server ${quoteText(held.server)} presents as ${nameOfPin(held.pin)}`;
  await append([
    {
      ...logEvent("gate_notice", stamp, {
        isolation: "none",
        notice,
        text,
        ...nameJson(held),
        shown,
      }),
      agent: "acp",
    },
  ]);
  return true;
}

async function askPerson(
  { io }: Invocation,
  { pin, before, after }: HeldText,
): Promise<Decided | undefined> {
  // What nobody can be shown, nobody can accept.
  if ((pin.found === undefined ? before : after) === undefined) return undefined;
  const answer = await askLine(
    io,
    pin.found === undefined
      ? 'Type "accept" if you have looked at it, or press Enter: '
      : 'Type "accept" to use it from now on, "refuse" to hold it back for good, or press Enter to leave it: ',
  );
  if (answer === "accept") return "accepted";
  return answer === "refuse" && pin.found !== undefined ? "refused" : undefined;
}

const isHeld = ({ pin }: HeldText): boolean => pin.found !== undefined;

function nothingText(server: string | undefined, tool: string | undefined): string {
  const what =
    tool === undefined ? "Nothing is held back" : `No tool ${quoteText(tool)} was ever listed`;
  return server === undefined ? what : `${what} of ${quoteText(server)}`;
}

function linesOf(held: HeldText): readonly string[] {
  const { server, pin, before, after } = held;
  const since = new Date(pin.atMs).toISOString();
  const how = pin.by === "person" ? `accepted ${since}` : `first seen ${since}`;
  const head = `${quoteText(server)}: ${nameOfPin(pin)}, ${how}`;
  const shown = pin.found === undefined ? before : after;
  if (shown === undefined)
    return [head, "  its text was not kept; start the server again, and list its tools", ""];
  const state = pin.found === undefined ? "is unchanged" : "changed, and is held back";
  const lost = pin.found !== undefined && before === undefined;
  return [
    `${head}, ${state}`,
    ...(lost ? ["  what it was before was not kept; this is all of it now:"] : []),
    ...showChange(pin.found === undefined ? undefined : before, shown).map((line) => `  ${line}`),
    ...findingsIn(pin, shown).map((finding) => `  ${showFinding(finding)}`),
    "",
  ];
}

const nameJson = ({ id, server, pin: { kind, name } }: HeldText): JsonObject => ({
  server,
  identity: id,
  kind,
  name,
});

function toJson(held: HeldText): JsonObject {
  const { pin, before, after } = held;
  const shown = pin.found === undefined ? before : after;
  return {
    ...nameJson(held),
    state: pin.found === undefined ? "same" : pin.found === pin.refused ? "refused" : "changed",
    pin: pin.pin,
    by: pin.by,
    at: new Date(pin.atMs).toISOString(),
    ...(pin.found !== undefined && { found: pin.found }),
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    findings: shown === undefined ? [] : findingsIn(pin, shown).map((each) => ({ ...each })),
  };
}
