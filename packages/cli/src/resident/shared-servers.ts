/**
 * Shared servers: processes that the clients of a resident have in common, where the configuration
 * says so. Each has what the configuration says and nothing of any client: neither its variables nor
 * its directory. Rules: spec/mcp-proxy.md §21.
 */
import { createHash } from "node:crypto";
import type { CommandServer } from "@acp/home";
import { createSharedServer } from "@acp/proxy-mcp";
import type { LocalUpstream, SharedServer, SharedServerOptions } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import type { Servers } from "./servers.js";

/** The shared servers of a resident. */
export interface SharedServers extends AsyncDisposable {
  /** One client's part of a server with this configuration, its variables opened. */
  of(server: CommandServer, masker: SharedServerOptions["masker"]): LocalUpstream;
  /** Has the clients of those of this name, or of all, get another process next. */
  renew(name: string | undefined): void;
  /** Names of those that run. */
  running(): readonly string[];
}

/**
 * Variables of the resident that a server needs to find programs and its files. Whatever else stands
 * in them came from the client that happened to start it.
 */
const PASSED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|XDG_[A-Z_]+)$/;

interface Kept {
  readonly name: string;
  readonly shared: SharedServer;
  /** Clients that are connected to it. */
  held: number;
}

/** None runs yet. */
export function createSharedServers(
  { io, print }: Invocation,
  { servers, version }: { readonly servers: Servers; readonly version: string },
): SharedServers {
  const all = new Map<string, Kept>();
  const start = (server: CommandServer, masker: SharedServerOptions["masker"]): SharedServer =>
    createSharedServer(
      {
        ...server,
        env: { ...passed(io.env), ...server.env },
        cwd: server.cwd ?? io.userHome,
        onStart: servers.note,
        diesWithProxy: true,
      },
      {
        clientInfo: { name: "acp", version },
        log: (line) => print.notice(line),
        ...(masker !== undefined && { masker }),
      },
    );
  return {
    of(server, masker) {
      const { name, limits } = server;
      const key = createHash("sha256").update(JSON.stringify(server)).digest("hex");
      // What this one was before has no clients to come.
      for (const [other, each] of all)
        if (other !== key && each.name === name && each.held === 0 && !each.shared.isRunning())
          all.delete(other);
      const first = all.get(key) ?? { name, shared: start(server, masker), held: 0 };
      // The vault may have more by now than when the one before was started.
      if (masker !== undefined && !first.shared.isRunning()) first.shared.learn({ masker });
      all.set(key, first);
      return {
        name,
        ...(limits !== undefined && { limits }),
        start() {
          // Never a second one beside that of another client.
          const kept = all.get(key) ?? first;
          all.set(key, kept);
          const process = kept.shared.connect();
          kept.held++;
          void process.exited.then(() => kept.held--);
          return Promise.resolve(process);
        },
      };
    },
    renew(wanted) {
      for (const { name, shared } of all.values())
        if (wanted === undefined || wanted === name) shared.renew();
    },
    running: () =>
      [...all.values()].flatMap(({ name, shared }) => (shared.isRunning() ? [name] : [])),
    async [Symbol.asyncDispose]() {
      await Promise.all([...all.values()].map(({ shared }) => shared.close()));
      all.clear();
    },
  };
}

const passed = (env: Invocation["io"]["env"]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || !PASSED.test(name) ? [] : [[name, value] as const],
    ),
  );
