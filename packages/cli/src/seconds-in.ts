/** Seconds in: loaded by clients that must start fast, so it imports nothing. */

/** The longest wait that a command takes. */
const SECONDS_MAX = 3_600;

/** A number of seconds; a wait that is none is refused where the command line is read. */
export function secondsIn(text: string | undefined, otherwise: number): number {
  const seconds = Number(text ?? otherwise);
  return seconds > 0 && seconds <= SECONDS_MAX ? seconds : otherwise;
}
