/**
 * docs/how-to/channels/web.md: its program is run as it stands there, by itself, and answered as
 * the page answers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { readStream } from "./page.js";

const page = readFileSync(new URL("../../../docs/how-to/channels/web.md", import.meta.url), "utf8");
const program = /```js\n(\/\/ inbox\.mjs\n[^]*?)```/.exec(page)?.[1] ?? "";
const here = fileURLToPath(new URL("..", import.meta.url));
const patience = { timeout: 120_000, interval: 20 };
const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0).toReversed()) stop();
});

/** A port that was free a moment ago: the program's origin has its port in its name. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/**
 * Runs the program in a folder from which it finds the packages that this one has; resolves once it
 * says where to sign in.
 */
async function run(): Promise<() => string> {
  mkdirSync(join(here, "temp"), { recursive: true });
  const folder = mkdtempSync(join(here, "temp", "guide-"));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "inbox.mjs"), program);
  for (;;) {
    const child = spawn(process.execPath, [join(folder, "inbox.mjs")], {
      env: { ...process.env, PORT: String(await freePort()) },
    });
    stops.push(() => void child.kill());
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (said += String(chunk)));
    await expect.poll(() => said, patience).toMatch(/#code=[\w-]+\n|EADDRINUSE/);
    // Somebody else took the port in between.
    if (!said.includes("EADDRINUSE")) return () => said;
  }
}

async function answer(decision: "approved" | "denied"): Promise<string> {
  const said = await run();
  const [, origin = "", code] = /(http:\/\/localhost:\d+)\/#code=([\w-]+)/.exec(said()) ?? [];
  const headers = { origin, "content-type": "application/json", "x-acp-inbox": "1" };
  const signed = await fetch(`${origin}/api/session`, {
    method: "POST",
    headers,
    body: JSON.stringify({ code }),
  });
  const { key } = (await signed.json()) as { readonly key: string };
  const cookie = signed.headers.get("set-cookie")?.split(";")[0] ?? "";
  const post = async (
    path: string,
    body: object,
  ): Promise<{ readonly ticket: string; readonly status: string }> => {
    const sent = {
      method: "POST",
      headers: { ...headers, cookie, "x-acp-inbox": key },
      body: JSON.stringify(body),
    };
    return (await (await fetch(origin + path, sent)).json()) as {
      readonly ticket: string;
      readonly status: string;
    };
  };
  const stream = readStream(
    await fetch(`${origin}/api/events`, { headers: { cookie, "x-acp-inbox": key } }),
  );
  let id: string | undefined;
  while (id === undefined) {
    const event = await stream.next();
    if (event === undefined) throw new Error(`the stream ended: ${said()}`);
    if (event !== "comment")
      id = (event.event === "hello" ? event.data.open[0] : event.data)?.request.id;
  }
  const { ticket } = await post("/api/answers/prepare", { request_id: id, decision });
  expect(await post("/api/answers", { ticket })).toMatchObject({ status: "final" });
  await stream.cancel();
  await expect.poll(said, patience).toMatch(/written: .*\n/);
  return said().trim().split("\n").at(-1) ?? "";
}

describe("docs/how-to/channels/web.md", () => {
  it("gets to the first approval", async () => {
    expect(await answer("approved")).toBe("written: hello");
  });

  it("writes nothing where the answer is no", async () => {
    expect(await answer("denied")).toMatch(/^not written: /);
  });
});
