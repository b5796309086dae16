/**
 * `acp servers list`, `show`, `update` and `remove`: the packages of MCP servers that npx starts.
 * Only a person changes them, and every change is logged.
 */
import { createInterface } from "node:readline";
import { ConsentError, escapeText, logEvent, nearest, randomIds, systemClock } from "@acp/core";
import type { Home } from "@acp/home";
import { readAuditConfig } from "../logs/log-settings.js";
import type { Invocation, Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { readHomeConfig } from "../gate/config.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { readLockfile } from "../servers/lockfile.js";
import type { LockedPackage } from "../servers/lockfile.js";
import type { NpxCommand } from "../servers/npx-command.js";
import { readServerCommand, updatePinned } from "../servers/pinned-server.js";
import { holdServers, openPinStore } from "../servers/pin-store.js";
import type { Pin } from "../servers/pin-store.js";
import { describeChanges, showSpec } from "../servers/tree-change.js";
import type { TreeChange } from "../servers/tree-change.js";

/** As in config.yml: nothing else is a directory of the home. */
const NAME = /^[a-z0-9_-]{1,64}$/u;

/** Runs `acp servers list`. */
export const serversList: Run = async (invocation) => {
  const { print } = invocation;
  const home = await homeOf(invocation);
  const { config } = await readHomeConfig(home, invocation);
  const rows: { readonly name: string; readonly command: string; readonly pin: Pin | undefined }[] =
    [];
  for (const server of config?.servers ?? []) {
    const isNpx = "command" in server && wantedOf(server.name, server.command) !== undefined;
    if (!isNpx) continue;
    rows.push({
      name: server.name,
      command: server.command.join(" "),
      pin: await openPinStore(home.dir, server.name).read(),
    });
  }
  print.result(
    { servers: rows.map(({ pin, ...row }) => ({ ...row, ...(pin !== undefined && { pin }) })) },
    () =>
      rows.length === 0
        ? ["No server is started with npx"]
        : rows.map(
            ({ name, command, pin }) => `${name}  ${escapeText(command)}  ${describePin(pin)}`,
          ),
  );
  return "ok";
};

/** Runs `acp servers show`. */
export const serversShow: Run = async (invocation) => {
  const { print } = invocation;
  const name = nameOf(invocation, "show");
  const home = await homeOf(invocation);
  const store = openPinStore(home.dir, name);
  const pin = await store.read();
  if (pin === undefined) return nothing(invocation, { name, home });
  const { packages } = readLockfile(await store.readLockfile(pin), pin);
  print.result({ name, pin, packages }, () => [
    `${name}  ${describePin(pin)}`,
    ...packages.map(describePackage),
  ]);
  return "ok";
};

/** Runs `acp servers update`. */
export const serversUpdate: Run = async (invocation) => {
  const { io, print } = invocation;
  const name = nameOf(invocation, "update");
  const home = await homeOf(invocation);
  const { config, file } = await readHomeConfig(home, invocation);
  const server = (config?.servers ?? []).find((each) => each.name === name);
  const wanted =
    server !== undefined && "command" in server
      ? readServerCommand(name, server.command)
      : undefined;
  if (wanted === undefined) {
    print.notice(
      `There is no server "${name}" in ${file} that npx starts; ${await hintAt({ name, home }, invocation)}`,
    );
    return "nothing";
  }
  const signal = io.onStop();
  const updated = await updatePinned(name, wanted, {
    homeDir: home.dir,
    userHome: io.userHome,
    env: io.env,
    workspaces: [],
    signal,
    say: (text) => print.notice(text),
    ask: (change) => askPerson(change, invocation, signal),
  });
  if (updated === "changed")
    await note({ home, io }, `Server "${name}": a person updated its packages`);
  print.result({ name, updated }, () => [
    { same: "up to date", changed: print.tone("green", "updated"), refused: "left as it was" }[
      updated
    ],
  ]);
  return updated === "refused" ? "nothing" : "ok";
};

/** Runs `acp servers remove`. */
export const serversRemove: Run = async (invocation) => {
  const { io, print } = invocation;
  const name = nameOf(invocation, "remove");
  const home = await homeOf(invocation);
  await using _held = await holdServers(home.dir, io.onStop());
  if (!(await openPinStore(home.dir, name).remove()))
    return await nothing(invocation, { name, home });
  await note({ home, io }, `Server "${name}": a person removed its packages`);
  print.result({ removed: name }, () => [
    `${print.tone("green", "removed")} the packages of ${name}`,
  ]);
  return "ok";
};

function nameOf({ operands: [name] }: Invocation, command: string): string {
  if (name !== undefined && NAME.test(name)) return name;
  throw new ConsentError(
    "options_invalid",
    `Cannot continue: name the server as in config.yml, acp servers ${command} NAME`,
  );
}

function wantedOf(name: string, command: readonly string[]): NpxCommand | undefined {
  try {
    return readServerCommand(name, command);
  } catch {
    return undefined;
  }
}

interface NamedServer {
  readonly name: string;
  readonly home: Home;
}

async function nothing(invocation: Invocation, named: NamedServer): Promise<"nothing"> {
  invocation.print.notice(
    `Server "${named.name}" has no packages here; ${await hintAt(named, invocation)}`,
  );
  return "nothing";
}

/** Where the names are, and the one that was meant. */
async function hintAt({ name, home }: NamedServer, invocation: Invocation): Promise<string> {
  const { config } = await readHomeConfig(home, invocation);
  const meant = nearest(
    name,
    (config?.servers ?? []).map((each) => each.name).filter((each) => each !== name),
  );
  const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
  const list = "acp servers list";
  return `${list} shows them${hint}`;
}

async function note(
  { home, io }: { readonly home: Home; readonly io: Invocation["io"] },
  text: string,
): Promise<void> {
  await using audit = await openHomeAudit(home, { config: await readAuditConfig({ home, io }) });
  const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
  await audit.append([
    {
      ...logEvent("gate_notice", stamp, { isolation: "none", notice: "servers", text }),
      agent: "acp",
    },
  ]);
}

/** A yes is typed by a person at a terminal, after the whole list. */
async function askPerson(
  { name, packages, changes }: TreeChange,
  { io, print }: Invocation,
  signal: AbortSignal,
): Promise<boolean> {
  const lines = [
    `Server "${name}", ${packages.map(showSpec).join(", ")}:`,
    ...describeChanges(changes).map((line) => `  ${line}`),
  ];
  for (const line of lines) io.stderr.write(`${escapeText(line)}\n`);
  if (!io.stdin.isTTY) {
    print.notice("Nothing was changed: standard input is not a terminal, so nobody can agree");
    return false;
  }
  const reader = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const answer = await new Promise<string>((resolve) => {
      reader.once("close", () => resolve(""));
      signal.addEventListener("abort", () => resolve(""), { once: true });
      reader.question("Install this? Type y for yes: ", resolve);
    });
    return answer.trim() === "y";
  } finally {
    reader.close();
  }
}

function describePin(pin: Pin | undefined): string {
  return pin === undefined
    ? "not pinned yet"
    : `pinned ${pin.pinnedAt} to ${pin.packages.map(showSpec).join(", ")}, lockfile ${pin.lockfile}`;
}

function describePackage({ path, name, version, integrity, hasScripts }: LockedPackage): string {
  return `${path === `node_modules/${name}` ? name : `${path} (${name})`}@${version}  ${integrity ?? "in the archive above it"}${hasScripts ? "  ran a program" : ""}`;
}
