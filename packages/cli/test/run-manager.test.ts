/**
 * What the manager of `acp run` starts outside of the sandbox, where the agent has written whatever
 * it could before: nothing of it may run.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, cp, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { needSandbox, runWorld } from "./run-world.js";
import type { RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");
/** Nobody listens there. */
const NO_REGISTRY = "http://127.0.0.1:1/";
const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url));

interface Planted extends RunWorld {
  /** Names of what ran outside. */
  ran(): Promise<readonly string[]>;
}

/**
 * A workspace with `node_modules/.bin` full of programs that leave a mark outside of it; the
 * sandbox has no such place.
 */
async function plantedWorld(names: readonly string[]): Promise<Planted> {
  const world = await runWorld();
  const marks = join(world.path, "marks");
  await mkdir(marks);
  await chmod(marks, 0o777);
  const bin = join(world.work, "node_modules/.bin");
  await mkdir(bin, { recursive: true });
  for (const name of names) {
    await writeFile(join(bin, name), `#!/bin/sh\n: >'${marks}/${name}'\nexit 1\n`);
    await chmod(join(bin, name), 0o755);
  }
  return {
    ...world,
    ran: () => readdir(marks),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** As `npm run` and `npx` have it. */
const pathOf = ({ work }: RunWorld): string =>
  `${work}/node_modules/.bin:node_modules/.bin:${process.env["PATH"] ?? ""}`;

async function configure(
  { home }: RunWorld,
  server: Readonly<Record<string, unknown>>,
): Promise<void> {
  await writeFile(
    join(home, "config.yml"),
    `version: "1"\nproxy:\n  upstream_servers:\n    - ${JSON.stringify(server)}\n`,
    {
      mode: 0o600,
    },
  );
}

const TOOLS =
  "bwrap setpriv cc gcc as ld nft ip env sh bash cat prlimit unshare nsenter getent id mount node npx proxychains4".split(
    " ",
  );

describe.skipIf(!NAMESPACE.run)(`the manager of acp run ${NAMESPACE.reason}`, () => {
  it("takes no helper from a PATH that the agent can fill", async () => {
    await using world = await plantedWorld(TOOLS);
    const env = { PATH: pathOf(world), XDG_CACHE_HOME: join(world.path, "cache") };
    expect(await world.run(["/bin/true"], { env, args: ["--require", "full"] })).toMatchObject({
      code: 0,
    });
    expect(await world.run(["/bin/true"], { env, args: ["--sandbox", "env"] })).toMatchObject({
      code: 0,
    });
    expect(await world.ran()).toEqual([]);
  });

  it.each([
    ["npx, of the folder's own packages", { command: "npx --offline --no-install evil" }],
    ["a program of PATH", { command: "evil" }],
    [
      "node of PATH, by its first line",
      {
        command: "npx --offline --no-install evil",
        env: { PATH: "WORK/node_modules/.bin:/usr/local/bin:/usr/bin:/bin" },
      },
    ],
    ["a path in the folder", { command: "./node_modules/.bin/evil" }],
  ])("starts no MCP server outside that the agent has written: %s", async (_name, server) => {
    await using world = await plantedWorld(["evil", "node"]);
    const env =
      "env" in server ? { env: { PATH: server.env.PATH.replace("WORK", world.work) } } : {};
    await configure(world, { name: "files", sandbox: "none", ...server, ...env });
    // Inside, the agent may run what it likes; the bridge wants the real node.
    const bridge = [
      "/bin/sh",
      "-c",
      'PATH="${PATH%%:*}:/usr/local/bin:/usr/bin:/bin" exec acp-mcp-bridge',
    ];
    const input = '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n';
    const { stderr } = await world.run(bridge, {
      input,
      env: { PATH: pathOf(world), npm_config_registry: NO_REGISTRY },
    });
    expect(stderr).toMatch(/files/u);
    expect(await world.ran()).toEqual([]);
  });

  it("refuses an MCP server whose working directory is the agent's", async () => {
    await using world = await plantedWorld([]);
    await configure(world, {
      name: "files",
      command: "npx server",
      cwd: world.work,
      sandbox: "none",
    });
    const { code, stderr } = await world.run(["/bin/true"]);
    expect([code, stderr]).toEqual([
      EXIT_CODES.not_run.code,
      expect.stringContaining("its working directory is not safe"),
    ]);
  });

  it("does not start where ACP itself is in the workspace", async () => {
    await using world = await runWorld();
    const { code, stderr } = await world.run(["/bin/true"], { args: ["--workspace", CHECKOUT] });
    expect([code, stderr]).toEqual([
      EXIT_CODES.not_run.code,
      expect.stringContaining("runs outside the sandbox"),
    ]);
    const linked = join(world.path, "linked");
    await symlink(join(CHECKOUT, "packages/core"), linked);
    expect(await world.run(["/bin/true"], { args: ["--workspace", linked] })).toMatchObject({
      code: EXIT_CODES.not_run.code,
    });
  });

  it("does not start with a node of the workspace", async () => {
    await using world = await runWorld();
    const node = join(world.work, "node_modules/node/bin/node");
    await mkdir(dirname(node), { recursive: true });
    await cp(process.execPath, node);
    const bin = join(CHECKOUT, "packages/cli/bin/acp.cjs");
    const run = (): string =>
      execFileSync(node, [bin, "run", "--alone", "--home", world.home, "--", "/bin/true"], {
        cwd: world.work,
        encoding: "utf8",
        stdio: "pipe",
      });
    if (process.getuid?.() === 0) await chown(world.work, 0, 0);
    expect(run).toThrow(/runs outside the sandbox/u);
    expect(existsSync(node)).toBe(true);
  });
});
