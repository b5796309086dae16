/**
 * Lockfile: npm's list of a whole tree of packages, read strictly. Every package has to come from
 * its registry, with a SHA-512 of its bytes; what comes from a repository, another host, or a
 * directory is refused. Pure.
 */
import { createHash } from "node:crypto";
import { ConsentError, isJsonObject, parseJson } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import type { PackageSpec } from "./npx-command.js";
import { hostOf, registryOf } from "./registries.js";
import type { Registries } from "./registries.js";

/** A package of a tree. */
export interface LockedPackage {
  /** Where it lies, e.g. `node_modules/a/node_modules/b`. */
  readonly path: string;
  /** What it is called in its registry; another name than that of its path where it is an alias. */
  readonly name: string;
  readonly version: string;
  /** `sha512-…`; left out for what lies in the archive of the package above it. */
  readonly integrity?: string;
  /** Whether it runs a program when it is installed. */
  readonly hasScripts: boolean;
  /** Whether it may be absent: made for another system. */
  readonly isOptional: boolean;
}

/** A lockfile. */
export interface Lockfile {
  readonly text: string;
  /** `sha256:` and the hexadecimal digest of its bytes. */
  readonly digest: string;
  /** By path. */
  readonly packages: readonly LockedPackage[];
}

/** What a lockfile is held against. */
export interface LockfileRules {
  readonly packages: readonly PackageSpec[];
  readonly registries: Registries;
}

/** The most bytes of a lockfile. */
export const LOCKFILE_BYTES_MAX = 8_388_608;
const PACKAGES_MAX = 3_000;
const NAME = /^(?:@[a-zA-Z0-9~][\w.~-]*\/)?[a-zA-Z0-9~_][\w.~-]*$/u;
const PATH =
  /^(?:node_modules\/(?:@[a-zA-Z0-9~][\w.~-]*\/)?[a-zA-Z0-9~_][\w.~-]*(?:\/|$))+(?<!\/)$/u;
const VERSION = /^\d{1,16}\.\d{1,16}\.\d{1,16}(?:[-+][0-9A-Za-z.+-]{1,128})?$/u;
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/u;

/**
 * Reads one.
 *
 * @throws ConsentError `config_invalid` where a part of it is not as it has to be.
 */
export function readLockfile(
  text: string,
  { packages: specs, registries }: LockfileRules,
): Lockfile {
  const value = readJson(text);
  if (value["lockfileVersion"] !== 3)
    throw refused("npm made a lockfile of another version than 3; install a newer npm");
  const entries = Object.entries(objectOf(value["packages"], "packages"));
  if (entries.length > PACKAGES_MAX)
    throw refused(`it needs ${entries.length - 1} packages, more than ${PACKAGES_MAX}`);
  const packages: LockedPackage[] = [];
  for (const [path, entry] of entries)
    if (path !== "") packages.push(readEntry(path, objectOf(entry, path), registries));
  checkBundled(packages);
  for (const { name } of specs)
    if (
      !packages.some(
        ({ path, integrity }) => path === `node_modules/${name}` && integrity !== undefined,
      )
    )
      throw refused(`the package "${name}" is not in its lockfile`);
  return { text, digest: digestOf(text), packages };
}

/** `sha256:…` of a text. */
export function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** The `package.json` of a tree that has these packages. */
export function manifestOf(specs: readonly PackageSpec[]): string {
  const dependencies = Object.fromEntries(specs.map(({ name, wanted }) => [name, wanted]));
  return `${JSON.stringify({ name: "acp-server", version: "0.0.0", private: true, dependencies }, undefined, 2)}\n`;
}

/**
 * Holds what npm says it has installed against the lockfile: all of it, each with the same bytes,
 * and nothing else.
 *
 * @param hidden - `node_modules/.package-lock.json`, before any package's program has run.
 * @throws ConsentError `config_invalid`.
 */
export function checkInstalled(hidden: string, lockfile: Lockfile): void {
  const installed = objectOf(readJson(hidden)["packages"] ?? {}, "packages");
  const left = new Map(lockfile.packages.map((each) => [each.path, each]));
  for (const [path, entry] of Object.entries(installed)) {
    const { version, integrity } = objectOf(entry, path);
    const locked = left.get(path);
    if (locked === undefined || version !== locked.version || integrity !== locked.integrity)
      throw refused(
        `npm installed ${JSON.stringify(path)} differently from what its lockfile says`,
      );
    left.delete(path);
  }
  const missing = [...left.values()].find(({ isOptional }) => !isOptional);
  if (missing !== undefined) throw refused(`npm did not install "${missing.path}"`);
}

function readEntry(path: string, entry: JsonObject, registries: Registries): LockedPackage {
  const shown = JSON.stringify(path.slice(0, 256));
  if (!PATH.test(path) || path.length > 1_024)
    throw refused(`${shown} is not a place for a package`);
  const {
    name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    version,
    resolved,
    integrity,
  } = entry;
  if (entry["link"] === true)
    throw refused(`${shown} is a link to a directory, and not a package of a registry`);
  if (typeof name !== "string" || !NAME.test(name))
    throw refused(`${shown} has no name of a package`);
  if (typeof version !== "string" || !VERSION.test(version))
    throw refused(`${shown} has no version`);
  const common = {
    path,
    name,
    version,
    hasScripts: entry["hasInstallScript"] === true,
    isOptional: maybeAbsent(entry),
  };
  if (entry["inBundle"] === true && resolved === undefined && integrity === undefined)
    return common;
  checkSource({ shown, resolved, registry: registryOf(name, registries) });
  if (typeof integrity !== "string" || !INTEGRITY.test(integrity))
    throw refused(`${shown} has no sha512 of its bytes`);
  return { ...common, integrity };
}

interface Source {
  readonly shown: string;
  readonly resolved: JsonValue | undefined;
  readonly registry: string;
}

function checkSource({ shown, resolved, registry }: Source): void {
  const url =
    typeof resolved === "string" && URL.canParse(resolved) ? new URL(resolved) : undefined;
  if (url === undefined || !["https:", "http:"].includes(url.protocol))
    throw refused(`${shown} does not come from a registry`);
  // What is asked for without encryption has to be: a registry that answers with https may not lead
  // back to http.
  const isSafe = url.protocol === "https:" || registry.startsWith("http:");
  if (
    !isSafe ||
    hostOf(url.href) !== hostOf(registry) ||
    url.username !== "" ||
    url.password !== ""
  )
    throw refused(
      `${shown} comes from "${hostOf(url.href)}", and not from its registry at "${hostOf(registry)}"`,
    );
}

/** What has no sum of its own is covered by that of the package whose archive it lies in. */
function checkBundled(packages: readonly LockedPackage[]): void {
  const known = new Set(packages.map(({ path }) => path));
  for (const { path, integrity } of packages) {
    if (integrity !== undefined) continue;
    const above = path.slice(0, Math.max(0, path.lastIndexOf("/node_modules/")));
    if (!known.has(above))
      throw refused(
        `${JSON.stringify(path)} has neither a sum of its own nor a package that it lies in`,
      );
  }
}

function maybeAbsent(entry: JsonObject): boolean {
  return ["optional", "devOptional"].some((key) => entry[key] === true);
}

function readJson(text: string): JsonObject {
  if (Buffer.byteLength(text) > LOCKFILE_BYTES_MAX)
    throw refused(`its lockfile is larger than ${LOCKFILE_BYTES_MAX} bytes`);
  try {
    const value = parseJson(text, { bytesMax: LOCKFILE_BYTES_MAX });
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw refused(
      `its lockfile is not plain JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
  throw refused("its lockfile is not an object");
}

function objectOf(value: JsonValue | undefined, what: string): JsonObject {
  if (value !== undefined && isJsonObject(value)) return value;
  throw refused(`its lockfile has no list at ${JSON.stringify(what.slice(0, 256))}`);
}

function refused(why: string): ConsentError {
  return new ConsentError("config_invalid", `Cannot pin the packages of a server: ${why}`);
}
