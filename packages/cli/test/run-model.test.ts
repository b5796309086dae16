/**
 * The host of an agent's model: asked about once, before the agent starts, so that its first
 * connection waits for nobody.
 */
import { describe, expect, it } from "vitest";
import { acp } from "./harness.js";
import { answerNext, attachSilent } from "./http-world.js";
import { needSandbox, runWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

/** Opens tunnels, one after the other, and says what each was answered. */
const AGENT = `import http from "node:http";
const { hostname, port } = new URL(process.env.HTTPS_PROXY);
for (let time = 0; time < Number(process.argv[3]); time += 1)
  await new Promise((resolve) => {
    http.request({ hostname, port, method: "CONNECT", path: process.argv[2], headers: { host: process.argv[2] } }).on("connect", ({ statusCode }, socket) => {
      console.log("tunnel", statusCode);
      socket.destroy();
      resolve();
    }).end();
  });
`;

describe.skipIf(!NAMESPACE.run)(`the model of an agent ${NAMESPACE.reason}`, () => {
  it("is asked about before the agent starts; a yes that covers the host is the only question", async () => {
    await using world = await runWorld();
    await world.write("agent.mjs", AGENT);
    const running = world.start(["node", "agent.mjs", world.authority, "3"], {
      args: ["--model-host", world.authority],
    });
    await running.seen("stderr", "Asking once for 127.0.0.2");
    await using _silent = await attachSilent(world.home);
    expect(running.stdout()).toBe("");
    const { pending } = JSON.parse((await acp(["pending", "--json"], { home: world.home })).stdout);
    expect(pending).toMatchObject([
      { action: { tool: "CONNECT" }, offers: [{ id: "host", ttl_ms: 12 * 3_600_000 }] },
    ]);
    await answerNext(world.home, ["--approve", "--offer", "host"]);
    expect((await running.ended).stdout).toBe("tunnel 200\ntunnel 200\ntunnel 200\n");
  });

  it("gets the first connection where the yes covers nothing more", async () => {
    await using world = await runWorld();
    await world.write("agent.mjs", AGENT);
    const running = world.start(["node", "agent.mjs", world.authority, "2"], {
      args: ["--model-host", world.authority],
    });
    await running.seen("stderr", "Asking once for 127.0.0.2");
    await using _silent = await attachSilent(world.home);
    await answerNext(world.home, ["--approve"]);
    await running.seen("stdout", "tunnel 200\n");
    await answerNext(world.home, ["--deny"]);
    expect((await running.ended).stdout).toBe("tunnel 200\ntunnel 403\n");
  });

  it("is not asked about with --model-host none", async () => {
    await using world = await runWorld();
    const { code, stderr } = await world.run(["/bin/true"], {
      args: ["--env", "OPENAI_API_KEY", "--model-host", "none"],
      env: { OPENAI_API_KEY: "k" },
    });
    expect([code, stderr.includes("Asking")]).toEqual([0, false]);
  });
});
