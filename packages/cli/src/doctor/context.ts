/**
 * Context: what examinations share: the home, the time, and what is read once for all of them. An
 * examination changes nothing.
 */
import { dirname } from "node:path";
import { asError, isConsentError } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { readConfig, unlockKeys } from "@acp/home";
import type { Config, HomePaths, Unlock } from "@acp/home";
import type { Invocation } from "../command.js";
import { placeError } from "../failure.js";
import { exists } from "../home/exists.js";
import { readUnlock } from "../home/unlock.js";

/** What an examination may look at. */
export interface DoctorContext extends Pick<Invocation, "io" | "values"> {
  readonly home: HomePaths;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Whether the past of logs is left out. */
  readonly isQuick: boolean;
  /** Whether every line of the logs is proven anew, whatever their index says. */
  readonly isFull: boolean;
  /** Whether services are called. */
  readonly isOnline: boolean;
  /** Hears how far a long examination is. */
  readonly onProgress: (what: string, percent: number) => void;
  /** The configuration, or why it does not load; `undefined` where there is no file. */
  readonly config: () => Promise<Config | Error | undefined>;
  /** The keys, or why they do not open; `undefined` where the home has none. */
  readonly keys: () => Promise<KeyPair | Error | undefined>;
}

/** What of a context is given. */
export type ContextParts = Omit<DoctorContext, "config" | "keys">;

/** Makes a context. Nobody is asked for a passphrase: an examination can run anywhere. */
export function createContext(parts: ContextParts): DoctorContext {
  return {
    ...parts,
    config: once(() => loadConfig(parts)),
    keys: once(() => openKeysOf(parts)),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

async function loadConfig({ home, io }: ContextParts): Promise<Config | Error | undefined> {
  const { configPath } = home;
  if (!(await exists(configPath))) return undefined;
  return readConfig(configPath, { homeDir: io.userHome, cwd: dirname(configPath) }).catch(
    (error: unknown) => (isConsentError(error) ? placeError(error, configPath) : asError(error)),
  );
}

async function openKeysOf({
  home,
  io,
  values,
}: ContextParts): Promise<KeyPair | Error | undefined> {
  if (!(await exists(home.privateKeyPath))) return undefined;
  try {
    // INVARIANT: nobody is asked; `find` gives no terminal.
    const unlock: Unlock = await readUnlock(home, { io, values }, () => undefined);
    return await unlockKeys(home, unlock);
  } catch (error) {
    return asError(error);
  }
}
