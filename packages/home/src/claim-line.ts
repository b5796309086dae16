/** Claim line: one claim as a line of the claims file. Format: spec/home.md. */
import { cannot } from "./errors.js";

/** A claim as its line holds it; the text of a line is JSON of it. */
export interface Claim {
  readonly key: string;
  /** Wall time of its end. */
  readonly endMs: number;
  readonly ttlMs: number;
}

/** Returns the line of a claim, with its newline. */
export function printClaimLine({ key, endMs, ttlMs }: Claim): string {
  return `${JSON.stringify({ key, end_ms: endMs, ttl_ms: ttlMs })}\n`;
}

/**
 * Reads the line of this number. A line that holds no claim is no reason to forget what it claimed:
 * no claim is given until somebody has looked at the file.
 *
 * @throws ConsentError `home_invalid` if the line does not hold a claim.
 */
export function readClaimLine(path: string, line: string, number: number): Claim {
  try {
    const value: unknown = JSON.parse(line);
    if (
      typeof value === "object" &&
      value !== null &&
      "key" in value &&
      "end_ms" in value &&
      "ttl_ms" in value
    ) {
      const { key, end_ms: endMs, ttl_ms: ttlMs } = value;
      if (typeof key === "string" && typeof endMs === "number" && typeof ttlMs === "number")
        return { key, endMs, ttlMs };
    }
  } catch {
    // Said below.
  }
  throw cannot(
    "read",
    path,
  )(`line ${number} does not hold a claim; remove the line, or the file if no question is open`);
}
