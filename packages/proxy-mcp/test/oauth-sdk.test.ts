/** Signing in to the example server of the MCP SDK, with its own authorization server. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { signIn } from "../src/oauth.js";
import { browse } from "./support/oauth-double.js";
import { ALLOW_ALL, proxied } from "./support/proxied.js";
import { freePort, INIT } from "./support/remote-client.js";

const EXAMPLE = fileURLToPath(
  import.meta.resolve("@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js"),
);

it("signs in to the SDK's example server, which checks the resource, and uses it", async () => {
  const [port, authPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [EXAMPLE, "--oauth", "--oauth-strict"], {
    env: { PATH: process.env["PATH"], MCP_PORT: String(port), MCP_AUTH_PORT: String(authPort) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      let said = "";
      child.on("exit", () => reject(new Error(`it ended: ${said}`)));
      child.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        if (/listening on port[^]*listening on port/iu.test(said)) resolve();
      });
    });
    const url = `http://localhost:${port}/mcp`;
    let browsed: Promise<unknown> = Promise.resolve();
    const grant = await signIn({
      server: new URL(url),
      waitMs: 60_000,
      signal: new AbortController().signal,
      show: ({ address }) => void (browsed = browse(address)),
    });
    await browsed;
    expect(grant).toMatchObject({ resource: url, scopes: ["mcp:tools"] });
    const authorization = {
      header: () => Promise.resolve(`Bearer ${grant.accessToken}`),
      refused: () => Promise.resolve("pass" as const),
      masker: () => undefined,
    };
    const upstreams = [{ name: "web", url, authorization }];
    const { client, proxy } = proxied({ policy: ALLOW_ALL, upstreams });
    await client.request("init", "initialize", INIT);
    client.send({ method: "notifications/initialized" });
    const { result } = await client.call(1, "greet", { name: "Ada" });
    expect(result?.["content"]).toEqual([{ type: "text", text: "Hello, Ada!" }]);
    await proxy.close();
  } finally {
    child.kill("SIGKILL");
  }
});
