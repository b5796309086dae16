/**
 * Kept code: what V8 made of a program, kept for the next start of the same file in the same Node.
 * It is code that runs outside of every sandbox: it lies where compiled helpers lie, where no agent
 * is ever let in, and is taken only while nobody but root and this user could have written it.
 * Anything else, and there is none; the program is then compiled from its text.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  type BigIntStats,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Script } from "node:vm";
import { trustedPath } from "@acp/host";

/** The file that is run. */
export interface ProgramFile {
  readonly path: string;
  /** Of the opened file that its text was read from. */
  readonly stats: Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs" | "ctimeNs">;
}

/** The place of a program's code. */
export interface KeptCode {
  /** Left out: there is none, it is damaged, or somebody else could have written it. */
  readonly code?: Buffer;
  /** Keeps the code of a script that has run; where that fails, the next start compiles again. */
  keep(script: Pick<Script, "createCachedData">): void;
}

const DIGEST_BYTES = 32;
const CODE_BYTES_MAX = 16 * 1024 * 1024;
/** Of other builds, and of other versions of Node. */
const KEPT_MAX = 4;
const NAME = /^program-[0-9a-f]{64}(?:\.[0-9a-f]{16})?$/u;

/**
 * Looks for it.
 *
 * @param directory - As `codeDirectory()` names it; it is not made here.
 * @returns Nothing where the directory is not there or not ours alone.
 */
export function openKeptCode(directory: string, program: ProgramFile): KeptCode | undefined {
  const place = trustedPath(directory);
  if (typeof place !== "string") return undefined;
  const path = join(place, `program-${keyOf(program)}`);
  const code = readCode(path);
  return { ...(code !== undefined && { code }), keep: (script) => keepCode(place, path, script) };
}

/**
 * V8 itself refuses code of another version, of other flags, and of a text of another length: not
 * of another text. No two files have the same inode and the same time of their last change.
 */
function keyOf({ path, stats }: ProgramFile): string {
  const files = [stats, statSync(process.execPath, { bigint: true })].map(
    ({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].map(String),
  );
  const words = [path, process.execPath, process.version, process.arch, files];
  return createHash("sha256").update(JSON.stringify(words)).digest("hex");
}

function readCode(path: string): Buffer | undefined {
  try {
    if (trustedPath(path) !== path) return undefined;
    const kept = readFileSync(path);
    const code = kept.subarray(DIGEST_BYTES);
    return kept.subarray(0, DIGEST_BYTES).equals(digestOf(code)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** A power cut may leave half of a file, and V8 crashes on code that is damaged. */
function digestOf(code: Uint8Array): Buffer {
  return createHash("sha256").update(code).digest();
}

function keepCode(place: string, path: string, script: Pick<Script, "createCachedData">): void {
  try {
    const code = script.createCachedData();
    if (code.length > CODE_BYTES_MAX) return;
    const old = readdirSync(place).filter((name) => NAME.test(name));
    if (old.length >= KEPT_MAX) for (const name of old) rmSync(join(place, name), { force: true });
    const made = `${path}.${randomBytes(8).toString("hex")}`;
    writeFileSync(made, Buffer.concat([digestOf(code), code]), { mode: 0o600, flag: "wx" });
    renameSync(made, path);
  } catch {
    // it saves time and decides nothing
  }
}
