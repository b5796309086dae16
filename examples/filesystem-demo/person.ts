/**
 * Who answers: the person at this terminal through the same user interface as `acp approve`, or the
 * scripted approver.
 */
import { join } from "node:path";
import { attachApprovers, runApproverUi } from "@acp/channel-terminal";
import type { ApproverClients } from "@acp/channel-terminal";
import { answerAs } from "./scripted-approver.js";
import type { Step } from "./steps.js";

/** Somebody who answers questions. */
export interface Person extends AsyncDisposable {
  readonly isScripted: boolean;
  /** Who it is, for whoever watches. */
  readonly introduction: string;
  /** What they may try with a call; nothing for a script. */
  hint(step: Step): string | undefined;
  /** Answers what is asked until the call is over. */
  attend(step: Step, call: Promise<unknown>): Promise<void>;
}

/** Attaches to the gate. */
export async function attachPerson(home: string, signal: AbortSignal): Promise<Person> {
  const isScripted = !process.stdin.isTTY || !process.stdout.isTTY;
  const clients = await attachApprovers({ directory: join(home, "run"), signal });
  if (clients.gates() !== 1) throw new Error(`attached to ${clients.gates()} gates instead of one`);
  return {
    isScripted,
    introduction: isScripted
      ? "No terminal here: a script answers for the person (examples/filesystem-demo/scripted-approver.ts)."
      : "You are the person who is asked.",
    hint: ({ hint }) =>
      isScripted || hint === undefined ? undefined : `${hint.what}: ${hint.key}, Enter`,
    attend: (step, call) => attend({ clients, isScripted, signal }, step, call),
    [Symbol.asyncDispose]: () => clients.close(),
  };
}

interface Attached {
  readonly clients: ApproverClients;
  readonly isScripted: boolean;
  readonly signal: AbortSignal;
}

async function attend(
  { clients, isScripted, signal }: Attached,
  step: Step,
  call: Promise<unknown>,
): Promise<void> {
  const changes = clients.changes[Symbol.asyncIterator]();
  const over = call.then(
    () => undefined,
    () => undefined,
  );
  try {
    for (
      let next = await Promise.race([over, changes.next()]);
      next?.done === false;
      next = await Promise.race([over, changes.next()])
    ) {
      if (next.value.type !== "open") continue;
      if (isScripted) await answerAs(clients, next.value.question.request, step);
      else await askAtTerminal(clients, signal);
    }
  } finally {
    await changes.return?.();
  }
}

async function askAtTerminal(client: ApproverClients, signal: AbortSignal): Promise<void> {
  const { stdin: input, stdout: output, env } = process;
  input.resume(); // the question before paused it
  await runApproverUi({
    client,
    input,
    output,
    color: (env["NO_COLOR"] ?? "") === "",
    signal,
    untilIdle: true,
  });
}
