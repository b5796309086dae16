/** TerminalView: how a request, its keys and its end look. */
import { CONFIRMATION_WORD, escapeText } from "@acp/core";
import type { InboxChange } from "./approval-inbox.js";
import type {
  ApprovalDecision,
  ExecApprovalRequestPayload,
  ResolveExecApprovalResult,
  RpcOutcome,
} from "./protocol.js";
import type { Ink } from "@acp/host";
import type { TerminalScreen } from "./terminal-screen.js";

/** What a typed line means. */
export type TypedDecision =
  | { readonly kind: "decide"; readonly decision: ApprovalDecision; readonly confirmation?: string }
  | { readonly kind: "next" }
  /** Nothing is decided; `text` says why. */
  | { readonly kind: "nothing"; readonly text: string };

const INKS: Readonly<Record<ExecApprovalRequestPayload["riskLevel"], Ink>> = {
  safe: "green",
  "needs-review": "yellow",
  dangerous: "red",
};
/** Rows after which the beginning has scrolled away, and the level is said once more. */
const ROWS_AT_ONCE = 30;

/** Time left as `1:05`. */
export function showTimeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Shows a request whole. */
export function showRequest(screen: TerminalScreen, request: ExecApprovalRequestPayload): void {
  const { agentId, command, cwd, riskLevel, riskReasons } = request;
  const title = `── ${riskLevel.toUpperCase()} ── an agent wants to run a command ──`;
  screen.say("");
  screen.say(title, INKS[riskLevel]);
  screen.say("command:", "bold");
  const rows = screen.quote(command);
  if (rows > ROWS_AT_ONCE)
    screen.say(
      `── end of a command of ${rows} rows · ${riskLevel.toUpperCase()} ──`,
      INKS[riskLevel],
    );
  screen.say("directory:", "bold");
  screen.quote(cwd ?? "(not given)");
  screen.say("agent:", "bold");
  screen.quote(agentId);
  if (riskReasons.length > 0) screen.say("why you are asked:", "bold");
  for (const reason of riskReasons) screen.quote(`- ${reason.replaceAll("\n", " ")}`);
}

/** The keys, in one line. */
export function showKeys({ riskLevel }: ExecApprovalRequestPayload): string {
  if (riskLevel === "dangerous")
    return `${CONFIRMATION_WORD} (the whole word) allow once · d deny · n next`;
  return "o allow once · a allow always · d deny · n next";
}

/**
 * Reads a typed line. Only what is certain is a yes; a dangerous command takes the whole word, and
 * is never allowed for good.
 */
export function readTyped({ riskLevel }: ExecApprovalRequestPayload, line: string): TypedDecision {
  const typed = line.trim();
  const isDangerous = riskLevel === "dangerous";
  switch (typed) {
    case "":
      return { kind: "nothing", text: "An empty line decides nothing." };
    case "d":
    case "deny":
      return { kind: "decide", decision: "deny" };
    case "n":
    case "next":
      return { kind: "next" };
    case CONFIRMATION_WORD:
      if (isDangerous) return { kind: "decide", decision: "allow-once", confirmation: typed };
      break;
    case "o":
    case "once":
      if (isDangerous)
        return {
          kind: "nothing",
          text: `Not allowed: this is dangerous, type the whole word ${CONFIRMATION_WORD}`,
        };
      return { kind: "decide", decision: "allow-once" };
    case "a":
    case "always":
      if (isDangerous)
        return {
          kind: "nothing",
          text: "Not allowed: a dangerous command is asked about every time",
        };
      return { kind: "decide", decision: "allow-always" };
  }
  return { kind: "nothing", text: `Unknown: "${escapeText(typed)}".` };
}

/** What came of a decision. */
export function showOutcome(
  screen: TerminalScreen,
  decision: ApprovalDecision,
  outcome: RpcOutcome<ResolveExecApprovalResult>,
): void {
  if (!outcome.ok)
    return screen.say(
      `Not accepted: ${escapeText(outcome.error.message)} (${escapeText(outcome.error.code)})`,
      "yellow",
    );
  const { stored, note } = outcome.payload;
  screen.say(decision === "deny" ? "→ denied" : "→ allowed", decision === "deny" ? "red" : "green");
  if (stored !== undefined) screen.say(`  in the allowlist from now on: ${escapeText(stored)}`);
  if (note !== undefined) screen.say(`  ${escapeText(note)}`);
}

const ENDS: Readonly<Record<(InboxChange & { readonly type: "ended" })["outcome"], string>> = {
  allowed: "allowed elsewhere",
  denied: "denied elsewhere",
  expired: "expired: nobody answered in time",
  cancelled: "withdrawn",
  unknown: "already answered or expired",
};

/** Characters of a command that is named, not shown. */
const NAMED_CHARS_MAX = 120;

/** One line about a request that ended without this person. */
export function describeEnd({
  request,
  outcome,
}: InboxChange & { readonly type: "ended" }): string {
  const command = escapeText(request.command);
  return `· ${command.length > NAMED_CHARS_MAX ? `${command.slice(0, NAMED_CHARS_MAX)}…` : command}: ${ENDS[outcome]}`;
}
