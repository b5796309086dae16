/**
 * Guard of a table: loads an agent's rules and notices when another program takes them away (`nft
 * flush ruleset` at a reload of the machine's firewall does). The agent is ended first, then the
 * rules are loaded again. Between the change and the end lie milliseconds:
 * docs/explanation/what-a-sandbox-holds.md.
 */
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ConsentError, quoteText } from "@acp/core";
import { deleteTable, listTable, loadRules } from "./nft.js";
import { requireTool, startTool } from "./tools.js";

/** Rules in force. Disposing of it deletes them. */
export type TableGuard = AsyncDisposable;

/** What to guard. */
export interface GuardedTable {
  readonly table: string;
  /** See nft-rules.ts. */
  readonly rules: string;
  /**
   * Called once, before the rules are loaded again, with the reason as a sentence without its end.
   * Ends the agent.
   */
  readonly onLost: (reason: string) => void;
}

const NETLINK_NETFILTER = "12";
const LISTENING_ATTEMPTS = 1000;
const LISTENING_PAUSE_MS = 10;

/**
 * Loads the rules and guards them.
 *
 * @throws ConsentError `sandbox_failed`; then there is no table.
 */
export async function openTableGuard({ table, rules, onLost }: GuardedTable): Promise<TableGuard> {
  // First the monitor: a change that it does not see is one that nobody sees.
  const monitor = await startMonitor();
  const stop = (): void => {
    monitor.removeAllListeners();
    monitor.kill("SIGKILL");
  };
  let loaded: string;
  try {
    await loadRules(rules);
    loaded = await listLoaded(table);
  } catch (error) {
    stop();
    await deleteTable(table).catch(() => {}); // why it failed matters more
    throw error;
  }
  let isLost = false;
  const lose = async (reason: string): Promise<void> => {
    if (isLost) return;
    isLost = true;
    stop();
    onLost(reason);
    await loadRules(rules).catch(() => {}); // the agent is being ended: nothing is left to be held
  };
  const looks = oneAfterAnother(monitor, table, {
    // Not looked at first: while nft lists the rules, an agent sends.
    changed: (by) => lose(`${by ?? "another program"} changed the rules that hold the agent`),
    other: async () => {
      const now = await listTable(table).catch(() => undefined);
      if (now !== loaded) await lose("another program changed the rules that hold the agent");
    },
  });
  monitor.once("exit", () =>
    looks.add(() => lose("the watch over the rules that hold the agent ended")),
  );
  return {
    [Symbol.asyncDispose]: async () => {
      isLost = true;
      stop();
      await looks.settled();
      await deleteTable(table);
    },
  };
}

/** One after another, so that what is deleted at the end is not loaded again behind our back. */
interface Queue {
  add(work: () => Promise<void>): void;
  settled(): Promise<void>;
}

/** What the monitor's output means. */
interface Changes {
  /** Somebody touched the table. */
  changed(by: string | undefined): Promise<void>;
  /** Somebody did something else; or the monitor lost events, and the table is among them. */
  other(): Promise<void>;
}

/** Reads the monitor from where it says that our own rules were loaded. */
function oneAfterAnother(monitor: ChildProcess, table: string, { changed, other }: Changes): Queue {
  let last = Promise.resolve();
  let waiting = 0;
  let own: string | undefined = "";
  const add = (work: () => Promise<void>): void => {
    last = last.then(work);
  };
  const read = (text: string): void => {
    if (text.includes(table)) add(() => changed(nameWriter(text)));
    // a look that is still to come will see this change as well
    if (text === "" || waiting > 0) return;
    waiting += 1;
    add(() => {
      waiting -= 1;
      return other();
    });
  };
  monitor.stdout?.setEncoding("utf8").on("data", (text: string) => {
    if (own === undefined) {
      read(text);
      return;
    }
    own += text;
    const end = own.indexOf(GENERATION, own.indexOf(table));
    if (!own.includes(table) || end === -1) return;
    const rest = own.slice(end + GENERATION.length);
    own = undefined;
    read(rest.slice(rest.indexOf("\n") + 1));
  });
  return { add, settled: () => last };
}

/** What ends each transaction in the monitor's output. */
const GENERATION = "# new generation";

/** The monitor ends each transaction with `# new generation N by process PID (NAME)`. */
function nameWriter(text: string): string | undefined {
  const { pid, name } = /by process (?<pid>\d+) \((?<name>.*)\)/u.exec(text)?.groups ?? {};
  return pid === undefined || name === undefined
    ? undefined
    : `process ${pid} (${quoteText(name)})`;
}

async function listLoaded(table: string): Promise<string> {
  const listing = await listTable(table);
  if (listing === undefined)
    throw new ConsentError(
      "sandbox_failed",
      "Cannot load the rules of an agent: they are gone at once",
    );
  return listing;
}

/** Resolves when the monitor hears every change. Dies with its manager. */
async function startMonitor(): Promise<ChildProcess> {
  const command = [
    requireTool("setpriv"),
    "--pdeathsig",
    "KILL",
    "--",
    requireTool("nft"),
    "monitor",
  ];
  const monitor = startTool(command, { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise<never>((_, reject) => {
    const fail = (why: string): void =>
      reject(new ConsentError("sandbox_failed", `Cannot watch the rules of an agent: ${why}`));
    monitor.once("error", (error) => fail(error.message));
    monitor.once("exit", () => fail("nft monitor ended"));
  });
  ended.catch(() => {}); // at the end it is killed, and nobody waits any more
  try {
    await Promise.race([untilListening(monitor), ended]);
  } catch (error) {
    monitor.kill("SIGKILL");
    throw error;
  }
  return monitor;
}

/** It says nothing when it is ready; the kernel lists its socket with the groups that it joined. */
async function untilListening({ pid }: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < LISTENING_ATTEMPTS; attempt += 1) {
    const rows = readFileSync("/proc/net/netlink", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/u));
    if (
      rows.some(
        ([, protocol, port, groups]) =>
          protocol === NETLINK_NETFILTER && port === String(pid) && /[1-9a-f]/u.test(groups ?? ""),
      )
    )
      return;
    await sleep(LISTENING_PAUSE_MS);
  }
  throw new ConsentError(
    "sandbox_failed",
    "Cannot watch the rules of an agent: nft monitor does not listen",
  );
}
