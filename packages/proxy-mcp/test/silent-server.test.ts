/** One of several servers that answers some requests never: the others' answers do not wait for it. */
import { expect, it } from "vitest";
import { inProcess } from "./support/in-process.js";
import { names } from "./support/many.js";
import { ALLOW_ALL, proxied } from "./support/proxied.js";

it.each([
  ["tools/list", {}],
  ["logging/setLevel", { level: "info" }],
])("%s is answered without it", async (method, params) => {
  const capabilities = { tools: {}, logging: {} };
  const servers = ["one", "two"].map((name) =>
    inProcess(({ id, ...heard }, say) => {
      if (heard.method === method && name === "two") return "silent";
      if (heard.method !== "initialize") return undefined;
      const { protocolVersion } = heard.params ?? {};
      const result = { protocolVersion, capabilities, serverInfo: { name, version: "1" } };
      say(JSON.stringify({ jsonrpc: "2.0", id, result }));
      return "greeted";
    }, name),
  );
  const { client, clock, proxy } = proxied({
    policy: ALLOW_ALL,
    upstreams: servers.map(({ upstream }) => upstream),
  });
  await client.handshake();
  const answer = client.request(1, method, params);
  await expect.poll(() => servers[1]?.lines.join("")).toContain(method);
  await clock.advance(5_000);
  const first = await Promise.race([answer, client.request("later", "ping")]);
  expect(first.id).toBe(1);
  if (method === "tools/list") {
    expect(names(first)).toEqual(["one__echo"]);
    expect(servers[1]?.lines.at(-1)).toContain("notifications/cancelled");
  }
  await proxy.close();
});
