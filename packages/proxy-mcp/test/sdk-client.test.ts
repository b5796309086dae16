/** A real client, the proxy, real servers. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { McpProxyOptions } from "../src/index.js";
import { ALLOW_ALL, ASK_ALL, type Proxied, proxied } from "./support/proxied.js";
import { sdkClient, streamTransport } from "./support/sdk-client.js";

const require = createRequire(import.meta.url);
const packageFile = (name: string, file: string): string =>
  join(dirname(require.resolve(`${name}/package.json`)), file);
const EVERYTHING = {
  name: "everything",
  command: [
    process.execPath,
    packageFile("@modelcontextprotocol/server-everything", "dist/index.js"),
    "stdio",
  ],
};
const filesystem = (
  folder: string,
): { readonly name: string; readonly command: readonly string[] } => ({
  name: "fs",
  command: [
    process.execPath,
    packageFile("@modelcontextprotocol/server-filesystem", "dist/index.js"),
    folder,
  ],
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "proxy-mcp-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(
  options: Parameters<typeof proxied>[0] & Partial<McpProxyOptions>,
): Promise<{ readonly p: Proxied; readonly client: Client }> {
  const { transport, input, output } = streamTransport();
  const p = proxied({ input, output, ...options });
  const client = sdkClient();
  await client.connect(transport);
  return { p, client };
}

const text = (result: unknown): string =>
  (result as { content: { text: string }[] }).content[0]?.text ?? "";

describe("the SDK's client", () => {
  it("sees the server's tools and reads a file that the policy allows", async () => {
    writeFileSync(join(folder, "a.txt"), "hello");
    const { p, client } = await connect({ policy: ALLOW_ALL, upstreams: [filesystem(folder)] });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("read_text_file");
    expect(
      text(
        await client.callTool({
          name: "read_text_file",
          arguments: { path: join(folder, "a.txt") },
        }),
      ),
    ).toBe("hello");
    await client.close();
    expect(await p.proxy.done).toMatchObject({ reason: "client_closed" });
  });

  it("has a file written exactly as a person edited the call", async () => {
    const { p, client } = await connect({ policy: ASK_ALL, upstreams: [filesystem(folder)] });
    const call = client.callTool({
      name: "write_file",
      arguments: { path: join(folder, "a.txt"), content: "asked" },
    });
    await (await p.channel.question(0)).approve({
      path: join(folder, "b.txt"),
      content: "approved",
    });
    await call;
    expect(readFileSync(join(folder, "b.txt"), "utf8")).toBe("approved");
    expect(() => readFileSync(join(folder, "a.txt"))).toThrow("ENOENT");
    await client.close();
  });

  it("takes a denial for a result, also of a tool whose output has a schema", async () => {
    const { client } = await connect({
      policy: { version: "1", default: "deny" },
      upstreams: [filesystem(folder)],
    });
    const tool = (await client.listTools()).tools.find(({ name }) => name === "list_directory");
    expect(tool?.outputSchema).toBeDefined();
    expect(
      await client.callTool({ name: "list_directory", arguments: { path: folder } }),
    ).toMatchObject({
      isError: true,
      _meta: { "acp/denied": { code: "policy_denied" } },
    });
    await client.close();
  });

  it('takes "pending" for a result, also of a tool whose output has a schema', async () => {
    const { p, client } = await connect({ policy: ASK_ALL, upstreams: [filesystem(folder)] });
    await client.listTools();
    const call = client.callTool({ name: "list_directory", arguments: { path: folder } });
    const question = await p.channel.question(0);
    await p.clock.advance(45_000);
    expect(await call).toMatchObject({
      isError: true,
      _meta: { "acp/pending": { requestId: question.request.id } },
    });
    await question.approve();
    expect(
      await client.callTool({ name: "list_directory", arguments: { path: folder } }),
    ).not.toHaveProperty("isError", true);
    await client.close();
  });

  it("ends the question when it aborts the call and does not ask again", async () => {
    const { p, client } = await connect({ policy: ASK_ALL, upstreams: [filesystem(folder)] });
    const abort = new AbortController();
    const call = client.callTool(
      { name: "list_directory", arguments: { path: folder } },
      undefined,
      { signal: abort.signal },
    );
    const { session } = await p.channel.question(0);
    abort.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await expect
      .poll(() => p.audit.events().some(({ eventType }) => eventType === "consent_deferred"))
      .toBe(true);
    await p.clock.advance(60_000);
    expect(await session.ended).toMatchObject({ status: "cancelled" });
    await client.close();
  });

  it("waits longer than its own time-out while progress comes", async () => {
    const { p, client } = await connect({ policy: ASK_ALL, upstreams: [filesystem(folder)] });
    // The client's own timers; the proxy's are the clock's.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let reports = 0;
    const options = {
      timeout: 60_000,
      resetTimeoutOnProgress: true,
      onprogress: () => void reports++,
    };
    const call = client.callTool(
      { name: "list_directory", arguments: { path: folder } },
      undefined,
      options,
    );
    const question = await p.channel.question(0);
    for (let wanted = 1; wanted <= 4; wanted++) {
      vi.advanceTimersByTime(50_000);
      await p.clock.advance(10_000);
      while (reports < wanted) await new Promise((resolve) => setImmediate(resolve));
    }
    await question.approve();
    expect(await call).not.toHaveProperty("isError", true);
    vi.useRealTimers();
    await client.close();
  });

  it("reaches two servers at once: tools, resources, prompts, completion, log level", async () => {
    const { client } = await connect({
      policy: ALLOW_ALL,
      upstreams: [filesystem(folder), EVERYTHING],
    });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("fs__list_directory");
    expect(names).toContain("everything__echo");
    expect(
      text(await client.callTool({ name: "everything__echo", arguments: { message: "hi" } })),
    ).toBe("Echo: hi");
    expect(text(await client.callTool({ name: "fs__list_allowed_directories" }))).toContain(folder);
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources[0]?.uri ?? "" });
    expect(contents).toHaveLength(1);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain(
      "everything__args-prompt",
    );
    expect(
      (await client.getPrompt({ name: "everything__args-prompt", arguments: { city: "Bern" } }))
        .messages,
    ).toHaveLength(1);
    const ref = { type: "ref/prompt" as const, name: "everything__completable-prompt" };
    expect(
      (await client.complete({ ref, argument: { name: "department", value: "E" } })).completion
        .values,
    ).toContain("Engineering");
    expect(await client.setLoggingLevel("error")).toEqual({});
    expect(await client.ping()).toEqual({});
    await client.close();
  });
});
