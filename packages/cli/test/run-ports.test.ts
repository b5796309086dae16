/**
 * Loopback inside `acp run`: the agent's own servers are there; services of this machine only where
 * the operator opens them.
 */
import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acp, startAcp } from "./harness.js";
import { listen } from "./http-world.js";
import { needSandbox, runWorld, WAIT_FOR_GO } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

/** A server of the agent's, asked in every way that programs have. */
const OWN = `import { execFileSync } from "node:child_process";
import http from "node:http";
const server = http.createServer((_, answer) => answer.end("own")).listen(3000, "127.0.0.1", async () => {
  const url = "http://localhost:3000/";
  console.log("fetch", await (await fetch("http://127.0.0.1:3000/")).text());
  http.get(url, (answer) => answer.on("data", (chunk) => {
    console.log("http", String(chunk));
    ask();
  }));
});
function ask() {
  import("node:child_process").then(({ execFile }) =>
    execFile("curl", ["-sS", "http://localhost:3000/"], (_, stdout) => {
      console.log("curl", stdout);
      execFile("python3", ["-c", "import urllib.request as u; print('python', u.urlopen('http://127.0.0.1:3000/').read().decode())"], (_, text) => {
        console.log(text.trim());
        server.close();
        server.closeAllConnections();
      });
    }));
}
`;

/** A service of this machine; counts who came. */
async function service(): Promise<{ readonly port: number; readonly came: () => number }> {
  let came = 0;
  const server = createServer((_, answer) => {
    came += 1;
    answer.end("service");
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, came: () => came };
}

describe.skipIf(!NAMESPACE.run)(`localhost inside acp run ${NAMESPACE.reason}`, () => {
  it("is the agent's own, without the gate", async () => {
    await using world = await runWorld();
    await world.write("own.mjs", OWN);
    const { stdout, stderr } = await world.run(["node", "own.mjs"]);
    expect(`${stdout}${stdout === "" ? stderr : ""}`).toBe(
      "fetch own\nhttp own\ncurl own\npython own\n",
    );
    expect(
      (await world.events()).filter(({ eventType }) => eventType === "policy_evaluated"),
    ).toEqual([]);
  });

  it("has no service of this machine, and one that --host-port opens", async () => {
    await using world = await runWorld();
    const { port, came } = await service();
    const ask = ["curl", "-sS", "-m", "20", `http://localhost:${port}/`];
    expect((await world.run(ask)).code).not.toBe(0);
    expect(came()).toBe(0);
    const { stdout, stderr } = await world.run(ask, { args: ["--host-port", String(port)] });
    expect([stdout, came()]).toEqual(["service", 1]);
    expect(stderr).toContain(`open to the command, past the gate: ${port}`);
    expect((await world.events()).map(({ metadata }) => metadata["notice"])).toContain(
      "host_ports",
    );
  });

  it("stands in every question", async () => {
    await using world = await runWorld();
    const { port } = await service();
    const post = [
      "sh",
      "-c",
      `until [ -e go ]; do sleep 0.1; done; curl -sS -X POST ${world.origin}/`,
    ];
    await using running = world.start(post, {
      args: ["--host-port", String(port), "--model-host", "none"],
    });
    await using _silent = await world.attach(running);
    const shown = async (): Promise<string> =>
      (await acp(["pending", "--json"], { home: world.home })).stdout;
    await expect
      .poll(shown, { timeout: 60_000 })
      .toContain(`Started as: \\"acp run --host-port ${port} -- sh\\"`);
  });

  it("loses what --host-port opened while everything is paused", async () => {
    await using world = await runWorld();
    const { port, came } = await service();
    const agent = `${WAIT_FOR_GO}
      try { console.log(await (await fetch("http://localhost:${port}/")).text()); } catch { console.log("cut"); }`;
    await world.write("agent.mjs", agent);
    await using running = world.start(["node", "agent.mjs"], {
      args: ["--host-port", String(port)],
    });
    await running.seen("stderr", "Questions are answered");
    expect((await acp(["pause"], { home: world.home })).code).toBe(0);
    await world.write("go", "");
    expect(await running.ended).toMatchObject({ stdout: "cut\n" });
    expect(came()).toBe(0);
  });

  it("loses what --host-port opened when another program of ACP takes the port", async () => {
    await using world = await runWorld();
    const server = createServer((_, answer) => answer.end("service"));
    const port = await listen(server);
    onTestFinished(() => void server.close());
    await world.write(
      "agent.mjs",
      `const ask = async () => { try { return await (await fetch("http://127.0.0.1:${port}/")).text(); } catch { return "cut"; } };
      console.log(await ask());
      ${WAIT_FOR_GO}
      console.log(await ask());`,
    );
    await using running = world.start(["node", "agent.mjs"], {
      args: ["--host-port", String(port)],
    });
    await running.seen("stdout", "service");
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await using other = startAcp(["proxy", "http", "--port", String(port)], { home: world.home });
    await other.seen("stdout", "listening on");
    await world.write("go", "");
    expect(await running.ended).toMatchObject({
      stdout: "service\ncut\n",
      stderr: expect.stringContaining(`port ${port} are refused: it is ACP's`),
    });
  });

  it.each(["2375", "8788"])("refuses to open port %s", async (port) => {
    await using world = await runWorld({ proxy: "  http_port: 8788\n" });
    const { code, stderr } = await world.run(["true"], { args: ["--host-port", port] });
    expect([code, stderr]).toEqual([
      EXIT_CODES.not_run.code,
      expect.stringContaining(`Cannot open port ${port}`),
    ]);
  });
});
