import { asError } from "@acp/core";
import { describe, expect, it } from "vitest";
import { json, webServer } from "../../../test/support/web-server.js";
import { guardOf } from "./guarded-fetch.js";
import type { Guard, Resolve } from "./guarded-fetch.js";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "mcp.example": ["93.184.216.34"],
  "as.example": ["93.184.216.35", "2606:2800:220:1::2"],
  "rebound.example": ["93.184.216.35", "10.0.0.1"],
  "here.example": ["127.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  "mcp.internal": ["10.1.2.3"],
  "as.internal": ["192.168.7.7"],
  "nowhere.example": [],
};

const resolve: Resolve = (host) =>
  Promise.resolve((NAMES[host] ?? []).map((address) => ({ address, family: 4 })));

const guard = (server: string): Promise<Guard> =>
  guardOf(new URL(server), { signal: new AbortController().signal, resolve });

describe("guardOf()", () => {
  it.each([
    ["https://mcp.example/mcp", "https://as.example/token", "ok"],
    ["https://mcp.example/mcp", "http://as.example/token", "https://"],
    ["https://mcp.example/mcp", "https://user:pw@as.example/token", "username"],
    ["https://mcp.example/mcp", "https://rebound.example/token", "private"],
    ["https://mcp.example/mcp", "https://here.example/token", "loopback"],
    ["https://mcp.example/mcp", "https://127.0.0.1/token", "loopback"],
    ["https://mcp.example/mcp", "https://[::1]/token", "loopback"],
    ["https://mcp.example/mcp", "https://[::ffff:127.0.0.1]/token", "reserved"],
    ["https://mcp.example/mcp", "https://0x7f000001/token", "loopback"],
    ["https://mcp.example/mcp", "https://metadata.example/token", "reserved"],
    ["https://mcp.example/mcp", "https://nowhere.example/token", "no address"],
    ["https://mcp.internal/mcp", "https://as.internal/token", "ok"],
    ["https://mcp.internal/mcp", "https://here.example/token", "loopback"],
    ["https://mcp.internal/mcp", "http://as.internal/token", "https://"],
    ["http://127.0.0.1/mcp", "http://here.example/token", "ok"],
    ["http://127.0.0.1/mcp", "http://as.example/token", "public"],
    ["http://127.0.0.1/mcp", "https://as.internal/token", "private"],
    ["http://127.0.0.1/mcp", "https://as.example/token", "ok"],
    ["https://127.0.0.1/mcp", "http://127.0.0.1/token", "https://"],
  ])("of %s for %s says %j", async (server, address, why) => {
    const checked = (await guard(server)).check(new URL(address));
    const said = await checked.then(
      () => "ok",
      (error: unknown) => asError(error).message,
    );
    expect(said).toContain(why);
  });

  it("connects to the addresses that were checked: the name is not looked up again", async () => {
    await using server = await webServer((_asked, response) => json(response, 200, { a: 1 }));
    const { port } = new URL(server.origin);
    const at = await guard(`http://127.0.0.1:${port}/mcp`);
    // No resolver of the system knows this name.
    const response = await at.fetch(`http://here.example:${port}/x`, {
      method: "GET",
      headers: {},
    });
    expect(await response.json()).toEqual({ a: 1 });
    expect(server.asked.map(({ headers }) => headers.host)).toEqual([`here.example:${port}`]);
  });
});
