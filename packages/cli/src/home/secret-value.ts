/**
 * Secret values: what a person types and nobody sees, or what stands on standard input. Never an
 * argument: those stand in process lists and histories.
 */
import type { Invocation } from "../command.js";
import { askHidden, terminalOf } from "./hidden-prompt.js";
import { readInput } from "../input.js";

/** What is asked for. */
export interface SecretQuestion {
  readonly name: string;
  readonly bytesMax: number;
}

/** The value, without the line end that `echo` adds. */
export async function readSecretValue(
  { name, bytesMax }: SecretQuestion,
  { io }: Pick<Invocation, "io">,
): Promise<string> {
  using terminal = terminalOf(io);
  if (terminal !== undefined) return await askHidden(terminal, `Value of ${name}: `);
  return (await readInput("-", io, { what: "value", bytesMax })).replace(/\r?\n$/, "");
}
