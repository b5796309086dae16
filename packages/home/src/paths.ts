/** Paths: where the home is and what its files are called. Pure. Format: spec/home.md. */
import { isAbsolute, join, normalize } from "node:path";
import { ConsentError, quoteText } from "@acp/core";

/** What may name the home, in order of precedence. */
export interface HomeSources {
  /** Value of `--home` on the command line; `undefined` if it was not given. */
  readonly flag?: string | undefined;
  /** Value of `ACP_HOME`. */
  readonly env?: string | undefined;
  /** The user's home directory, absolute. It contains `.acp`, and `~` means it. */
  readonly homeDir: string;
  /** Absolute directory where relative paths start. Absent: a relative path is refused. */
  readonly cwd?: string | undefined;
}

/** Absolute paths of a home and its files. Format: spec/home.md §1. */
export interface HomePaths {
  /** The home itself. */
  readonly dir: string;
  /** Configuration: `config.yml`. */
  readonly configPath: string;
  /** Default policy: `policy.yml`. */
  readonly policyPath: string;
  /** Pause of all questions: `paused.json`. */
  readonly pausePath: string;
  /** Pauses of single agents: the directory `paused-agents`. */
  readonly pausedAgentsDir: string;
  /** Grants: `grants.json`. */
  readonly grantsPath: string;
  /** Key for stored questions and grants in a home without keys: `record.key`. */
  readonly recordKeyPath: string;
  /** Public halves of passkeys: `passkeys.json`. */
  readonly passkeysPath: string;
  /** What MCP servers presented when it was pinned: `tool-pins.json`. */
  readonly toolPinsPath: string;
  /** Texts of what is pinned, for people: the directory `tool-texts`. */
  readonly toolTextsDir: string;
  /** Keys: the directory `keys`. */
  readonly keysDir: string;
  /** Sealed private key: `keys/private.key`. */
  readonly privateKeyPath: string;
  /** Every public key that the home has used: `keys/public.key`. */
  readonly publicKeyPath: string;
  /** Sealed vault: `vault.json`. */
  readonly vaultPath: string;
}

/**
 * Returns the home's absolute path: from the flag, else the variable, else `.acp` in the user's
 * home directory.
 *
 * @throws ConsentError `home_invalid` if the name is empty or cannot be made absolute: an empty
 * variable must not mean another place.
 */
export function resolveHome({ flag, env, homeDir, cwd }: HomeSources): string {
  return resolvePath(flag ?? env ?? join(homeDir, ".acp"), { homeDir, cwd });
}

/** Where `~` and relative paths start. */
export interface PathOrigins {
  /** The user's home directory, absolute; `~` means it. */
  readonly homeDir: string;
  /** Absolute directory where relative paths start. Absent: a relative path is refused. */
  readonly cwd?: string | undefined;
}

/**
 * Makes a path absolute; `~` and a leading `~/` mean the user's home directory.
 *
 * @throws ConsentError `home_invalid` if the path is empty, contains a NUL, names another user's
 * home, or is relative and there is no `cwd`.
 */
export function resolvePath(path: string, { homeDir, cwd }: PathOrigins): string {
  const refuse = (why: string): ConsentError =>
    new ConsentError("home_invalid", `Cannot use path ${quoteText(path)}: ${why}`);
  if (path === "") throw refuse("it is empty");
  if (path.includes("\0")) throw refuse("it has a NUL character");
  const full = path === "~" || path.startsWith("~/") ? join(homeDir, path.slice(1)) : path;
  if (full.startsWith("~")) throw refuse('"~" works only alone or as "~/"; write the full path');
  if (isAbsolute(full)) return normalize(full);
  if (cwd === undefined) throw refuse("it is relative");
  return join(cwd, full);
}

/**
 * Returns the paths of a home's files. Checks nothing; {@link openHome} does.
 *
 * @example
 * ```ts
 * import { homePaths, readVaultFile, unlockKeys } from "@acp/home";
 *
 * const paths = homePaths("/home/ada/.acp");
 * const unlocked = await unlockKeys(paths, { kind: "passphrase", passphrase });
 * const { secrets } = await readVaultFile(paths, unlocked);
 * ```
 */
export function homePaths(dir: string): HomePaths {
  const keysDir = join(dir, "keys");
  return {
    dir,
    configPath: join(dir, "config.yml"),
    policyPath: join(dir, "policy.yml"),
    pausePath: join(dir, "paused.json"),
    pausedAgentsDir: join(dir, "paused-agents"),
    grantsPath: join(dir, "grants.json"),
    recordKeyPath: join(dir, "record.key"),
    passkeysPath: join(dir, "passkeys.json"),
    toolPinsPath: join(dir, "tool-pins.json"),
    toolTextsDir: join(dir, "tool-texts"),
    keysDir,
    privateKeyPath: join(keysDir, "private.key"),
    publicKeyPath: join(keysDir, "public.key"),
    vaultPath: join(dir, "vault.json"),
  };
}

/**
 * Returns the path of the plan of a restore or move that moves this home aside. While the file is
 * there and the home is not, the change was interrupted. Format: spec/home.md §12.
 */
export function swapPath(dir: string): string {
  return `${dir}.swap`;
}
