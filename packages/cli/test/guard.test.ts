/**
 * The guard, whole: a home that `acp init` made, the built `acp mcp`, and the real file server over
 * the user's home.
 */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acp, scratch } from "./harness.js";
import type { Scratch } from "./harness.js";
import { startGated } from "./mcp-client.js";
import type { Gated } from "./mcp-client.js";

let world: Scratch;
let gated: Gated;
const SECRETS = ["BEGIN", "SSH-SECRET", "ENV-SECRET", "encrypted"];

beforeAll(async () => {
  world = await scratch();
  const user = world.path;
  const env = { HOME: user };
  await acp(["init", "--key-file", join(user, ".acp/keys/unlock.key")], { env });
  await mkdir(join(user, ".ssh"));
  await mkdir(join(user, "projects"));
  await writeFile(join(user, ".ssh/id_rsa"), "SSH-SECRET");
  await writeFile(join(user, "projects/.env"), "ENV-SECRET");
  await writeFile(join(user, "projects/notes.txt"), "Buy milk");
  await writeFile(join(user, "projects/about.txt"), "see ~/.ssh/id_rsa");
  await symlink("../.acp/keys", join(user, "projects/assets"));
  await symlink("../.ssh/id_rsa", join(user, "projects/readme.txt"));
  gated = await startGated({ home: join(user, ".acp"), folder: user, env, isResident: true });
});
afterAll(async () => {
  await gated?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

describe("acp mcp before a file server over the user's home", () => {
  it("reads without a question what is nobody's secret", async () => {
    expect(
      await gated.call("read_text_file", { path: join(world.path, "projects/notes.txt") }),
    ).toMatchObject({ text: "Buy milk" });
    expect((await gated.call("list_directory", { path: world.path })).text).toContain("projects");
  });

  it.each([
    ["read_text_file", (user: string) => ({ path: join(user, ".acp/keys/private.key") })],
    ["read_text_file", () => ({ path: "~/.acp/keys/private.key" })],
    ["read_text_file", () => ({ path: ".acp/keys/private.key" })],
    ["read_text_file", (user: string) => ({ path: `${user}/projects/../.acp/keys/private.key` })],
    [
      "read_multiple_files",
      (user: string) => ({
        paths: [join(user, "projects/notes.txt"), join(user, ".acp/keys/private.key")],
      }),
    ],
    [
      "read_file",
      (user: string) => ({
        file_path: join(user, ".acp/keys/private.key"),
        path: join(user, ".acp/keys/private.key"),
      }),
    ],
    ["read_text_file", (user: string) => ({ path: join(user, "projects/assets/private.key") })],
    ["read_media_file", (user: string) => ({ path: join(user, ".acp/vault.json") })],
    [
      "write_file",
      (user: string) => ({ path: join(user, ".acp/policy.yml"), content: "default: allow" }),
    ],
    [
      "edit_file",
      (user: string) => ({
        path: join(user, ".acp/policy.yml"),
        edits: [{ oldText: "ask", newText: "allow" }],
      }),
    ],
    ["list_directory", (user: string) => ({ path: join(user, ".acp/keys") })],
    [
      "move_file",
      (user: string) => ({ source: join(user, ".acp"), destination: join(user, "projects/x") }),
    ],
  ])("denies %s of ACP's own files: %#", async (tool, argsOf) => {
    const answer = await gated.call(tool, argsOf(world.path));
    expect(answer).toMatchObject({ isError: true, code: "policy_denied" });
    for (const secret of SECRETS) expect(answer.text).not.toContain(secret);
  });

  it.each([
    ["read_text_file", (user: string) => ({ path: join(user, ".ssh/id_rsa") })],
    ["read_text_file", () => ({ path: "~/.ssh/id_rsa" })],
    ["read_multiple_files", (user: string) => ({ paths: [join(user, ".ssh/id_rsa")] })],
    ["read_text_file", (user: string) => ({ path: join(user, "projects/readme.txt") })],
    ["read_text_file", (user: string) => ({ path: join(user, "projects/.env") })],
    ["search_files", (user: string) => ({ path: user, pattern: "*" })],
  ])(
    "asks before %s of a place of credentials, so that with nobody there it is denied: %#",
    async (tool, argsOf) => {
      const answer = await gated.call(tool, argsOf(world.path));
      expect(answer).toMatchObject({ isError: true, code: "channel_unavailable" });
      for (const secret of SECRETS) expect(answer.text).not.toContain(secret);
    },
  );

  it("does not take an allow of the policy for more", async () => {
    await writeFile(join(world.path, "open.yml"), 'version: "1"\ndefault_action: allow\n');
    const config = join(world.path, "open-config.yml");
    await writeFile(
      config,
      `version: "1"\ndefaults: { policy: ${join(world.path, "open.yml")} }\n`,
      { mode: 0o600 },
    );
    await using open = await startGated({
      home: join(world.path, ".acp"),
      folder: world.path,
      args: ["--config", config],
      env: { HOME: world.path },
    });
    expect(await open.call("read_text_file", { path: "~/.acp/keys/private.key" })).toMatchObject({
      code: "policy_denied",
    });
    expect(await open.call("read_text_file", { path: join(world.path, "open.yml") })).toMatchObject(
      { code: "policy_denied" },
    );
    expect(await open.call("read_text_file", { path: "projects/about.txt" })).toMatchObject({
      text: "see ~/.ssh/id_rsa",
    });
  });

  it("is in what acp policy explain says", async () => {
    const args = [
      "policy",
      "explain",
      "--tool",
      "files.read_text_file",
      "--args",
      '{"path":"~/.acp/keys/private.key"}',
    ];
    const { stdout } = await acp(args, {
      home: join(world.path, ".acp"),
      env: { HOME: world.path },
    });
    expect(stdout).toContain("guard:acp-home");
  });
});
