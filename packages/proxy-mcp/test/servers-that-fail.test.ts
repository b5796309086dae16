import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createMcpProxy } from "../src/index.js";
import { ALLOW_ALL, ASK_ALL, proxied, scripted } from "./support/proxied.js";
import { pipes } from "./support/line-client.js";

const node = (code: string): { readonly name: string; readonly command: readonly string[] } => ({
  name: "fs",
  command: [process.execPath, "-e", code],
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).startsWith(
      "Z",
    );
  } catch {
    return false;
  }
}

describe("a server that never starts", () => {
  it("answers initialize with the reason when its command does not exist, then the connection ends", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: ["/nonexistent/server"] }],
    });
    const answer = await p.client.request(1, "initialize", {});
    expect(answer.error).toEqual({
      code: -32603,
      message:
        'Cannot start server "fs": command "/nonexistent/server" or its working directory does not exist',
      data: { code: "server_unavailable", server: "fs" },
    });
    expect(await p.proxy.done).toMatchObject({ reason: "upstream_failed" });
    await p.client.ended;
  });

  it("answers initialize with the exit code when it exits at once, and logs what it said", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: scripted({ exitAtStart: 4 }) }],
    });
    expect((await p.client.request(1, "initialize", {})).error?.message).toBe(
      'Server "fs" exited with code 4',
    );
    expect(p.logs).toContain("[fs] cannot read my configuration");
    expect(await p.proxy.done).toMatchObject({
      reason: "upstream_failed",
      detail: 'Server "fs" exited with code 4',
    });
  });

  it("waits for the client's first request before it gives up, so that the client hears why", async () => {
    const p = proxied({ policy: ALLOW_ALL, upstreams: [node("process.exit(1)")] });
    while (p.logs.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await p.client.request(1, "initialize", {})).error?.message).toBe(
      'Server "fs" exited with code 1',
    );
    expect(await p.proxy.done).toMatchObject({ reason: "upstream_failed" });
  });

  it("is given up when it does not answer initialize in time", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [{ name: "fs", command: scripted({ silent: true }) }],
      startTimeoutMs: 7_000,
    });
    p.client.send({ id: 1, method: "initialize", params: {} });
    p.client.send({ id: 2, method: "ping" });
    await p.clock.advance(0);
    await p.clock.advance(7_000);
    expect((await p.client.find(({ id }) => id === 1)).message.error?.message).toBe(
      'Server "fs" did not answer "initialize" within 7000 ms',
    );
    expect((await p.client.find(({ id }) => id === 2)).message.error?.code).toBe(-32603);
    expect(await p.proxy.done).toMatchObject({ reason: "upstream_failed" });
  });
});

describe("a server that was given up", () => {
  it("is heard no more", async () => {
    const late = '{"jsonrpc":"2.0","id":1,"result":{"late":true}}';
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [
        { name: "fs", command: scripted({ silent: true, farewell: late, greeting: "up" }) },
      ],
      startTimeoutMs: 7_000,
    });
    while (!p.logs.includes("[fs] up")) await new Promise((resolve) => setImmediate(resolve));
    p.client.send({ id: 1, method: "initialize", params: {} });
    await p.clock.advance(0);
    await p.clock.advance(7_000);
    await p.proxy.done;
    await p.client.ended;
    expect(p.client.lines).toEqual([expect.stringContaining("did not answer")]);
  });
});

describe("a server that dies", () => {
  it("leaves no request unanswered: results for calls, errors for the rest, the question withdrawn", async () => {
    const p = proxied({
      policy: {
        version: "1",
        default: "allow",
        rules: [{ match: { tool: "echo" }, action: "ask" }],
      },
    });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "hang", arguments: {} } });
    p.client.send({ id: 2, method: "tools/call", params: { name: "echo", arguments: {} } });
    const { session } = await p.channel.question(0);
    p.client.send({ id: 3, method: "tools/call", params: { name: "die", arguments: {} } });
    const of = async (wanted: number): Promise<unknown> =>
      (await p.client.find(({ id }) => id === wanted)).message.result;
    const notice = { code: "server_unavailable", retryable: false };
    const later = { code: "server_unavailable", retryable: true, retryAfterMs: 1_000 };
    expect(await of(1)).toMatchObject({
      isError: true,
      _meta: {
        "acp/denied": {
          ...notice,
          reason: expect.stringContaining("whether the call took effect is not known") as string,
        },
      },
    });
    expect(await of(3)).toMatchObject({ isError: true, _meta: { "acp/denied": notice } });
    expect(await of(2)).toMatchObject({
      isError: true,
      _meta: { "acp/denied": { ...later, reason: 'Server "fs" exited with code 3' } },
    });
    expect(await session.ended).toMatchObject({ status: "cancelled" });
    await p.proxy.close();
    const completed = p.audit
      .events()
      .filter(({ eventType }) => eventType === "tool_call_completed");
    expect(completed.map(({ metadata }) => metadata.outcome)).toEqual(["failed", "failed"]);
    await p.client.ended;
  });

  it("answers requests other than calls with an error", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [node('process.stdin.once("data", () => process.kill(process.pid, "SIGKILL"))')],
    });
    expect((await p.client.request(1, "resources/list")).error).toMatchObject({
      code: -32603,
      message: 'Server "fs" was ended by SIGKILL; whether the request took effect is not known',
    });
    await p.proxy.close();
  });

  it("counts as dead when it closes its output", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [node('require("fs").closeSync(1); setInterval(() => {}, 1000)')],
    });
    expect((await p.client.request(1, "ping")).error?.message).toBe(
      'Server "fs" closed its output; whether the request took effect is not known',
    );
    await p.proxy.done;
  });
});

describe("a server whose answer is longer than a line may be", () => {
  it("gets that request an error, and serves on", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    await p.client.handshake();
    expect((await p.client.call(1, "huge", {})).error).toMatchObject({
      code: -32603,
      data: { code: "answer_too_large" },
    });
    expect((await p.client.request(2, "ping")).result).toEqual({});
    await p.proxy.close();
  });

  it("is given up when nobody can be told", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [
        node('process.stdout.write("x".repeat(11 * 1024 * 1024) + "\\n"); process.stdin.resume()'),
      ],
    });
    expect((await p.client.request(1, "ping")).error?.message).toBe(
      'Server "fs" sent a line that is too long; whether the request took effect is not known',
    );
    await p.proxy.done;
  });
});

describe("a server's stderr", () => {
  it("goes to the log only, named, escaped and cut", async () => {
    const p = proxied({
      policy: ALLOW_ALL,
      upstreams: [
        { name: "fs", command: scripted({ greeting: `\u001b[2Jhi\u202e\n${"x".repeat(5_000)}` }) },
      ],
    });
    await p.client.handshake();
    await p.proxy.close();
    expect(p.logs[0]).toBe("[fs] \\u001b[2Jhi\\u202e");
    expect(p.logs[1]).toMatch(/^\[fs\] x{2000}… \(5000 characters\)$/);
    expect(p.client.lines).toHaveLength(1);
  });
});

describe("closing", () => {
  it("ends the servers when the client closes, and its questions where no retry comes", async () => {
    const p = proxied({ policy: ASK_ALL });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    const { session } = await p.channel.question(0);
    p.client.end();
    expect(await p.proxy.done).toEqual({
      reason: "client_closed",
      detail: "the client closed the connection",
    });
    await p.client.ended;
    await p.clock.advance(60_000);
    expect(await session.ended).toMatchObject({ status: "cancelled" });
  });

  it("still carries out what was piped in before the client closed", async () => {
    const p = proxied({ policy: ALLOW_ALL });
    p.client.raw(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"piped"}}}',
    );
    p.client.end();
    expect((await p.client.find(({ id }) => id === 1)).line).toContain("piped");
    expect(await p.proxy.done).toMatchObject({ reason: "client_closed" });
  });

  it("ends a server that ignores the end of its input and SIGTERM, and what it started", async () => {
    const stubborn =
      'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("pid", process.pid, require("child_process").spawn("sleep", ["600"]).pid)';
    const p = proxied({ policy: ALLOW_ALL, upstreams: [node(stubborn)] });
    const { line } = await p.client.find((_, text) => text.includes("pid"));
    const [pid = 0, child = 0] = line.split(" ").slice(1).map(Number);
    expect(isRunning(pid) && isRunning(child)).toBe(true);
    await p.proxy.close();
    expect(isRunning(pid)).toBe(false);
    // Killed with it; on a busy machine the system may need a moment for that.
    while (isRunning(child)) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it("happens when the signal aborts", async () => {
    const stop = new AbortController();
    const p = proxied({ policy: ASK_ALL, signal: stop.signal });
    await p.client.handshake();
    p.client.send({ id: 1, method: "tools/call", params: { name: "echo", arguments: {} } });
    await p.channel.question(0);
    stop.abort();
    expect(await p.proxy.done).toEqual({ reason: "closed", detail: "the proxy was closed" });
    expect((await p.client.find(({ id }) => id === 1)).message.result).toMatchObject({
      isError: true,
    });
  });
});

describe("createMcpProxy()", () => {
  const start = (upstreams: unknown): (() => void) => {
    const { input, output } = pipes();
    return () =>
      createMcpProxy({
        gate: undefined as never,
        agent: { id: "a" },
        upstreams: upstreams as never,
        input,
        output,
        log: () => {},
      });
  };

  it.each([
    ["no server", [], "it has no server"],
    [
      "an address that others could read",
      [{ name: "web", url: "http://example.com/mcp" }],
      "its address must begin with https://",
    ],
    ["an empty command", [{ name: "a", command: [] }], "its command is empty"],
    [
      "two servers of one name",
      [
        { name: "a", command: ["x"] },
        { name: "a", command: ["y"] },
      ],
      "two servers have it",
    ],
    ["a name with two underscores", [{ name: "a__b", command: ["x"] }], "it must be"],
    ["a name that ends with one", [{ name: "a_", command: ["x"] }], "it must be"],
    ["an empty name", [{ name: "", command: ["x"] }], "it must be"],
  ])("refuses %s", (_what, upstreams, text) => {
    expect(start(upstreams)).toThrow(
      expect.objectContaining({
        code: "options_invalid",
        message: expect.stringContaining(text) as string,
      }),
    );
  });
});
