/** Ways to a server for a suite that knows nothing but addresses. */
import { spawn } from "node:child_process";
import { createServer, request as httpRequest } from "node:http";
import type { Server } from "node:http";
import { createInterface } from "node:readline";
import type { McpCaller } from "@acp/proxy-mcp";
import { createMcpListener } from "@acp/proxy-mcp";

export interface Door extends AsyncDisposable {
  readonly url: string;
}

/**
 * A program that speaks on its pipes, at an address: each session has a process of its own, and no
 * byte is judged. What differs through it with a gate and without is the gate's doing.
 */
export async function stdioDoor(
  command: readonly string[],
  { env, cwd }: { readonly env?: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Door> {
  const [program = "", ...args] = command;
  const caller: McpCaller = { agent: { id: "suite" }, key: "suite" };
  const listener = createMcpListener({
    credentials: { find: () => caller, holds: () => true },
    serve(connection) {
      const child = spawn(program, args, { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
      for (const stream of [connection, child.stdin, child.stdout])
        stream.on("error", () => undefined);
      connection.pipe(child.stdin);
      child.stdout.pipe(connection);
    },
    log: () => undefined,
    sessionsMax: 1_000,
  });
  const port = await listener.listen(0);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

/** A program that says its address on a line of its own. */
export async function programDoor(command: readonly string[]): Promise<Door> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for await (const line of createInterface({ input: child.stdout }))
    return {
      url: line.trim(),
      async [Symbol.asyncDispose]() {
        child.kill();
        await gone;
      },
    };
  throw new Error(`${args[0]} said no address`);
}

/**
 * Adds a token to each request, which the suite does not have, and puts the listener's port where
 * its own is named.
 */
export async function tokenDoor(url: string, token: string): Promise<Door> {
  const { port, pathname } = new URL(url);
  let own = "";
  const server: Server = createServer((incoming, response) => {
    const { method, rawHeaders } = incoming;
    const outgoing = httpRequest({
      host: "127.0.0.1",
      port,
      path: pathname,
      method,
      setHost: false,
      headers: [
        ...rawHeaders.map((value) => value.replace(`:${own}`, `:${port}`)),
        "authorization",
        `Bearer ${token}`,
      ],
    });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    outgoing.on("error", () => response.destroy());
    // A client that goes away ends its request, which is how it cancels.
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  own = typeof address === "object" ? String(address?.port) : "";
  return {
    url: `http://127.0.0.1:${own}${pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
