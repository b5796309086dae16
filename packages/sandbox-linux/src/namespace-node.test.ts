import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeInside, nodeMounts } from "./namespace-node.js";

let prefix: string;
beforeEach(async () => {
  prefix = await realpath(await mkdtemp(join(tmpdir(), "acp-node-")));
  for (const name of ["bin", "include/node", "lib/node_modules/npm", "share"])
    await mkdir(join(prefix, name), { recursive: true });
  for (const name of [
    "bin/node",
    "bin/other",
    "include/node/node_version.h",
    "lib/node_modules/npm/package.json",
  ]) {
    await writeFile(join(prefix, name), "");
  }
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", join(prefix, "bin/npm"));
  await symlink("/etc/shadow", join(prefix, "bin/npx"));
});
afterEach(() => rm(prefix, { recursive: true, force: true }));

describe("nodeMounts()", () => {
  it("shows an installation's node and npm, and nothing else of its directory", () => {
    const [node, modules, npm] = ["bin/node", "lib/node_modules", "bin/npm"].map((name) =>
      join(prefix, name),
    );
    expect(nodeMounts(join(prefix, "bin/node"))).toEqual([
      ["--ro-bind", node, node],
      ["--ro-bind", modules, modules],
      ["--symlink", "../lib/node_modules/npm/bin/npm-cli.js", npm],
    ]);
  });

  it("shows the file alone where it is no installation", async () => {
    await rm(join(prefix, "include"), { recursive: true });
    const node = join(prefix, "bin/node");
    expect(nodeMounts(node)).toEqual([["--ro-bind", node, node]]);
  });
});

describe("nodeInside()", () => {
  it("is the file itself, not a link to it", async () => {
    expect(nodeInside()).toBe(await realpath(process.execPath));
  });
});
