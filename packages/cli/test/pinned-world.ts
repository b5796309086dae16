/**
 * A home, a registry on loopback, and servers that are pinned to packages of it.
 */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { pinnedServer } from "../src/servers/pinned-server.js";
import type { PinnedServer, PinParts } from "../src/servers/pinned-server.js";
import type { TreeChange } from "../src/servers/tree-change.js";
import { openRegistryDouble } from "./registry-double.js";
import type { RegistryDouble, WrittenPackage } from "./registry-double.js";

/** The world of a test. */
export interface PinnedWorld {
  readonly registry: RegistryDouble;
  readonly homeDir: string;
  /** The person's own home, with the setting of the registry. */
  readonly userHome: string;
  readonly parts: PinParts;
  /** What was said. */
  readonly said: readonly string[];
  /** What was asked. */
  readonly asked: readonly TreeChange[];
  /** Whether questions are agreed to; no, until somebody says so. */
  answer: boolean;
  pin(command: string, more?: Partial<PinParts>): Promise<PinnedServer>;
  /** What a pinned server prints. */
  output(server: PinnedServer): string;
  /** Names in the directory of the server's packages. */
  kept(): Promise<readonly string[]>;
}

/** A program that prints its version, what it needs, and its arguments. */
export function tool(
  version: string,
  more: Readonly<Record<string, unknown>> = {},
): WrittenPackage {
  return {
    manifest: { name: "tool", version, bin: { tool: "cli.js" }, ...more },
    files: {
      "cli.js": `#!/usr/bin/env node\nconsole.log(["tool", require("./package.json").version, ...process.argv.slice(2)].join(" "));\n`,
    },
  };
}

/** Makes it. */
export async function pinnedWorld(...packages: readonly WrittenPackage[]): Promise<PinnedWorld> {
  const registry = await openRegistryDouble();
  if (packages.length > 0) registry.publish(...packages);
  const path = await mkdtemp(join(tmpdir(), "acp-pin-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const [homeDir, userHome] = [join(path, "acp"), join(path, "user")];
  await mkdir(homeDir, { mode: 0o700 });
  await mkdir(userHome);
  await writeFile(join(userHome, ".npmrc"), `registry=${registry.url}\n`);
  const said: string[] = [];
  const asked: TreeChange[] = [];
  const parts: PinParts = {
    homeDir,
    userHome,
    env: {},
    workspaces: [],
    signal: new AbortController().signal,
    say: (text) => void said.push(text),
    ask: (change) => {
      asked.push(change);
      return Promise.resolve(world.answer);
    },
  };
  const world: PinnedWorld = {
    registry,
    homeDir,
    userHome,
    parts,
    said,
    asked,
    answer: false,
    async pin(command, more = {}) {
      const server = await pinnedServer("files", command.split(" "), { ...parts, ...more });
      if (server === undefined) throw new Error("It is not npx");
      return server;
    },
    output({ argv: [program = "", ...args] }) {
      const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env: {} });
      return `${stdout}${stderr}`.trim();
    },
    kept: async () => (await readdir(join(homeDir, "servers/files/packages"))).toSorted(),
  };
  return world;
}
