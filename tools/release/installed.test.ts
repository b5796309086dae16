/**
 * What users get: our packages as they are published, installed in an empty project. npm and
 * TypeScript 7 on every run; the other package managers and TypeScript 6 with `npm run test:deep`.
 */
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDeep } from "../deep.js";
import { capture, readManifest, root } from "../workspace.mjs";
import { type Consumer, createConsumer, everything, publicEntries } from "./consumer.js";
import { MANAGERS_HOME, OTHERS, npm } from "./managers.js";
import { pack } from "./pack.mjs";
import { type LocalRegistry, openRegistry } from "./registry.js";

const RESOLUTIONS = ["node16", "nodenext", "bundler"] as const;
const SLOW = "takes long: npm run test:deep";
const { version } = readManifest(join(root, "packages/cli"));

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-installed-")));
let registry: LocalRegistry;

beforeAll(async () => {
  registry = await openRegistry(scratch);
  for (const { archive } of await pack(scratch)) await registry.put(archive);
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

async function expectToLoad(consumer: Consumer): Promise<void> {
  await consumer.install({ ...everything(), "@types/node": "20" });
  const loaded = await consumer.load();
  expect(loaded.map(({ name }) => name)).toEqual(publicEntries());
  for (const { imported, required } of loaded) expect(required).toBe(imported);
  expect(await consumer.acp("--version")).toEqual({ status: 0, output: `${version}\n` });
}

async function expectToMakeHome(consumer: Consumer): Promise<void> {
  const home = join(consumer.dir, "acp-home");
  expect(
    await consumer.acp("init", "--home", home, "--key-file", join(consumer.dir, "acp.key")),
  ).toMatchObject({ status: 0 });
  expect(["config.yml", "policy.yml"].filter((name) => !existsSync(join(home, name)))).toEqual([]);
}

describe("what npm installs", () => {
  const consumer = (): Consumer => createConsumer(npm, registry.url, scratch);
  const settings = {
    compiler: "typescript7",
    names: publicEntries(),
    types: ["node"],
    lib: ["es2022"],
  } as const;

  it("loads by import and require, and its `acp` makes a home", async () => {
    await expectToLoad(consumer());
    await expectToMakeHome(consumer());
  });

  // A compiler that skips no library reads the types of the libraries too.
  it.each(RESOLUTIONS)("has complete types with moduleResolution %s", async (moduleResolution) => {
    expect(await consumer().compile({ ...settings, moduleResolution })).toBe("");
  });

  it("has complete types for TypeScript 6", async ({ skip }) => {
    if (!isDeep) skip(SLOW);
    expect(
      await consumer().compile({
        ...settings,
        compiler: "typescript",
        moduleResolution: "nodenext",
      }),
    ).toBe("");
  });

  it("has types of core that need nothing of Node", async () => {
    const names = settings.names.filter((name) => /^@acp\/core(?:\/|$)/.test(name));
    const browser = {
      ...settings,
      moduleResolution: "bundler",
      names,
      types: [],
      lib: ["es2022", "dom"],
    } as const;
    expect(await consumer().compile(browser)).toBe("");
  });

  it("is whole where the command line is all that was asked for", async ({ skip }) => {
    if (!isDeep) skip(SLOW);
    const alone = createConsumer({ ...npm, name: "npm, cli alone" }, registry.url, scratch);
    await alone.install({ "@acp/cli": version });
    expect(await alone.acp("--version")).toEqual({ status: 0, output: `${version}\n` });
  });
});

describe("other package managers", () => {
  beforeAll(async () => {
    if (!isDeep) return;
    const args = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    const { status, output } = await capture("npm", args, { cwd: MANAGERS_HOME });
    if (status !== 0) throw new Error(`Cannot install the package managers\n${output}`);
  });

  it.for(OTHERS)(
    "what $name installs loads by import and require, and its `acp` makes a home where it can",
    async (manager, { skip }) => {
      if (!isDeep) skip(SLOW);
      const consumer = createConsumer(manager, registry.url, scratch);
      await expectToLoad(consumer);
      if (manager.cannotWrite === undefined) await expectToMakeHome(consumer);
    },
  );
});
