/**
 * Exchange kit: a folder that takes turns with a link to somebody's keys, and starts of an agent in
 * it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { chown } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isConsentError } from "@acp/core";
import type { LinuxSandbox } from "../src/parts.js";
import { PATH, textOf } from "./namespace-kit.js";

const EXCHANGE = fileURLToPath(new URL("fixtures/exchange.py", import.meta.url));
/**
 * Seen once in 12 where nothing looked: enough that luck is no explanation. Many attempts end at
 * the first look, which finds a link.
 */
export const STARTS: number = process.env["ACP_DEEP"] === "1" ? 300 : 24;
const ATTEMPTS_MAX = 100 * STARTS;

/** A folder that is not always what it was. */
export interface Turns extends Disposable {
  /** What the link leads to; there is a file `key` in it. */
  readonly home: string;
  readonly folder: string;
}

/** Makes it, and begins. */
export async function makeTurns(scratch: string, owner: number | undefined): Promise<Turns> {
  const [home, folder, link] = [
    join(scratch, "home"),
    join(scratch, "folder"),
    join(scratch, "link"),
  ];
  for (const path of [home, folder]) mkdirSync(path);
  writeFileSync(join(home, "key"), "the key");
  symlinkSync(home, link);
  if (owner !== undefined)
    for (const path of [home, folder, join(home, "key")]) await chown(path, owner, owner);
  const child: ChildProcess = spawn("python3", [EXCHANGE, folder, link], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout ?? child, "data");
  return { home, folder, [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

/** Looks for the key in all ways; says nothing where there is none. */
export function lookFor({ home, folder }: Turns): string {
  return `(ls -A ${folder}; cat ${folder}/key; ls -A ${home}; cat ${home}/key) 2>/dev/null; cat key 2>/dev/null`;
}

/**
 * Tries to start, again and again, and says how often that worked and everything that was printed
 * inside.
 */
export async function startMany(
  sandbox: LinuxSandbox,
  script: string,
): Promise<{ readonly started: number; readonly output: string }> {
  let [started, output] = [0, ""];
  for (let attempt = 0; started < STARTS && attempt < ATTEMPTS_MAX; attempt++) {
    try {
      const agent = await sandbox.spawn(["/bin/sh", "-c", script], {
        onConnection: (socket) => socket.destroy(),
        env: () => ({ PATH }),
        stdio: "pipe",
      });
      agent.stdin?.end();
      output += await textOf(agent);
      await agent.exited;
      started++;
    } catch (error) {
      if (!isConsentError(error) || !["options_invalid", "sandbox_failed"].includes(error.code))
        throw error;
    }
  }
  return { started, output };
}
