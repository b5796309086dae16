/**
 * Pin store: which packages a server was pinned to, and the trees of them, in
 * `servers/NAME/packages` of the home, where no agent and no server writes. A pin names its
 * lockfile and its tree and is written last, so that a crash leaves the old one or the new one.
 * Format: spec/home.md.
 */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  ConsentError,
  isConsentError,
  isJsonObject,
  isoTime,
  parseJson,
  systemClock,
} from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import { holdWriter, makePrivateDirectory, readPrivateFile, writeFileAtomic } from "@acp/home";
import type { HeldWriter } from "@acp/home";
import { runProgram, trustedProgram } from "@acp/host";
import { digestOf, LOCKFILE_BYTES_MAX } from "./lockfile.js";
import type { PackageSpec } from "./npx-command.js";
import type { Registries } from "./registries.js";

/** What a server was pinned to. */
export interface Pin {
  /** As they were asked for. */
  readonly packages: readonly PackageSpec[];
  readonly registries: Registries;
  /** Digest of the lockfile. */
  readonly lockfile: string;
  /** Digest of what npm wrote down as installed. */
  readonly installed: string;
  /** Name of the tree's directory. */
  readonly tree: string;
  /** ISO 8601. */
  readonly pinnedAt: string;
}

/** The packages of one server. */
export interface PinStore {
  readonly directory: string;
  /** @throws ConsentError `home_invalid` where there is one that cannot be read. */
  read(): Promise<Pin | undefined>;
  /** @throws ConsentError `home_invalid` where it is not the pin's. */
  readLockfile(pin: Pin): Promise<string>;
  /**
   * A new directory for a tree, in place of those that were never finished. Only under {@link
   * holdServers}.
   */
  makeTree(): Promise<string>;
  /**
   * Puts a tree of {@link PinStore.makeTree} in force, and removes all but it and the one before.
   * Only under {@link holdServers}.
   */
  write(
    pin: Pick<Pin, "packages" | "registries" | "installed">,
    parts: { readonly tree: string; readonly lockfile: string },
  ): Promise<Pin>;
  /** Removes everything. Only under {@link holdServers}. */
  remove(): Promise<boolean>;
}

const PIN = "pin.json";
const PIN_BYTES_MAX = 65_536;
const TREE = /^tree-[0-9a-f]{16}$/u;
const UNFINISHED = /^new-[0-9a-f]{16}$/u;
const LOCK = /^lock-[0-9a-f]{64}\.json$/u;
const DIGEST = /^sha256:[0-9a-f]{64}$/u;
const TRIES = 40;
const SYNC_MS = 60_000;

/** Where the packages of one server are. */
interface PinPlaces {
  readonly homeDir: string;
  readonly name: string;
  readonly directory: string;
}

/** Opens the packages of a server; nothing is made before there are some. */
export function openPinStore(homeDir: string, name: string): PinStore {
  const directory = join(homeDir, "servers", name, "packages");
  const places: PinPlaces = { homeDir, name, directory };
  return {
    directory,
    read: () => readPin(directory),
    readLockfile: (pin) => readLockfile(places, pin),
    makeTree: () => makeTree(places),
    write: (pin, parts) => writePin(directory, pin, parts),
    async remove() {
      const isThere = (await list(directory)).includes(PIN);
      await rm(join(directory, PIN), { force: true });
      await removeAll(directory, [TREE, LOCK, UNFINISHED]);
      return isThere;
    },
  };
}

async function readPin(directory: string): Promise<Pin | undefined> {
  const file = join(directory, PIN);
  const names = await list(directory);
  return names.includes(PIN)
    ? parsePin(await readPrivateFile(file, PIN_BYTES_MAX), file)
    : undefined;
}

async function readLockfile({ directory, name }: PinPlaces, pin: Pin): Promise<string> {
  const file = join(directory, lockName(pin.lockfile));
  const text = await readPrivateFile(file, LOCKFILE_BYTES_MAX);
  if (digestOf(text) === pin.lockfile) return text;
  throw new ConsentError(
    "home_invalid",
    `Cannot read "${file}": somebody changed it; run: acp servers remove ${name}`,
  );
}

async function makeTree({ homeDir, name, directory }: PinPlaces): Promise<string> {
  for (const path of [join(homeDir, "servers"), join(homeDir, "servers", name), directory])
    await makePrivateDirectory(path);
  await removeAll(directory, [UNFINISHED]);
  const path = join(directory, `new-${randomBytes(8).toString("hex")}`);
  await mkdir(path);
  // The directories above are private; who runs the server may be another user, who is shown
  // this one.
  await chmod(path, 0o755);
  return path;
}

async function writePin(
  directory: string,
  parts: Parameters<PinStore["write"]>[0],
  { tree, lockfile: text }: Parameters<PinStore["write"]>[1],
): Promise<Pin> {
  const before = await readPin(directory).catch(() => undefined);
  const pin: Pin = {
    ...parts,
    lockfile: digestOf(text),
    tree: basename(tree).replace("new-", "tree-"),
    pinnedAt: isoTime(systemClock.now()),
  };
  await writeFileAtomic(join(directory, lockName(pin.lockfile)), text);
  await rename(tree, join(directory, pin.tree));
  await makeDurable(join(directory, pin.tree));
  await writeFileAtomic(
    join(directory, PIN),
    `${JSON.stringify({ version: 1, ...pin }, undefined, 2)}\n`,
  );
  // A server that runs may still load files of the one before.
  const kept = before === undefined ? [pin] : [pin, before];
  await removeAll(
    directory,
    [TREE, LOCK],
    kept.flatMap((each) => [each.tree, lockName(each.lockfile)]),
  );
  return pin;
}

/** Removes what is named like that, but for what is kept. */
async function removeAll(
  directory: string,
  patterns: readonly RegExp[],
  kept: readonly string[] = [],
): Promise<void> {
  const found = (await list(directory)).filter(
    (each) => patterns.some((pattern) => pattern.test(each)) && !kept.includes(each),
  );
  for (const each of found) await rm(join(directory, each), { recursive: true, force: true });
}

/**
 * Makes this process the one that changes servers of a home, as soon as another one is done.
 *
 * @throws ConsentError `home_invalid`; the signal's reason.
 */
export async function holdServers(homeDir: string, signal: AbortSignal): Promise<HeldWriter> {
  await makePrivateDirectory(join(homeDir, "servers"));
  for (;;) {
    signal.throwIfAborted();
    try {
      return await holdWriter(join(homeDir, "servers"), TRIES);
    } catch (error) {
      if (!isConsentError(error) || error.code !== "home_busy") throw error;
    }
  }
}

function list(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new ConsentError("home_invalid", `Cannot read "${directory}": ${error.message}`, {
      cause: error,
    });
  });
}

/** A pin that outlives a power cut must not name files that did not. */
async function makeDurable(path: string): Promise<void> {
  const sync = trustedProgram("sync");
  if (!("reason" in sync)) await runProgram(sync, ["-f", path], { env: {}, timeoutMs: SYNC_MS });
}

function lockName(digest: string): string {
  return `lock-${digest.slice("sha256:".length)}.json`;
}

function parsePin(text: string, file: string): Pin {
  const value = readObject(text);
  const { version, lockfile, installed, tree, pinnedAt } = value;
  const registries = readRegistries(value["registries"]);
  const packages = readPackages(value["packages"]);
  const isRead =
    version === 1 &&
    isMatch(lockfile, DIGEST) &&
    isMatch(installed, DIGEST) &&
    isMatch(tree, TREE) &&
    typeof pinnedAt === "string";
  if (isRead && registries !== undefined && packages !== undefined)
    return { packages, registries, lockfile, installed, tree, pinnedAt };
  throw new ConsentError(
    "home_invalid",
    `Cannot read "${file}": it is not a pin; remove it with acp servers remove`,
  );
}

function readObject(text: string): JsonObject {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function readRegistries(value: JsonValue | undefined): Registries | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { main, scopes = {} } = value;
  if (typeof main !== "string" || !URL.canParse(main) || !isJsonObject(scopes)) return undefined;
  const read = Object.entries(scopes).flatMap(([scope, each]) =>
    typeof each === "string" && URL.canParse(each) ? [[scope, each] as const] : [],
  );
  return read.length === Object.keys(scopes).length
    ? { main, scopes: Object.fromEntries(read) }
    : undefined;
}

function readPackages(value: JsonValue | undefined): readonly PackageSpec[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries: readonly JsonValue[] = value;
  const read = entries.flatMap((each): readonly PackageSpec[] => {
    if (!isJsonObject(each)) return [];
    const { name, wanted } = each;
    return typeof name === "string" && typeof wanted === "string" ? [{ name, wanted }] : [];
  });
  return read.length > 0 && read.length === entries.length ? read : undefined;
}

function isMatch(value: JsonValue | undefined, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}
