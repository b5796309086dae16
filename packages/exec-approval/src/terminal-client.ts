/**
 * TerminalClient: shows a hub's requests to a person at a terminal, one after the other, and hands
 * in what they decide. Without a terminal it speaks JSON lines. The end of the input, an empty line
 * and silence are never a yes.
 */
import { type Clock, escapeText, systemClock } from "@acp/core";
import { type ApprovalInbox, type InboxChange, createApprovalInbox } from "./approval-inbox.js";
import type { GatewayClient } from "./gateway-client.js";
import type { ApprovalDecision, ExecApprovalRequestPayload } from "./protocol.js";
import { runJsonLines } from "./terminal-json.js";
import {
  type InputStream,
  type TerminalEnd,
  type TerminalInput,
  createTerminalInput,
} from "./terminal-input.js";
import type { OutputStream } from "@acp/host";
import { type TerminalScreen, createTerminalScreen } from "./terminal-screen.js";
import {
  describeEnd,
  readTyped,
  showKeys,
  showOutcome,
  showRequest,
  showTimeLeft,
} from "./terminal-view.js";

/** Options of {@link runTerminalClient}. */
export interface TerminalClientOptions {
  /** This device's connection to the gateway; the caller connects it, before or after. */
  readonly client: GatewayClient;
  /** Id of the hub whose requests are shown. */
  readonly hubDeviceId: string;
  /** What the person types into. */
  readonly input: InputStream;
  /** Where requests are drawn. */
  readonly output: OutputStream;
  /** Ends the client, and restores the terminal. */
  readonly signal: AbortSignal;
  /**
   * `text` for a person, `json` for a program; `text` if the output is a terminal, unless given.
   */
  readonly format?: "text" | "json";
  /**
   * How long no key may be typed before a prompt appears, in milliseconds, so that keys meant for
   * something else answer nothing; 400 unless given.
   */
  readonly guardMs?: number;
  /** Source of time; the system's clock unless given. */
  readonly clock?: Clock;
}

const GUARD_MS = 400;
const TICK_MS = 1_000;

interface Session {
  readonly inbox: ApprovalInbox;
  readonly screen: TerminalScreen;
  readonly input: TerminalInput;
  readonly clock: Clock;
  readonly guardMs: number;
  readonly signal: AbortSignal;
  /** Requests that this person is through with: not shown again while they are open. */
  readonly through: Set<string>;
  readonly skipped: Set<string>;
  /** What to tell before the next request. */
  readonly notes: string[];
  /** The request on the screen. */
  shown: string | undefined;
  /** Ends the wait at hand. */
  wait: AbortController;
}

function note(session: Session, change: InboxChange): void {
  const { approvalId } = change.request;
  if (change.type === "open") {
    if (session.shown === undefined) session.wait.abort();
    return;
  }
  session.skipped.delete(approvalId);
  // This person's own answer was told already.
  if (!session.through.delete(approvalId)) session.notes.push(describeEnd(change));
  if (session.shown === approvalId || session.shown === undefined) session.wait.abort();
}

function waiting({ inbox, through }: Session): readonly ExecApprovalRequestPayload[] {
  return inbox.open().filter(({ approvalId }) => !through.has(approvalId));
}

function pick(session: Session): ExecApprovalRequestPayload | undefined {
  const open = waiting(session);
  const fresh = open.find(({ approvalId }) => !session.skipped.has(approvalId));
  if (fresh !== undefined) return fresh;
  session.skipped.clear();
  return open[0];
}

function statusOf(session: Session, { expiresAtMs }: ExecApprovalRequestPayload): string {
  const others = waiting(session).length - 1;
  return `${showTimeLeft(expiresAtMs - session.clock.now())} left${others > 0 ? ` · ${others} more waiting` : ""}`;
}

/**
 * Throws away what was typed too early; a line that was begun early is thrown away to its end.
 * False where the wait is over.
 */
async function dropEarlyInput(
  { input, screen, guardMs }: Session,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const drained = await input.drain(guardMs, signal);
    if (signal.aborted || input.over.aborted) return false;
    if (drained === "nothing") return true;
    if (drained === "lines") {
      screen.say("(ignored what was typed before this prompt)", "dim");
      return true;
    }
    screen.say("(ignored what was typed before this prompt; press Enter to begin)", "dim");
    if ((await input.readLine(signal)) === undefined) return false;
  }
}

/** One line that was begun after the prompt for this very request appeared. */
async function promptLine(
  session: Session,
  request: ExecApprovalRequestPayload,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clock, input, screen } = session;
  // What comes from a file or a pipe was not typed blindly: it is read as it stands.
  if (input.isTTY && !(await dropEarlyInput(session, signal))) return undefined;
  screen.prompt(statusOf(session, request));
  const stop = new AbortController();
  const tick = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(TICK_MS, { signal: stop.signal });
      screen.restatus(statusOf(session, request));
    }
  };
  const ticking = tick().catch(() => undefined);
  const line = await input.readLine(signal);
  screen.prompted();
  stop.abort();
  await ticking;
  // A terminal shows the Enter that ended the line; in every other case the prompt's line is still
  // open.
  if (line === undefined || !input.isTTY) screen.say("");
  return line;
}

async function decide(
  session: Session,
  request: ExecApprovalRequestPayload,
  typed: { decision: ApprovalDecision; confirmation?: string },
): Promise<void> {
  const { inbox, screen, signal, through } = session;
  const { approvalId } = request;
  through.add(approvalId);
  try {
    const outcome = await inbox.answer({ approvalId, ...typed }, { signal });
    showOutcome(screen, typed.decision, outcome);
    // Nothing was decided and the request is open: it may be answered once more.
    if (!outcome.ok) through.delete(approvalId);
  } catch (error) {
    through.delete(approvalId);
    screen.say(
      `It is unknown whether it was accepted: ${error instanceof Error ? escapeText(error.message) : "the gateway is gone"}`,
      "red",
    );
  }
}

/** Shows a request until it is answered, left or over. */
async function askPerson(session: Session, request: ExecApprovalRequestPayload): Promise<void> {
  const { screen } = session;
  const wait = session.wait.signal;
  showRequest(screen, request);
  while (!wait.aborted) {
    screen.say(showKeys(request), "bold");
    const line = await promptLine(session, request, wait);
    if (line === undefined) return;
    const typed = readTyped(request, line);
    if (typed.kind === "decide") {
      const { kind: _kind, ...decision } = typed;
      return decide(session, request, decision);
    }
    if (typed.kind === "next" && waiting(session).length > 1)
      return void session.skipped.add(request.approvalId);
    screen.say(typed.kind === "next" ? "No other request is waiting." : typed.text);
  }
}

async function work(session: Session): Promise<TerminalEnd> {
  const { input, screen, signal } = session;
  let isIdle = false;
  for (;;) {
    session.wait = new AbortController();
    for (const text of session.notes.splice(0)) screen.say(text, "dim");
    if (signal.aborted) return "aborted";
    if (input.over.aborted) return "input_over";
    const request = pick(session);
    if (request !== undefined) {
      isIdle = false;
      session.shown = request.approvalId;
      await askPerson(session, request);
      session.shown = undefined;
      continue;
    }
    if (!isIdle)
      screen.say("Nothing is waiting for an answer. Requests appear here as they arrive.", "dim");
    isIdle = true;
    const { signal: woken } = session.wait;
    if (!woken.aborted)
      await new Promise((resolve) => woken.addEventListener("abort", resolve, { once: true }));
  }
}

async function runText(
  options: TerminalClientOptions,
  inbox: ApprovalInbox,
  clock: Clock,
): Promise<TerminalEnd> {
  const { client, signal, guardMs = GUARD_MS } = options;
  const input = createTerminalInput(options.input, clock);
  const session: Session = {
    inbox,
    screen: createTerminalScreen(options.output),
    input,
    clock,
    guardMs,
    signal,
    through: new Set(),
    skipped: new Set(),
    notes: [],
    shown: undefined,
    wait: new AbortController(),
  };
  const wake = (): void => session.wait.abort();
  const unlisten = [
    inbox.onChange((change) => note(session, change)),
    client.onEvent((event) => {
      if (event.type === "disconnected")
        session.screen.say("(the gateway is unreachable; trying again)", "dim");
    }),
  ];
  signal.addEventListener("abort", wake);
  input.over.addEventListener("abort", wake);
  try {
    return await work(session);
  } finally {
    for (const stop of unlisten) stop();
    signal.removeEventListener("abort", wake);
    input.release();
  }
}

/**
 * Shows requests at a terminal and sends answers, until the signal, the end of the input or the
 * gateway ends it.
 *
 * @returns Why it ended.
 */
export async function runTerminalClient(options: TerminalClientOptions): Promise<TerminalEnd> {
  const { client, hubDeviceId, input, output, clock = systemClock } = options;
  const gone = new AbortController();
  const unwatch = client.onEvent(({ type }) => {
    if (type === "closed") gone.abort();
  });
  const signal = AbortSignal.any([options.signal, gone.signal]);
  using inbox = createApprovalInbox({ client, hubDeviceId, clock });
  const format = options.format ?? (output.isTTY === true ? "text" : "json");
  try {
    const end =
      format === "json"
        ? await runJsonLines({ inbox, input: createTerminalInput(input, clock), output, signal })
        : await runText({ ...options, signal }, inbox, clock);
    return gone.signal.aborted ? "gateway_gone" : end;
  } finally {
    unwatch();
  }
}
