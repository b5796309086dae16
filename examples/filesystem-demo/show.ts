/**
 * The timeline as text.
 */
import type { Step } from "./steps.js";
import type { CallRecord } from "./timeline.js";

/** Prints one line. */
export const print = (line = ""): void => console.log(line);

/** What the agent is about to do. */
export function showCall(number: number, { tool, args }: Step, hint: string | undefined): void {
  print();
  print(`${number}  agent   ${tool} ${JSON.stringify(args)}`);
  if (hint !== undefined) print(`   hint    ${hint}`);
}

/** What was recorded about it, and what came back. */
export function showRecord(record: CallRecord, answer: string): void {
  const { policy, rule, person, reason, forwarded, ends, approved } = record;
  print(`   policy  ${policy} (rule ${rule})${policy === "deny" ? `: ${reason}` : ""}`);
  if (person !== undefined)
    print(`   person  ${person.replaceAll("_", " ")}${reason === "" ? "" : `: ${reason}`}`);
  if (ends === "edited") print(`   edited  ${JSON.stringify(approved)}`);
  print(`   server  ${forwarded ? answer.split("\n")[0] : "never saw the call"}`);
}
