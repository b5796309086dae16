/** The real server-everything at an address, over both transports. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { freePort, opened } from "./support/remote-client.js";

const require = createRequire(import.meta.url);
const EVERYTHING = join(
  dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);

it.each(["streamableHttp", "sse"])("is the real one, over %s", async (transport) => {
  const port = await freePort();
  const server = spawn(process.execPath, [EVERYTHING, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      let said = "";
      server.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        if (/port/iu.test(said)) resolve();
      });
      server.once("exit", () => reject(new Error(said)));
    });
    const path = transport === "sse" ? "sse" : "mcp";
    await using at = await opened(`http://127.0.0.1:${port}/${path}`);
    const { client } = at;
    const listed = await client.request(1, "tools/list");
    expect(listed.result?.["tools"]).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "echo" })]),
    );
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => client.call(`c${n}`, "echo", { message: `m${n}` })),
    );
    for (const [n, { result }] of answers.entries())
      expect(JSON.stringify(result)).toContain(`m${n}`);
    const long = client.call(
      "long",
      "trigger-long-running-operation",
      { duration: 0.4, steps: 2 },
      { _meta: { progressToken: "p" } },
    );
    await client.find(({ method }) => method === "notifications/progress");
    expect((await long).result?.["isError"]).not.toBe(true);
  } finally {
    server.kill("SIGKILL");
  }
});
