/**
 * Pinned server: a server that its configuration starts with npx is started from a tree of packages
 * that was pinned when it was first seen. Nothing of it changes by itself, and no network is needed
 * for it. Prose: docs/how-to/sandbox.md; why: docs/adr/0127-a-servers-packages-are-pinned.md.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ConsentError } from "@acp/core";
import { installPackages, resolvePackages } from "./get-packages.js";
import { readLockfile } from "./lockfile.js";
import type { Lockfile } from "./lockfile.js";
import { readNpxCommand } from "./npx-command.js";
import type { NpxCommand, PackageSpec } from "./npx-command.js";
import { holdServers, openPinStore } from "./pin-store.js";
import type { Pin, PinStore } from "./pin-store.js";
import { readRegistries } from "./registries.js";
import type { RegistrySources } from "./registries.js";
import { whyDamaged } from "./tree-check.js";
import { compareTrees, showSpec } from "./tree-change.js";
import type { TreeChange } from "./tree-change.js";
import { treeProgram } from "./tree-program.js";

/** What packages of servers are handled with. */
export interface PinParts extends RegistrySources {
  readonly homeDir: string;
  /** Asks a person whether a change may be installed. */
  readonly ask: (change: TreeChange) => Promise<boolean>;
  /** Hears what takes long, and what was done. */
  readonly say: (text: string) => Promise<void> | void;
  readonly signal: AbortSignal;
}

/** How a server is started. */
export interface PinnedServer {
  readonly argv: readonly string[];
  /**
   * The directory that it has to be able to read, where nobody may write: `packages` of a sandbox.
   */
  readonly packages: string;
}

/**
 * Gets a server ready. Where its packages are pinned and there, that is a look at them.
 *
 * @returns `undefined` where its command is not npx.
 * @throws ConsentError `config_invalid` where its packages cannot be pinned, cannot be had, or
 *   changed without a yes; `home_invalid`,
 *   `sandbox_unavailable`, `sandbox_failed`, `aborted`.
 */
export async function pinnedServer(
  name: string,
  command: readonly string[],
  parts: PinParts,
): Promise<PinnedServer | undefined> {
  const wanted = readServerCommand(name, command);
  if (wanted === undefined) return undefined;
  const store = openPinStore(parts.homeDir, name);
  const found = await store.read();
  const pin =
    found !== undefined && isSame(found.packages, wanted.packages) && isWhole(store, found)
      ? found
      : await makePin({ name, wanted, store, parts });
  const tree = join(store.directory, pin.tree);
  return { argv: treeProgram(tree, wanted), packages: tree };
}

/**
 * The packages of a server's command; `undefined` where it is not npx.
 *
 * @throws ConsentError `config_invalid` where they cannot be pinned.
 */
export function readServerCommand(
  name: string,
  command: readonly string[],
): NpxCommand | undefined {
  const wanted = readNpxCommand(command);
  if (wanted === undefined || !("reason" in wanted)) return wanted;
  const fix = `name packages of a registry, or start it outside with "sandbox: none"`;
  throw new ConsentError(
    "config_invalid",
    `Cannot pin the packages of server "${name}": ${wanted.reason}; ${fix}`,
  );
}

/** What became of an update. */
export type Updated = "same" | "changed" | "refused";

/**
 * Looks for newer packages, asks, and installs them. A server without a pin gets its first.
 *
 * @throws ConsentError As {@link pinnedServer}.
 */
export async function updatePinned(
  name: string,
  wanted: NpxCommand,
  parts: PinParts,
): Promise<Updated> {
  const store = openPinStore(parts.homeDir, name);
  const before = await store.read();
  const lockfile = await resolve({ name, wanted, store, parts });
  if (
    before?.lockfile === lockfile.digest &&
    isSame(before.packages, wanted.packages) &&
    isWhole(store, before)
  )
    return "same";
  if (before !== undefined && !(await isAgreed({ name, wanted, store, parts }, before, lockfile)))
    return "refused";
  await using _held = await holdServers(parts.homeDir, parts.signal);
  await install({ name, wanted, store, parts }, lockfile, await readRegistries(parts));
  return "changed";
}

interface Making {
  readonly name: string;
  readonly wanted: NpxCommand;
  readonly store: PinStore;
  readonly parts: PinParts;
}

async function makePin(making: Making): Promise<Pin> {
  const { name, wanted, store, parts } = making;
  const before = await store.read();
  if (before === undefined || isSame(before.packages, wanted.packages)) {
    await using _held = await holdServers(parts.homeDir, parts.signal);
    // Another start may have done all of it meanwhile.
    const pin = await store.read();
    if (pin === undefined)
      return await install(making, await resolve(making), await readRegistries(parts));
    if (isSame(pin.packages, wanted.packages))
      return isWhole(store, pin) ? pin : await reinstall(making, pin);
  }
  const [pin, lockfile] = [await store.read(), await resolve(making)];
  if (pin === undefined || !(await isAgreed(making, pin, lockfile))) {
    const fix = `ask a person to run: acp servers update ${name}`;
    throw new ConsentError(
      "config_invalid",
      `Cannot start server "${name}": its packages differ from the pinned ones, and nobody agreed to the change; ${fix}`,
    );
  }
  await using _held = await holdServers(parts.homeDir, parts.signal);
  return await install(making, lockfile, await readRegistries(parts));
}

async function isAgreed(
  { name, wanted, store, parts }: Making,
  pin: Pin,
  lockfile: Lockfile,
): Promise<boolean> {
  const before = readLockfile(await store.readLockfile(pin), pin);
  const changes = compareTrees(before, lockfile);
  // Another way to name the same packages.
  if (changes.length === 0) return true;
  return parts.ask({ name, packages: wanted.packages, lockfile: lockfile.digest, changes });
}

async function resolve({ name, wanted, parts }: Making): Promise<Lockfile> {
  await parts.say(`Server "${name}": looking up ${wanted.packages.map(showSpec).join(", ")}`);
  const { workspaces, signal } = parts;
  return resolvePackages({
    packages: wanted.packages,
    registries: await readRegistries(parts),
    workspaces,
    signal,
  });
}

/** What was pinned, from where it was pinned: nothing of it is new, so nobody is asked. */
async function reinstall(making: Making, pin: Pin): Promise<Pin> {
  const { name, store, parts } = making;
  await parts.say(
    `Server "${name}": its packages are damaged (${whyDamaged(join(store.directory, pin.tree), pin.installed) ?? ""})`,
  );
  return install(making, readLockfile(await store.readLockfile(pin), pin), pin.registries);
}

async function install(
  { name, wanted, store, parts }: Making,
  lockfile: Lockfile,
  registries: Pin["registries"],
): Promise<Pin> {
  const { workspaces, signal } = parts;
  const { packages } = wanted;
  await parts.say(`Server "${name}": installing ${lockfile.packages.length} packages`);
  const tree = await store.makeTree();
  try {
    const installed = await installPackages(
      { packages, registries, workspaces, signal },
      lockfile,
      tree,
    );
    const why = whyDamaged(tree, installed);
    if (why !== undefined)
      throw new ConsentError(
        "config_invalid",
        `Cannot install server "${name}": a package changed what npm had installed: ${why}`,
      );
    treeProgram(tree, wanted);
    const pin = await store.write(
      { packages, registries, installed },
      { tree, lockfile: lockfile.text },
    );
    await parts.say(
      `Server "${name}": pinned ${packages.map(showSpec).join(", ")} with ${lockfile.packages.length} packages, ${pin.lockfile}`,
    );
    return pin;
  } catch (error) {
    await rm(tree, { recursive: true, force: true });
    throw error;
  }
}

function isWhole(store: PinStore, pin: Pin): boolean {
  return whyDamaged(join(store.directory, pin.tree), pin.installed) === undefined;
}

function isSame(some: readonly PackageSpec[], others: readonly PackageSpec[]): boolean {
  const [one, other] = [some, others].map((specs) => specs.map(showSpec).toSorted().join("\n"));
  return one === other;
}
