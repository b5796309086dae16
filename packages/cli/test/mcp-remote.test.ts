/** `acp mcp` in front of a server at an address, as config.yml names it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { scratch } from "./environment.js";
import { acp } from "./harness.js";
import { startGated } from "./mcp-client.js";

it.each([true, false])(
  "reaches it with a token that is encrypted in the file (resident: %s)",
  async (isResident) => {
    await using at = await scratch();
    const tokens: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        tokens.push(request.headers.authorization);
        const { id, method } = JSON.parse(Buffer.concat(chunks).toString() || "{}");
        if (request.method !== "POST") return response.writeHead(405).end();
        if (id === undefined) return response.writeHead(202).end();
        response.writeHead(200, { "content-type": "application/json" });
        return response.end(JSON.stringify({ jsonrpc: "2.0", id, result: RESULTS[method] ?? {} }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const home = join(at.path, "home");
      expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
      await writeFile(
        join(home, "config.yml"),
        `version: "1"\nproxy:\n  upstream_servers:\n    - name: web\n      url: "http://127.0.0.1:${port}/mcp"\n      headers: { Authorization: "Bearer t0ken" }\n`,
        { mode: 0o600 },
      );
      await writeFile(
        join(home, "policy.yml"),
        'version: "1"\ndefault_action: deny\nrules:\n  - match: { server: web, tool: look }\n    action: allow\n',
        { mode: 0o600 },
      );
      const field = "proxy.upstream_servers[0].headers.Authorization";
      expect(await acp(["config", "encrypt", field], { home })).toMatchObject({ code: 0 });
      await using gated = await startGated({ home, folder: at.path, server: [], isResident });
      expect(await gated.call("look", {})).toMatchObject({ text: "seen", isError: false });
      expect(await gated.call("take", {})).toMatchObject({ isError: true });
      expect(new Set(tokens)).toEqual(new Set(["Bearer t0ken"]));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "web", version: "1" },
  },
  "tools/list": {
    tools: ["look", "take"].map((name) => ({ name, inputSchema: { type: "object" } })),
  },
  "tools/call": { content: [{ type: "text", text: "seen" }] },
};
