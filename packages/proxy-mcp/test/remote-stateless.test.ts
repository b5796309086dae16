/** Servers at an address, spoken to without a session (2026-07-28). */
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { ASK_ALL, proxied } from "./support/proxied.js";
import { opened } from "./support/remote-client.js";
import { type Asked, echoServer, json, webServer } from "./support/web-server.js";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const withHeader = (header: string): object => ({
  name: "sql",
  inputSchema: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": header } },
  },
});
const listing =
  (header: () => string, more: (asked: Asked, response: ServerResponse) => boolean = () => false) =>
  (asked: Asked, response: ServerResponse): boolean => {
    if (more(asked, response)) return true;
    if (asked.message.method !== "tools/list") return false;
    const result = { tools: [withHeader(header())] };
    json(response, 200, { jsonrpc: "2.0", id: asked.message.id, result });
    return true;
  };
const call = (id: string, args: object, name = "sql"): object => ({
  id,
  method: "tools/call",
  params: { name, arguments: args, _meta: META },
});
const calls = (asked: readonly Asked[]): readonly Asked[] =>
  asked.filter(({ message }) => message.method === "tools/call");

it("get the arguments that a person approved as headers, not those that came", async () => {
  await using server = await webServer(echoServer(listing(() => "Region")));
  const { client, proxy, channel } = proxied({
    policy: ASK_ALL,
    upstreams: [{ name: "web", url: server.url }],
  });
  client.send({ id: "l", method: "tools/list", params: { _meta: META } });
  await client.find(({ id }) => id === "l");
  client.send(call("c", { region: "eu" }));
  await (await channel.question(0)).approve({ region: " us\n" });
  expect((await client.find(({ id }) => id === "c")).line).toContain("done");
  await proxy.close();
  const [sent] = calls(server.asked);
  expect(sent?.body).toContain(String.raw`{"region":" us\n"}`);
  expect(sent?.headers).toMatchObject({
    "mcp-method": "tools/call",
    "mcp-name": "sql",
    "mcp-protocol-version": "2026-07-28",
    "mcp-param-region": `=?base64?${Buffer.from(" us\n").toString("base64")}?=`,
  });
});

it("that refuse the headers are asked for their tools, and get the call once more", async () => {
  let lists = 0;
  await using server = await webServer(
    echoServer(
      listing(
        () => (lists++, "Region"),
        ({ message, headers }, response) => {
          const isOdd =
            message.method === "tools/call" && headers["mcp-param-region"] === undefined;
          if (isOdd)
            json(response, 400, {
              jsonrpc: "2.0",
              id: message.id,
              error: { code: -32_020, message: "Header mismatch" },
            });
          return isOdd;
        },
      ),
    ),
  );
  await using at = await opened(server.url, false);
  at.client.send(call("c", { region: "eu" }));
  const { line } = await at.client.find(({ id }) => id === "c");
  expect(line).toContain("done");
  expect([lists, calls(server.asked).length]).toEqual([1, 2]);
  at.client.send(call("d", { region: "us" }));
  await at.client.find(({ id }) => id === "d");
  expect([lists, calls(server.asked).length]).toEqual([1, 3]);
});

it("that go on refusing are believed, and their answer is passed on", async () => {
  const error = { code: -32_020, message: "Header mismatch: whatever comes" };
  await using server = await webServer(
    echoServer(
      listing(
        () => "Region",
        ({ message }, response) => {
          if (message.method !== "tools/call") return false;
          json(response, 400, { jsonrpc: "2.0", id: message.id, error });
          return true;
        },
      ),
    ),
  );
  await using at = await opened(server.url, false);
  at.client.send(call("c", { region: "eu" }));
  const { line } = await at.client.find(({ id }) => id === "c");
  expect(line).toContain(error.message);
  expect(calls(server.asked)).toHaveLength(2);
});

it("get a name that no header may have in Base64", async () => {
  await using server = await webServer(echoServer(() => false));
  await using at = await opened(server.url, false);
  at.client.send({ id: 1, method: "resources/read", params: { uri: "file:///ü", _meta: META } });
  await at.client.find(({ id }) => id === 1);
  const [sent] = server.asked;
  expect(sent?.headers["mcp-name"]).toBe("=?base64?ZmlsZTovLy/DvA==?=");
});

it("see the connection of a request close that is taken back", async () => {
  let isClosed = false;
  await using server = await webServer(
    echoServer(({ message }, response) => {
      if (message.method !== "vendor/x") return false;
      response.on("close", () => (isClosed = true));
      return true;
    }),
  );
  await using at = await opened(server.url, false);
  at.client.send({ id: "x", method: "vendor/x", params: { _meta: META } });
  await expect.poll(() => server.asked.length).toBe(1);
  at.client.send({ method: "notifications/cancelled", params: { requestId: "x" } });
  await expect.poll(() => isClosed).toBe(true);
  expect(server.asked).toHaveLength(1);
});
