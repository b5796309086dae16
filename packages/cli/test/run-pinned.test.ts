/**
 * `acp run` with a server that npx starts: pinned at the first run, offline at the second, asked
 * about when it is to be another one.
 */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { answerNext } from "./http-world.js";
import { openRegistryDouble } from "./registry-double.js";
import type { RegistryDouble, WrittenPackage } from "./registry-double.js";
import { needSandbox, runWorld } from "./run-world.js";
import type { RunOptions, RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

/** Says its version, and whether it can write where its packages are. */
const SERVER = `import { createInterface } from "node:readline";
import { readFileSync, writeFileSync } from "node:fs";
const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const kept = () => { try { writeFileSync(new URL("package.json", import.meta.url), "{}"); return "changed"; } catch (error) { return error.code; } };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = (result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  if (method === "initialize") answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "greeter", version } });
  else if (method === "tools/list") answer({ tools: [{ name: "greet", inputSchema: { type: "object" } }] });
  else if (method === "tools/call") answer({ content: [{ type: "text", text: [version, kept(), ...process.argv.slice(2)].join(" ") }] });
}
`;
const CLIENT = `import { createInterface } from "node:readline";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "plain", version: "1" } } });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, result, error } = JSON.parse(line);
  if (id === 1) {
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "greet", arguments: {} } });
  }
  if (id === 2) {
    console.error("answer", result?.content?.[0]?.text ?? error?.message);
    process.exit(0);
  }
}
`;

function greeter(version: string): WrittenPackage {
  return {
    manifest: { name: "greeter", version, type: "module", bin: "server.mjs" },
    files: { "server.mjs": SERVER },
  };
}

interface PinnedRun extends RunWorld {
  readonly registry: RegistryDouble;
  /** For `acp run`: the agent is a client on its own streams. */
  readonly options: RunOptions;
  configure(command: string): Promise<void>;
}

async function pinnedRun(): Promise<PinnedRun> {
  const world = await runWorld({ policy: 'version: "1"\ndefault_action: allow\n' });
  const registry = await openRegistryDouble();
  registry.publish(greeter("1.0.0"), greeter("2.0.0"));
  const user = join(world.path, "user");
  await mkdir(user);
  await writeFile(join(user, ".npmrc"), `registry=${registry.url}\n`);
  await world.write("client.mjs", CLIENT);
  // None of it is looked at.
  await world.write(".npmrc", "registry=https://elsewhere.example/\n");
  await world.write("package.json", '{"dependencies":{"greeter":"file:planted"}}');
  await mkdir(join(world.work, "node_modules/greeter"), { recursive: true });
  await world.write(
    "node_modules/greeter/package.json",
    '{"name":"greeter","version":"6.6.6","bin":"x.js"}',
  );
  const configure = (command: string): Promise<void> =>
    writeFile(
      join(world.home, "config.yml"),
      `version: "1"\nproxy:\n  upstream_servers:\n    - { name: greeter, command: "${command}" }\n`,
      { mode: 0o600 },
    );
  return {
    ...world,
    registry,
    configure,
    options: { args: ["--mcp", "stdio"], env: { HOME: user } },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe.skipIf(!NAMESPACE.run)(`a server of npx in acp run ${NAMESPACE.reason}`, () => {
  it("is pinned at the first run, and needs no registry at the second", async () => {
    await using world = await pinnedRun();
    await world.configure("npx -y greeter@1 hello");
    const first = await world.run(["node", "client.mjs"], world.options);
    expect(first.stderr).toContain("answer 1.0.0 EROFS hello");
    expect(first.stderr).toContain('Server "greeter": pinned greeter@1 with 1 packages');
    await world.registry.close();
    const second = await world.run(["node", "client.mjs"], world.options);
    expect(second.stderr).toContain("answer 1.0.0 EROFS hello");
    const notices = (await world.events()).filter(
      ({ metadata }) => metadata["notice"] === "server_packages",
    );
    expect(notices.length).toBe(3);
  });

  it("is asked about when it is to be another one, whatever the policy allows, and starts after a yes", async () => {
    await using world = await pinnedRun();
    await world.configure("npx -y greeter@1");
    await world.run(["node", "client.mjs"], world.options);
    await world.configure("npx -y greeter@2");
    await using denied = world.start(["node", "client.mjs"], world.options);
    await using _silent = await world.attach(denied);
    await answerNext(world.home, ["--deny"]);
    expect((await denied.ended).stderr).toContain(
      "ask a person to run: acp servers update greeter",
    );
    await using agreed = world.start(["node", "client.mjs"], world.options);
    await using _again = await world.attach(agreed);
    await answerNext(world.home, ["--approve"]);
    expect((await agreed.ended).stderr).toContain("answer 2.0.0");
  });

  it("is pinned by the next run where one was killed in the middle", async () => {
    await using world = await pinnedRun();
    await world.configure("npx -y greeter@1");
    const killed = world.start(["node", "client.mjs"], world.options);
    await vi.waitFor(
      () => expect(world.registry.requests.some((path) => path.endsWith(".tgz"))).toBe(true),
      { timeout: 60_000 },
    );
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect((await world.run(["node", "client.mjs"], world.options)).stderr).toContain(
      "answer 1.0.0",
    );
    const kept = await readdir(join(world.home, "servers/greeter/packages"));
    expect(kept.filter((name) => name.startsWith("tree-") || name.startsWith("new-"))).toHaveLength(
      1,
    );
  });
});
