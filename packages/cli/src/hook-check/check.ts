/**
 * Check: does the hook stop a command of the agent that is installed here? Two runs in throw-away
 * folders: one without the hook, which has to run the command, or nothing is shown; one with it,
 * which must not.
 */
import { escapeText } from "@acp/core";
import type { Invocation } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { OWN_PROGRAM } from "../own-program.js";
import { CHECKED_AGENTS } from "./agents.js";
import type { CheckedAgent } from "./agents.js";
import { findProgram, runOnce } from "./drive.js";
import type { Run } from "./drive.js";

/** What is known of an agent's hook. */
export type CheckVerdict =
  | "stopped"
  | "not_stopped"
  | "hook_not_called"
  | "not_installed"
  | "not_driven";

/** One agent, checked. */
export interface Checked {
  readonly agent: string;
  readonly verdict: CheckVerdict;
  readonly why: string;
  readonly program?: string;
  readonly note?: string;
}

/** An agent starts within seconds; a busy machine takes longer. */
const RUN_MS = 120_000;

const MEANINGS: Readonly<Record<CheckVerdict, string>> = {
  stopped: "stopped",
  not_stopped: "NOT STOPPED",
  hook_not_called: "NOT STOPPED: the hook was not called",
  not_installed: "the agent is not installed",
  not_driven: "the agent could not be driven",
};

/** Checks the named agent, or each. */
export async function checkHooks(invocation: Invocation): Promise<Exit> {
  const { operands, print, io } = invocation;
  const signal = io.onStop();
  const chosen = CHECKED_AGENTS.filter(
    ({ agent }) => operands[0] === undefined || operands[0] === agent,
  );
  const results: Checked[] = [];
  for (const agent of chosen) results.push(await checkAgent(agent, invocation, signal));
  print.result({ agents: results }, () => results.flatMap(render));
  const isBad = results.some(
    ({ verdict }) => verdict === "not_stopped" || verdict === "hook_not_called",
  );
  if (isBad) return "failed";
  return results.some(({ verdict }) => verdict === "stopped") ? "ok" : "nothing";
}

function render({ agent, verdict, why, program, note }: Checked): readonly string[] {
  return [
    `${agent}: ${MEANINGS[verdict]}`,
    `  ${escapeText(why)}`,
    ...(program === undefined ? [] : [`  program: ${escapeText(program)}`]),
    ...(note === undefined ? [] : [`  note: ${note}`]),
  ];
}

async function checkAgent(
  agent: CheckedAgent,
  { io }: Invocation,
  signal: AbortSignal,
): Promise<Checked> {
  const known = { agent: agent.agent, ...(agent.note === undefined ? {} : { note: agent.note }) };
  const found = findProgram(agent.program, io);
  if ("reason" in found) {
    const why = found.isMissing
      ? `there is no program "${agent.program}" on the PATH`
      : found.reason;
    return { ...known, verdict: "not_installed", why };
  }
  const program = found.path;
  if (agent.undrivable !== undefined)
    return { ...known, program, verdict: "not_driven", why: agent.undrivable };
  const parts = { agent, program: found, io, timeoutMs: RUN_MS, signal };
  const free = await runOnce(parts);
  if (!free.isHandedOut)
    return {
      ...known,
      program,
      verdict: "not_driven",
      why: `it asked the scripted model for no command: ${free.end}`,
    };
  if (!free.hasRun)
    return {
      ...known,
      program,
      verdict: "not_driven",
      why: `without a hook, too, it does not run the command: ${told(free)}`,
    };
  const run = await runOnce({ ...parts, hook: (acpHome) => hookLine(agent, acpHome) });
  return { ...known, program, ...verdictOf(run) };
}

function verdictOf(run: Run): Pick<Checked, "verdict" | "why"> {
  if (!run.isHandedOut)
    return {
      verdict: "not_driven",
      why: `with the hook it asked the scripted model for no command: ${run.end}`,
    };
  if (!run.isHookCalled)
    return {
      verdict: "hook_not_called",
      why: `${run.hasRun ? "the command ran" : "the command did not run"}: ${told(run)}`,
    };
  if (run.hasRun)
    return {
      verdict: "not_stopped",
      why: `the hook answered no, and the command ran: ${told(run)}`,
    };
  return {
    verdict: "stopped",
    why: `a command that ran without the hook did not run with it: ${told(run)}`,
  };
}

const told = ({ result, end }: Run): string =>
  result === undefined ? end : `the model was told: ${result}`;

/**
 * The printed command, by this very installation, in a home where nobody is asked, and without a
 * resident that would stay.
 */
function hookLine({ command }: CheckedAgent, acpHome: string): string {
  const words = [
    process.execPath,
    OWN_PROGRAM,
    ...command.split(" ").slice(1),
    "--home",
    acpHome,
  ].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return `ACP_ALONE=1 ${words.join(" ")}`;
}
