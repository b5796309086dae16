/**
 * `acp approve`: answers the questions of every running gate of the home; by hand, one by its id,
 * or only watching.
 */
import { runApproverUi } from "@acp/channel-terminal";
import type { ApproverClients, OpenQuestion } from "@acp/channel-terminal";
import type { QuestionOutcome } from "@acp/channel-web";
import { ConsentError, encodeRequest, isConsentError, makeResponse } from "@acp/core";
import type { AnswerReceipt, Decision } from "@acp/core";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { homeOf, ownHomePath } from "../home/home-source.js";
import { awaitOutcome } from "../outcomes/await-outcome.js";
import { followOutcomes } from "../outcomes/logged-outcomes.js";
import { showsColour } from "../printer.js";
import type { Printer } from "../printer.js";
import { attachToGates } from "../gate/run-directory.js";
import { startForApprover } from "../resident/start-for.js";

/** Runs the command. */
export const approve: Run = (invocation) => {
  const { values, flags, print, io } = invocation;
  if (values.once !== undefined) return answerOne(invocation, values.once);
  for (const name of ["approve", "deny"] as const)
    if (flags.has(name))
      throw usage(`Cannot use --${name} alone: name the question with --once ID`);
  for (const name of ["reason", "word", "offer"] as const)
    if (values[name] !== undefined)
      throw usage(`Cannot use --${name} alone: name the question with --once ID`);
  if (print.json) return watch(invocation);
  // Lines of a file or a pipe were written before the question was seen: they are no answers to it.
  if (!io.stdin.isTTY)
    throw usage(
      "Cannot ask you: standard input is not a terminal; answer with acp approve --once ID --approve, or watch with --json",
    );
  return ask(invocation);
};

function usage(message: string): ConsentError {
  return new ConsentError("options_invalid", message);
}

async function ask(invocation: Invocation): Promise<Exit> {
  const { io, print } = invocation;
  const signal = io.onStop();
  await startForApprover(await homeOf(invocation), invocation);
  await using logs = await followOutcomes(ownHomePath(invocation));
  await using clients = await attachToGates(invocation, "approver", signal);
  const gates = clients.gates();
  print.result(undefined, () => [
    gates === 0
      ? "No gate is running yet; this joins one when it starts. Ctrl-C ends it."
      : `Attached to ${gates} ${gates === 1 ? "gate" : "gates"}. Ctrl-C ends it.`,
  ]);
  await runApproverUi({
    client: clients,
    input: io.stdin,
    output: io.stdout,
    color: showsColour(io.stdout, io.env),
    signal,
    outcomes: (ids) => logs.find(ids),
  });
  return "ok";
}

/** Every change as one JSON line, until a signal. */
async function watch(invocation: Invocation): Promise<Exit> {
  const { io, print } = invocation;
  await using clients = await attachToGates(invocation, "viewer", io.onStop());
  const changes = clients.changes[Symbol.asyncIterator]();
  for (const question of clients.pending()) printOpen(print, question);
  for (let next = await changes.next(); next.done !== true; next = await changes.next()) {
    const change = next.value;
    if (change.type === "open") printOpen(print, change.question);
    else if (change.type === "outcome")
      print.result({ type: "outcome", id: change.id, ...change.outcome }, () => []);
    else
      print.result(
        change.type === "lost" ? change : { type: "ended", id: change.id, ...change.ending },
        () => [],
      );
  }
  return "ok";
}

function printOpen(print: Printer, { request, redelivery }: OpenQuestion): void {
  print.result({ type: "open", redelivery, request: encodeRequest(request) }, () => []);
}

async function answerOne(invocation: Invocation, id: string): Promise<Exit> {
  const { print } = invocation;
  const decision = decisionOf(invocation);
  await using logs = await followOutcomes(ownHomePath(invocation));
  await using clients = await attachToGates(invocation, "approver", new AbortController().signal);
  const question = clients.pending().find(({ request }) => request.id === id);
  if (question === undefined) {
    const gates = clients.gates();
    print.result({ ok: false, id, gates }, () => [
      `No open question has the ID ${id} (${gates} ${gates === 1 ? "gate" : "gates"} asked); acp pending lists those that are open`,
    ]);
    return "nothing";
  }
  const receipt = await answer(clients, question, { decision, values: invocation.values });
  // A yes is followed to its end, and so is an answer of which nobody said what became of it: its
  // gate's log knows.
  const isYes = receipt.status === "final" && receipt.outcome.startsWith("approved");
  const outcome = isYes || receipt.status === "unknown" ? await awaitOutcome(logs, id) : undefined;
  print.result(
    {
      ok: isTaken(receipt, outcome),
      id,
      ...receiptJson(receipt),
      ...(outcome !== undefined && { logged: outcome }),
    },
    () => [
      describe(id, receipt, print),
      ...(outcome === undefined ? [] : [`${id}: ${describeOutcome(outcome)}`]),
    ],
  );
  return isTaken(receipt, outcome) ? "ok" : "failed";
}

/**
 * The gate's receipt; or that the answer was sent, and the connection was lost before the gate said
 * what became of it.
 */
type Answered = AnswerReceipt | { readonly status: "unknown"; readonly reason: string };

const isTaken = ({ status }: Answered, outcome: QuestionOutcome | undefined): boolean =>
  status !== "refused" && (status !== "unknown" || outcome !== undefined);

const RUNS: Readonly<Record<NonNullable<QuestionOutcome["run"]>["state"], string>> = {
  waiting: "the agent has not collected the approval yet",
  started: "it is running",
  ran: "it ran",
  failed: "it ran and failed",
  not_run: "it was not run",
  not_collected: "it did not run, because the agent did not collect the approval in time",
  unknown: "it is unknown whether it ran: check whether it happened",
};

function describeOutcome({ status, run }: QuestionOutcome): string {
  const error = run?.error === undefined ? "" : ` (${run.error})`;
  return `the log says ${status.replaceAll("_", " ")}${run === undefined ? "" : `; ${RUNS[run.state]}${error}`}`;
}

function decisionOf({ flags, values }: Invocation): Decision {
  const [yes, no] = [flags.has("approve"), flags.has("deny")];
  if (yes === no)
    throw usage(
      `Cannot answer with --once: give ${yes ? "only one of" : "one of"} --approve and --deny`,
    );
  for (const name of ["word", "offer"] as const)
    if (no && values[name] !== undefined)
      throw usage(`Cannot use --${name} with --deny: it works only with --approve`);
  return yes ? "approved" : "denied";
}

async function answer(
  clients: ApproverClients,
  { request }: OpenQuestion,
  { decision, values }: { readonly decision: Decision; readonly values: Invocation["values"] },
): Promise<Answered> {
  const { reason, word, offer } = values;
  const claim = makeResponse(request, {
    decision,
    nowMs: Date.now(),
    channel: "terminal",
    ...(reason !== undefined && { reason }),
    ...(word !== undefined && { confirmation: word }),
    ...(offer !== undefined && { grantId: offer }),
  });
  try {
    return await clients.answer(claim);
  } catch (error) {
    if (!isConsentError(error, "channel_failed")) throw error;
    return { status: "unknown", reason: error.message };
  }
}

function receiptJson(receipt: Answered): object {
  return receipt.status === "reshow"
    ? { status: receipt.status, request: encodeRequest(receipt.request) }
    : receipt;
}

function describe(id: string, receipt: Answered, print: Printer): string {
  switch (receipt.status) {
    case "final":
      return `${id}: ${print.tone(receipt.outcome === "denied" ? "red" : "green", receipt.outcome)}`;
    case "counted":
      return `${id}: counted, ${receipt.have} of ${receipt.need}`;
    case "reshow":
      return `${id}: asked again as ${receipt.request.id}`;
    case "refused":
      return `${id}: ${print.tone("red", "refused")}: ${receipt.reason} [${receipt.code}]`;
    case "unknown":
      return `${id}: ${print.tone("yellow", "not known")} whether it was accepted: ${receipt.reason}; acp audit show shows the outcome`;
    default:
      return receipt satisfies never;
  }
}
