/**
 * Hooks: answers the hooks of coding agents in the resident of their home, with the engine loaded
 * and the log and the gate open, so that an agent waits for little more than Node's start. It
 * decides exactly as a hook that answers alone.
 */
import { readFile } from "node:fs/promises";
import { openHome } from "@acp/home";
import type { CommandLine, Invocation, Io } from "../command.js";
import { EXIT_CODES } from "../exit-codes.js";
import { answerHook } from "../hook/answer.js";
import { openDesk } from "../hook/desk.js";
import type { HookDesk } from "../hook/desk.js";
import type { HookGates } from "../hook/gate.js";
import { ownHomePath } from "../home/home-source.js";
import { hasKeys } from "../home/unlock.js";

/** What hooks of a home have in a resident. */
export interface Hooks {
  /** Answers one; gives the exit code of its process. */
  answer(line: CommandLine, io: Io): Promise<number>;
  /** Closes what is open. Whoever is being answered gets a refusal. */
  close(): Promise<void>;
}

/** A desk with an open gate, for one text of the configuration. */
interface Kept {
  readonly key: string;
  readonly desk: HookDesk;
  users: number;
  isOld: boolean;
}

/** Nothing is open yet. */
export function createHooks(own: Invocation, gates: HookGates): Hooks {
  let kept: Promise<Kept | undefined> = Promise.resolve(undefined);
  const dir = ownHomePath(own);
  /** One at a time: two would open two gates. */
  const take = (io: Io): Promise<Kept | undefined> => {
    kept = kept.then(async (before): Promise<Kept | undefined> => {
      const key = await keyOf(dir, io).catch(asText);
      if (before?.key === key) return before;
      if (before !== undefined) await retire(before);
      return openKept(key, { ...own, io: { ...own.io, userHome: io.userHome } });
    });
    return kept;
  };
  const openKept = async (key: string, invocation: Invocation): Promise<Kept | undefined> => {
    const desk = openDesk(dir, invocation, gates);
    try {
      await desk.gate();
      return { key, desk, users: 0, isOld: false };
    } catch {
      await end(desk);
      return undefined;
    }
  };
  return {
    async answer(line, io) {
      const caller = { values: line.values, operands: line.operands, io };
      const held = await take(io);
      // Without a gate nobody is asked, and the log is this hook's own for a moment.
      const desk = held?.desk ?? openDesk(dir, own, gates);
      if (held !== undefined) held.users++;
      try {
        const { stdout, stderr, exit } = await answerHook(caller, desk, io.onStop());
        io.stdout.write(stdout);
        io.stderr.write(stderr);
        return EXIT_CODES[exit].code;
      } finally {
        if (held === undefined) await end(desk);
        else if (--held.users === 0 && held.isOld) await end(desk);
      }
    },
    async close() {
      const last = kept;
      kept = Promise.resolve(undefined);
      const held = await last;
      if (held !== undefined) await end(held.desk);
    },
  };
}

const asText = (error: unknown): string => String(error);

/** What was answered stays answered, however this ends. */
async function end(desk: HookDesk): Promise<void> {
  try {
    await desk[Symbol.asyncDispose]();
  } catch {
    // Whoever was asked has heard of it.
  }
}

/** Closed once nobody uses it any more. */
async function retire(before: Kept): Promise<void> {
  before.isOld = true;
  if (before.users === 0) await end(before.desk);
}

/** A desk is for one text of the configuration, one home directory of a user, and signs or not. */
async function keyOf(dir: string, { userHome }: Io): Promise<string> {
  const home = await openHome(dir);
  const text = await readFile(home.configPath, "utf8").catch((error: unknown) => String(error));
  return JSON.stringify([userHome, text, await hasKeys(home)]);
}
