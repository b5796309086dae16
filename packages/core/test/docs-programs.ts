/**
 * The Python programs of docs/how-to/verify-a-consent.md, as they stand there, and whether this
 * machine can run them.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the repository, by its path from the root. */
export const readRepository = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** Writes `verify_consent.py` and `verify_passkey.py` into a folder. */
export function writePrograms(folder: string): void {
  const programs = readRepository("docs/how-to/verify-a-consent.md").matchAll(
    /```python\n("""(\w+\.py) [^]*?)```/g,
  );
  for (const [, program = "", name = ""] of programs) writeFileSync(join(folder, name), program);
}

/** Whether both programs are here, and openssl signs raw messages (3.0 or later). */
export function hasPrograms(): boolean {
  try {
    execFileSync("python3", ["-c", "import hashlib, json, decimal"]);
    return /^OpenSSL [3-9]/.test(execFileSync("openssl", ["version"], { encoding: "utf8" }));
  } catch {
    return false;
  }
}
