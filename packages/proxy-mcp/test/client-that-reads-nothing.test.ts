/**
 * A client that stops reading: the gate goes on, holds little of what the servers say, and ends
 * when it is told to.
 */
import { spawn } from "node:child_process";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { ASK_ALL, proxied, scripted } from "./support/proxied.js";

/** A pipe as a client has it, which nobody reads. */
function unreadPipe(): { readonly output: Writable; end(): void } {
  const reader = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  return { output: reader.stdin, end: () => void reader.kill("SIGKILL") };
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const HELLO = line({
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  },
});
/** Has the server say 9 MB. */
const FLOOD = line({
  id: 1,
  method: "vendor/say",
  params: { lines: ["x".repeat(90_000)], times: 100 },
});
/** Three times as much. */
const FLOODS = [1, 11, 12].map((id) => FLOOD.replace('"id":1,', `"id":${id},`)).join("");

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a client that reads nothing", () => {
  it("holds up neither the question, nor its answer, nor the call", async () => {
    const { output, end } = unreadPipe();
    const input = new PassThrough();
    const p = proxied({ policy: ASK_ALL, input, output });
    input.write(HELLO + FLOODS);
    await until(() => output.writableLength > 0);
    input.write(line({ id: 2, method: "tools/call", params: { name: "echo", arguments: {} } }));
    await (await p.channel.question(0)).approve();
    await until(() =>
      p.audit.events().some(({ eventType }) => eventType === "tool_call_forwarded"),
    );
    // What the servers say stays with them: one pipe's worth is read, and no more.
    expect(output.writableLength).toBeLessThan(5_000_000);
    await p.proxy.close();
    expect(await p.proxy.done).toMatchObject({ reason: "closed" });
    expect(output.destroyed).toBe(true);
    end();
  });

  it("ends when it is told to, also where it is ending because the input ended", async () => {
    const { output, end } = unreadPipe();
    const input = new PassThrough();
    const p = proxied({ policy: ASK_ALL, input, output });
    input.end(HELLO + FLOOD);
    let isDone = false;
    void p.proxy.done.then(() => {
      isDone = true;
    });
    await until(() => input.readableEnded && output.writableLength > 0);
    expect(isDone).toBe(false);
    await p.proxy.close();
    expect(await p.proxy.done).toMatchObject({ reason: "client_closed" });
    end();
  });

  it("is read no more when 64 MiB wait for it", async () => {
    const output = new Writable({ highWaterMark: 1, write: () => {} });
    const input = new PassThrough();
    const p = proxied({
      policy: ASK_ALL,
      input,
      output,
      upstreams: [{ name: "fs", command: scripted({ silent: true }) }],
    });
    // Refused under its own id, which is long.
    const refused = line({ id: "x".repeat(1_000_000), method: "tools/call " });
    let written = 0;
    do {
      input.write(refused);
      written++;
    } while (await isRead(input));
    expect(written).toBeGreaterThan(64);
    expect(written).toBeLessThan(80);
    await p.proxy.close();
  });
});

/** Whether all that was written is read; a stream that is read in turns stands still for a few. */
async function isRead(input: PassThrough): Promise<boolean> {
  for (let still = 0; still < 50; still = input.isPaused() ? still + 1 : 0) {
    if (input.readableLength + input.writableLength === 0) return true;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return false;
}
