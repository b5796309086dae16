/**
 * A real MCP client whose server is the built `acp mcp` before the real file server.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import type { AnswerParts, ConsentRequest } from "@acp/core";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StdioClientTransport,
  getDefaultEnvironment,
} from "@modelcontextprotocol/sdk/client/stdio.js";
import { BIN, RESIDENT, acp } from "./harness.js";

const require = createRequire(import.meta.url);

/** Where the packages of servers are, for a sandbox that has to show them. */
export const SERVER_PACKAGES: string = fileURLToPath(
  new URL("../../../node_modules", import.meta.url),
);

/** The real file server, over the folder. */
export function fileServer(folder: string): readonly string[] {
  return [
    process.execPath,
    join(
      dirname(require.resolve("@modelcontextprotocol/server-filesystem/package.json")),
      "dist/index.js",
    ),
    folder,
  ];
}

export interface GatedOptions {
  readonly home: string;
  readonly folder: string;
  /** Options of `acp mcp` before `--`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The server's command; none leaves it to the configuration. */
  readonly server?: readonly string[];
  /** Whether the resident of the home serves it, as it does for people; that ends with the client. */
  readonly isResident?: boolean;
}

export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  /** Why the call was not made. */
  readonly code: string | undefined;
}

export interface Gated extends AsyncDisposable {
  readonly pid: number;
  readonly client: Client;
  readonly stderr: () => string;
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** Resolves when the text stands on stderr. */
  said(text: string | RegExp): Promise<void>;
}

/** Starts the client, and with it `acp mcp` and the servers. */
export async function startGated({
  home,
  folder,
  args = [],
  env,
  server = fileServer(folder),
  isResident = false,
}: GatedOptions): Promise<Gated> {
  const form = isResident ? RESIDENT : { ACP_ALONE: "1" };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, "mcp", "--home", home, ...args, ...(server.length === 0 ? [] : ["--", ...server])],
    cwd: folder,
    env: { ...getDefaultEnvironment(), ...form, ...env },
    stderr: "pipe",
  });
  let said = "";
  const watchers = new Set<() => void>();
  transport.stderr?.on("data", (chunk) => {
    said += String(chunk);
    for (const watch of watchers) watch();
  });
  const client = new Client({ name: "acp-test", version: "1.0.0" });
  await client.connect(transport);
  return {
    pid: transport.pid ?? 0,
    client,
    stderr: () => said,
    async call(name, given) {
      const {
        content,
        isError,
        _meta: meta,
      } = await client.callTool({ name, arguments: { ...given } });
      const first: unknown = Array.isArray(content) ? content[0] : undefined;
      const denied = meta?.["acp/denied"];
      const code =
        typeof denied === "object" && denied !== null && "code" in denied
          ? String(denied.code)
          : undefined;
      const text =
        typeof first === "object" && first !== null && "text" in first ? String(first.text) : "";
      return { text, isError: isError === true, code };
    },
    said: (wanted) =>
      new Promise((resolve) => {
        const watch = (): void => {
          if (typeof wanted === "string" ? !said.includes(wanted) : !wanted.test(said)) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
    async [Symbol.asyncDispose]() {
      await client.close();
      if (isResident) await acp(["resident", "stop", "--home", home]);
    },
  };
}

type Said = Omit<AnswerParts, "nowMs" | "channel">;

/** Does the work while an approver in this process answers every question the same way. */
export async function answering<T>(
  home: string,
  parts: Said | ((request: ConsentRequest) => Said),
  work: () => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const clients = await attachApprovers({ directory: join(home, "run"), signal: stop.signal });
  const answer = async (): Promise<void> => {
    for await (const change of clients.changes) {
      if (change.type === "open")
        await clients.answer(
          makeResponse(change.question.request, {
            ...(typeof parts === "function" ? parts(change.question.request) : parts),
            nowMs: Date.now(),
            channel: "terminal",
          }),
        );
    }
  };
  const answered = answer();
  try {
    return await work();
  } finally {
    stop.abort();
    await clients.close();
    await answered;
  }
}
