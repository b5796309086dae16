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

/** None runs yet. */
export function createSharedServers(
  { io, print }: Invocation,
  { servers, version }: { readonly servers: Servers; readonly version: string },
): SharedServers {
  const all = new Map<string, { readonly name: string; readonly shared: SharedServer }>();
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
      // What was configured otherwise before has no clients to come.
      for (const [other, { shared }] of all)
        if (other !== key && !shared.isRunning()) all.delete(other);
      const shared = all.get(key)?.shared ?? start(server, masker);
      // The vault may have more by now than when the one before was started.
      if (masker !== undefined && !shared.isRunning()) shared.learn({ masker });
      all.set(key, { name, shared });
      return {
        name,
        ...(limits !== undefined && { limits }),
        start: () => Promise.resolve(shared.connect()),
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
