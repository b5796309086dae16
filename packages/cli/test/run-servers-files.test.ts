/**
 * What MCP servers of `acp run` write for their agent: part of its review where it works in an
 * overlay, and set aside where other programs would run it by themselves.
 */
import { readdirSync, readFileSync } from "node:fs";
import { chown, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acp } from "./harness.js";
import { needSandbox } from "./run-world.js";
import { serversWorld } from "./servers-world.js";
import type { ServersWorld } from "./servers-world.js";

const KINDS = ["namespace", "landlock"] as const;
const NEEDS = { namespace: needSandbox("namespace"), landlock: needSandbox("landlock") } as const;
const NAMESPACE = NEEDS.namespace;
const REVIEW = ["--review"];

/** A folder of the agent's user beside the workspace. */
async function folderBeside(world: ServersWorld, name: string): Promise<string> {
  const folder = join(world.path, name);
  await mkdir(folder);
  const { uid, gid } = await stat(world.work);
  await chown(folder, uid, gid);
  return folder;
}

const namesIn = (folder: string): readonly string[] => readdirSync(folder).sort();

describe.skipIf(!NAMESPACE.run)(`MCP servers of acp run --review ${NAMESPACE.reason}`, () => {
  it("see what their agent wrote, and what they write is part of its review", async () => {
    await using world = await serversWorld();
    await world.serve({ name: "r", workspace: "read" }, { name: "w", workspace: "write" });
    const before = namesIn(world.work);
    const calls = [
      [
        "w__run",
        `cd ${world.work}; cat of-agent secret; echo more >> of-agent; echo server > of-server; echo x > .npmrc`,
      ],
      ["r__run", `cd ${world.work}; cat of-server; echo x > of-server`],
    ];
    const script = `echo agent > of-agent; node call.mjs '${JSON.stringify(calls)}'; cat of-agent of-server`;
    const { stdout, stderr } = await world.run(["sh", "-c", script], { args: REVIEW });
    expect(stdout).toMatch(
      /^agent\nof the workspace\nserver\n[^]*Read-only file system[^]*\nagent\nmore\nserver\n$/u,
    );
    expect(stderr).toContain("overlay of its workspace (3 changes, 0 refused)");
    expect(namesIn(world.work)).toEqual(before);
    const shown: {
      readonly id: string;
      readonly digest: string;
      readonly changes: readonly { readonly path: string }[];
    } = JSON.parse(
      (await acp(["review", "show", "--json"], { home: world.home, cwd: world.work })).stdout,
    );
    expect(shown.changes.map(({ path }) => path)).toEqual([".npmrc", "of-agent", "of-server"]);
    const take = ["review", "take", shown.id, "--all", "--digest", shown.digest];
    expect((await acp(take, { home: world.home, cwd: world.work })).stdout).toContain(
      "name them to take them: .npmrc\n",
    );
    expect(namesIn(world.work)).toEqual([...before, "of-agent", "of-server"].sort());
  });

  it("write nothing past it through a directory in the workspace that they are given by its name", async () => {
    await using world = await serversWorld();
    await mkdir(join(world.work, "out"));
    const { uid, gid } = await stat(world.work);
    await chown(join(world.work, "out"), uid, gid);
    await world.serve({ name: "w", write: [join(world.work, "out")] });
    const call = JSON.stringify([["run", `echo server > ${world.work}/out/written`]]);
    const { stdout, stderr } = await world.run(
      ["sh", "-c", `node call.mjs '${call}'; cat out/written`],
      { args: REVIEW },
    );
    expect(stdout).toMatch(/^server$/mu);
    expect(namesIn(join(world.work, "out"))).toEqual([]);
    expect(stderr).toContain("overlay of its workspace (1 change, 0 refused)");
    expect(namesIn(world.work)).toEqual(["call.mjs", "out", "secret"]);
  });
});

describe.each(KINDS.map((kind) => [kind, NEEDS[kind]] as const))(
  "the folders of MCP servers of acp run in %s",
  (kind, need) => {
    const args = ["--sandbox", kind];

    it.skipIf(!need.run)(
      `are looked at when they have ended: what is new and runs by itself has another name ${need.reason}`,
      async () => {
        await using world = await serversWorld();
        const folder = await folderBeside(world, "documents");
        await writeFile(join(folder, ".envrc"), "person\n");
        await world.serve({ name: "w", write: [folder] });
        const { stderr } = await world.run(
          [
            "node",
            "call.mjs",
            JSON.stringify([
              ["run", `cd ${folder}; echo x > .npmrc; mkdir .vscode; echo note > note.txt`],
            ]),
          ],
          { args },
        );
        expect(namesIn(folder)).toEqual([
          ".envrc",
          ".npmrc.set-aside",
          ".vscode.set-aside",
          "note.txt",
        ]);
        expect(readFileSync(join(folder, ".envrc"), "utf8")).toBe("person\n");
        expect(stderr).toContain(
          `.npmrc → .npmrc.set-aside, .vscode → .vscode.set-aside. Folder: ${folder}\n`,
        );
        const notices = (await world.events()).filter(
          ({ metadata }) => metadata["notice"] === "left_behind",
        );
        expect(notices).toHaveLength(1);
        expect(namesIn(join(world.home, "left-behind"))).toEqual([]);
      },
    );

    it.skipIf(!need.run)(
      `are looked at by the next start where the manager was killed ${need.reason}`,
      async () => {
        await using world = await serversWorld();
        const folder = await folderBeside(world, "documents");
        await world.serve({ name: "w", write: [folder] });
        const call = JSON.stringify([["run", `echo x > ${folder}/.npmrc`]]);
        const running = world.start(
          ["sh", "-c", `node call.mjs '${call}'; echo called; exec sleep 600`],
          { args },
        );
        await running.seen("stdout", "called");
        running.child.kill("SIGKILL");
        await running.ended;
        expect(namesIn(folder)).toEqual([".npmrc"]);
        await world.serve({ name: "w" });
        const { stderr } = await world.run(["true"], { args });
        expect(stderr).toContain(`.npmrc → .npmrc.set-aside. Folder: ${folder}\n`);
        expect(namesIn(folder)).toEqual([".npmrc.set-aside"]);
      },
    );

    it.skipIf(!need.run)(
      `are looked at when servers that closed their output and ignore their end are gone, too ${need.reason}`,
      async () => {
        await using world = await serversWorld();
        const folder = await folderBeside(world, "documents");
        const evil = `cd ${folder}; trap '' TERM; exec >&- 2>&-; while :; do [ -e .npmrc ] || echo x > .npmrc; sleep 0.02; done`;
        await world.serve({
          name: "w",
          write: [folder],
          command: "/bin/sh",
          args: ["-c", evil],
          read: [],
        });
        // The agent ends when the server has begun to write, and takes no care of its session.
        const agent = `acp-mcp-bridge < call.mjs & until test -e ${folder}/.npmrc; do sleep 0.1; done`;
        await world.run(["sh", "-c", agent], { args: [...args, "--read", folder] });
        expect(namesIn(folder)).toEqual([".npmrc.set-aside"]);
      },
    );
  },
);
