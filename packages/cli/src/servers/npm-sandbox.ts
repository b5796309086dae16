/**
 * npm sandbox: npm, in a sandbox that has a private home, no files of anybody, no secrets, and no
 * way but to the registries. Inside, `inside/npm-steps.cjs` runs one step after the other; what it
 * hands back is checked by those who asked.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConsentError, escapeText } from "@acp/core";
import type { JsonObject, SandboxInside } from "@acp/core";
import { createLinuxSandbox } from "@acp/sandbox-linux";
import type { LinuxSandboxedProcess } from "@acp/sandbox-linux";
import { findNpm } from "./find-npm.js";
import { LOCKFILE_BYTES_MAX } from "./lockfile.js";
import { createMessageStream } from "./message-stream.js";
import type { MessageStream } from "./message-stream.js";
import { registryHosts } from "./registries.js";
import type { Registries } from "./registries.js";
import { makeRegistryProxy } from "./registry-proxy.js";
import type { RegistryProxy } from "./registry-proxy.js";

/** What npm is run with. */
export interface NpmOptions {
  readonly registries: Registries;
  /** Where agents write: npm is not taken from there. */
  readonly workspaces: readonly string[];
  readonly signal: AbortSignal;
}

/** A step, as npm-steps.cjs takes it. */
export type NpmStep =
  | { readonly step: "resolve"; readonly manifest: string }
  | { readonly step: "install"; readonly manifest: string; readonly lockfile: string }
  | { readonly step: "scripts" | "pack" };

/** npm in its sandbox. */
export interface NpmSandbox extends AsyncDisposable {
  /** What it hands back after {@link NpmSandbox.begin}. */
  readonly output: MessageStream;
  /** Orders a step. */
  begin(step: NpmStep): void;
  /**
   * Orders a step and takes its answer.
   *
   * @throws ConsentError `config_invalid` with what npm says, where it fails.
   */
  run(step: NpmStep): Promise<JsonObject>;
  /** From now on there is no network. */
  cutNetwork(): Promise<void>;
}

/** How long one of these may take, with everything that npm loads. */
const TIME_MS = 900_000;
/** Holds a tree, and npm's cache of it. */
const SCRATCH_BYTES = 1_610_612_736;
const ANSWER_BYTES_MAX: number = 2 * LOCKFILE_BYTES_MAX;
/** Characters of what npm says that are passed on. */
const SAID_CHARS_MAX = 1_000;

/**
 * Starts it.
 *
 * @throws ConsentError `sandbox_unavailable` where there is no sandbox or no npm; `sandbox_failed`,
 *   `aborted`.
 */
export async function startNpm({
  registries,
  workspaces,
  signal,
}: NpmOptions): Promise<NpmSandbox> {
  const npm = findNpm(workspaces);
  const sandbox = createLinuxSandbox("auto", { caps: { scratchBytes: SCRATCH_BYTES } });
  const proxy = makeRegistryProxy(registryHosts(registries));
  let inside: SandboxInside | undefined;
  try {
    const started = await sandbox.spawn(
      [realpathSync(process.execPath), "/run/acp/npm-steps.cjs", npm],
      {
        onConnection: (socket) => proxy.take(socket),
        env: (found) => {
          inside = found;
          return environment(found);
        },
        files: { "npm-steps.cjs": fileURLToPath(import.meta.resolve("#npm-steps")) },
        stdio: "pipe",
        stderr: "pipe",
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIME_MS)]),
      },
    );
    return makeNpm({ started, proxy, npmrc: npmrcOf(registries, inside) });
  } catch (error) {
    await proxy.cut();
    throw error;
  }
}

interface NpmParts {
  readonly started: LinuxSandboxedProcess;
  readonly proxy: RegistryProxy;
  readonly npmrc: string;
}

function makeNpm({ started, proxy, npmrc }: NpmParts): NpmSandbox {
  const { stdin, stdout, stderr } = started;
  if (stdin === undefined || stdout === undefined)
    throw new ConsentError("sandbox_failed", "Cannot speak with npm: it has no pipes");
  stdin.on("error", () => {}); // it has ended; its output says so
  // What it says there is nobody's: a terminal would do what it reads.
  stderr?.resume();
  const output = createMessageStream(stdout);
  const begin = (step: NpmStep): void =>
    void stdin.write(`${JSON.stringify({ ...step, npmrc })}\n`);
  return {
    output,
    begin,
    async run(step) {
      begin(step);
      const answer = await output.message(ANSWER_BYTES_MAX);
      if (answer["failed"] === undefined) return answer;
      throw new ConsentError(
        "config_invalid",
        `Cannot get the packages of a server: ${explain(answer["failed"], proxy)}`,
      );
    },
    cutNetwork: () => proxy.cut(),
    async [Symbol.asyncDispose]() {
      await Promise.all([started.close(), proxy.cut()]);
    },
  };
}

function explain(said: unknown, proxy: RegistryProxy): string {
  const text = escapeText(typeof said === "string" ? said : "npm failed").slice(0, SAID_CHARS_MAX);
  const hosts = proxy.refusedHosts();
  return hosts.length === 0
    ? `npm says: ${text}`
    : `npm says: ${text}; it asked for ${hosts.join(", ")}, which is not a registry`;
}

function environment({ home }: SandboxInside): Readonly<Record<string, string>> {
  const node = realpathSync(process.execPath);
  const headers = join(dirname(dirname(node)), "include/node/node_version.h");
  return {
    HOME: home,
    PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    LANG: "C.UTF-8",
    // Without a network, programs that are built need the headers that came with node.
    ...(existsSync(headers) && { npm_config_nodedir: dirname(dirname(node)) }),
  };
}

/** All that npm is told; what a setting of the system says otherwise does not hold. */
function npmrcOf({ main, scopes }: Registries, inside: SandboxInside | undefined): string {
  const proxy = `http://127.0.0.1:${inside?.port ?? 0}`;
  const settings = {
    registry: main,
    ...Object.fromEntries(
      Object.entries(scopes).map(([scope, address]) => [`${scope}:registry`, address]),
    ),
    proxy,
    "https-proxy": proxy,
    noproxy: "",
    "ignore-scripts": true,
    "lockfile-version": 3,
    "package-lock": true,
    "omit-lockfile-registry-resolved": false,
    "replace-registry-host": "never",
    omit: "dev",
    audit: false,
    fund: false,
    "update-notifier": false,
    progress: false,
    color: false,
    loglevel: "error",
    "fetch-retries": 1,
    "fetch-retry-mintimeout": 1_000,
    "fetch-retry-maxtimeout": 2_000,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${String(value)}\n`)
    .join("");
}
