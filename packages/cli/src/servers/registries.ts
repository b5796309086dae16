/**
 * Registries: where packages come from, by the person's own setting. Never by a project's: an agent
 * writes that. Secrets of the file are not read.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import { runProgram, trustedPath, trustedProgram } from "@acp/host";
import { findNpm } from "./find-npm.js";

/** Addresses of registries, each with a slash at its end. */
export interface Registries {
  readonly main: string;
  /** By scope, with its `@`. */
  readonly scopes: Readonly<Record<string, string>>;
}

/** Where they are read from. */
export interface RegistrySources {
  readonly userHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where agents write. */
  readonly workspaces: readonly string[];
}

const NPM_MS = 30_000;
const BYTES_MAX = 262_144;
const SCOPES_MAX = 64;
const LINE = /^\s*(?:(@[a-z0-9~][a-z0-9._~-]*):)?registry\s*=\s*(.*?)\s*$/u;

/**
 * Reads `~/.npmrc`, `npm_config_registry` of the environment, and what npm says by itself.
 *
 * @throws ConsentError `config_invalid` where the file is one that an agent could have written, or
 *   a setting is not the address of a registry.
 */
export async function readRegistries({
  userHome,
  env,
  workspaces,
}: RegistrySources): Promise<Registries> {
  const file = join(userHome, ".npmrc");
  let main: string | undefined;
  const scopes: Record<string, string> = {};
  for (const line of readLines(file, workspaces)) {
    const setting = LINE.exec(line);
    if (setting === null) continue;
    const [, scope, value = ""] = setting;
    const address = readAddress(value.replace(/^(["'])(.*)\1$/u, "$2"), file);
    if (scope === undefined) main = address;
    else scopes[scope] = address;
  }
  if (Object.keys(scopes).length > SCOPES_MAX)
    throw refused(file, `it names more than ${SCOPES_MAX} registries`);
  const named = env["npm_config_registry"];
  // Under `npm run` the variables of npm are what a project's .npmrc says.
  if (named !== undefined && named !== "" && env["npm_execpath"] === undefined)
    main = readAddress(named, "npm_config_registry");
  return { main: main ?? (await systemRegistry(workspaces)), scopes };
}

/** What npm says where no person has a setting: the system's, or its own. */
async function systemRegistry(workspaces: readonly string[]): Promise<string> {
  const node = trustedProgram(realpathSync(process.execPath), { workspaces });
  if ("reason" in node) throw refused("npm", node.reason);
  const args = [findNpm(workspaces), "config", "get", "registry", "--userconfig=/dev/null"];
  const { stdout, failure } = await runProgram(node, args, {
    env: { HOME: "/", PATH: "/usr/bin:/bin" },
    timeoutMs: NPM_MS,
  });
  if (failure !== undefined) throw refused("npm", failure);
  return readAddress(stdout.trim(), "npm");
}

/** The registry that a package has to come from. */
export function registryOf(name: string, { main, scopes }: Registries): string {
  const [scope = ""] = name.split("/", 1);
  return name.startsWith("@") && Object.hasOwn(scopes, scope) ? (scopes[scope] ?? main) : main;
}

/** Hosts of all of them, as `host:port`. */
export function registryHosts({ main, scopes }: Registries): readonly string[] {
  return [...new Set([main, ...Object.values(scopes)].map(hostOf))];
}

/** `host:port` of an address. */
export function hostOf(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

function readAddress(value: string, place: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !["https:", "http:"].includes(url.protocol) || value.includes("${"))
    throw refused(place, "its registry is not an address that begins with https: or http:");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw refused(place, "its registry's address has more than a host and a path");
  return url.href.endsWith("/") ? url.href : `${url.href}/`;
}

function readLines(file: string, workspaces: readonly string[]): readonly string[] {
  const real = trustedPath(file, { workspaces });
  if (typeof real !== "string") {
    if (real.isMissing) return [];
    throw refused(file, real.reason);
  }
  const fd = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    if (!found.isFile() || found.size > BYTES_MAX)
      throw refused(file, `it is not a file of at most ${BYTES_MAX} bytes`);
    return readFileSync(fd, "utf8").split(/\r?\n/u);
  } finally {
    closeSync(fd);
  }
}

function refused(place: string, why: string): ConsentError {
  return new ConsentError(
    "config_invalid",
    `Cannot find out from "${place}" which registry packages come from: ${why}`,
  );
}
