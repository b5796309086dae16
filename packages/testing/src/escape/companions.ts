/**
 * Companions: processes of the kit that run outside while attempts are made: holders of a secret,
 * targets, listeners.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fieldsOf } from "./lines.js";

const PATIENCE_MS = 120_000;

/** A process outside. */
export interface Companion {
  readonly pid: number;
  /** Stands in its command line. */
  readonly marker: string;
  /** Where in its memory the secret is, in hexadecimal. */
  readonly address: string;
  readonly isAlive: () => boolean;
  end(): Promise<void>;
}

/** How a process outside is started. */
export interface CompanionOptions {
  readonly programs: string;
  /** Who it runs as; whoever this process is unless given. */
  readonly owner: number | undefined;
  readonly cwd: string;
  readonly marker: string;
  /** A file that a victim keeps open; empty for one that keeps nothing but its memory. */
  readonly secretFile?: string;
  readonly secret?: string;
  /** `victim` unless given. */
  readonly program?: string;
  readonly args?: readonly string[];
  /** Where its output goes; read as a victim's first word unless given. */
  readonly output?: number;
}

/** Starts a process outside; a victim is ready when the promise settles. */
export async function startCompanion(options: CompanionOptions): Promise<Companion> {
  const {
    programs,
    owner,
    cwd,
    marker,
    secretFile = "",
    secret = "",
    program = "victim",
    output,
  } = options;
  const args = options.args ?? [marker, secretFile, secret];
  const as = owner === undefined ? {} : { uid: owner, gid: owner };
  const child = spawn(join(programs, program), args, {
    cwd,
    ...as,
    env: { ESCAPE_SECRET: secret },
    stdio: ["pipe", output ?? "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  child.stdin?.on("error", () => undefined);
  if (output === undefined) child.stdin?.write(secret);
  const first =
    child.stdout === null
      ? ""
      : await Promise.race([firstLine(child.stdout), exited.then(() => "")]);
  if (child.pid === undefined || (output === undefined && first === ""))
    throw new Error(`Cannot start "${program}": it ended at once`);
  return {
    pid: child.pid,
    marker,
    address: (first === "" ? undefined : fieldsOf(first)["address"]) ?? "0",
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async end() {
      child.stdin?.end();
      // A victim withdraws what it has published; one that was stopped does not come to it.
      if (program === "victim")
        await Promise.race([exited, sleep(PATIENCE_MS, undefined, { ref: false })]);
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function firstLine(stream: Readable): Promise<string> {
  let seen = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    seen += String(chunk);
    if (seen.includes("\n")) break;
  }
  return seen;
}
