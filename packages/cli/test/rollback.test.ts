/**
 * Older files of a home that are put back, with the real `acp`: what was revoked answers nothing
 * again, until somebody declares the restore.
 */
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { homePaths } from "@acp/home";
import { describe, expect, it } from "vitest";
import { declareRestore } from "../src/rollback/declare-restore.js";
import { acp, scratch } from "./harness.js";
import type { Scratch } from "./harness.js";
import { answering, startGated } from "./mcp-client.js";
import type { Answer, Gated } from "./mcp-client.js";

const POLICY = `version: "1"
default_action: ask
rules:
  - id: writes
    match: { tool: write_file }
    action: ask
    offers: [{ covers: tool, ttl: 600, uses: 5 }]
  - match: { tool: list_directory }
    action: allow
`;

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
  /** Copies what a backup of these would have. */
  copy(...names: readonly string[]): Promise<() => Promise<void>>;
}

async function world(): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  let copies = 0;
  return {
    ...at,
    home,
    folder,
    async copy(...names) {
      const to = join(at.path, `copy-${++copies}`);
      for (const name of names) await cp(join(home, name), join(to, name), { recursive: true });
      return async () => {
        for (const name of names) {
          await rm(join(home, name), { recursive: true, force: true });
          await cp(join(to, name), join(home, name), { recursive: true });
        }
      };
    },
  };
}

const write = (gated: Gated, { folder }: World, name: string): Promise<Answer> =>
  gated.call("write_file", { path: join(folder, name), content: "x" });

/** A yes that covers more than its call. */
async function giveGrant(at: World, gated: Gated): Promise<void> {
  const yes = await answering(
    at.home,
    (request) => ({ decision: "approved", grantId: request.offers[0]?.id ?? "" }),
    () => write(gated, at, "a"),
  );
  expect(yes).toMatchObject({ isError: false });
  expect(await write(gated, at, "b")).toMatchObject({ isError: false });
}

describe("grants.json put back with its claims", () => {
  it("brings no revoked grant back to any gate, until a restore is declared", async () => {
    await using at = await world();
    await using one = await startGated(at);
    await using two = await startGated(at);
    await giveGrant(at, one);
    const putBack = await at.copy("grants.json", "claims");
    expect(await acp(["grants", "revoke", "--all"], at)).toMatchObject({ code: 0 });
    await putBack();
    for (const gate of [one, two])
      expect(await write(gate, at, "c")).toMatchObject({
        isError: true,
        code: "channel_unavailable",
      });
    await using three = await startGated(at);
    expect(await write(three, at, "c")).toMatchObject({
      isError: true,
      code: "channel_unavailable",
    });
    const listed = await acp(["grants"], at);
    expect(listed.stdout).toBe("No earlier consent is in force\n");
    expect(listed.stderr).toContain("acp doctor --fix grants_rolled_back");

    await putBack();
    const io = { userHome: at.path };
    await declareRestore({ home: homePaths(at.home), io, reason: "the test wants it back" });
    for (const gate of [one, two, three])
      expect(await write(gate, at, "d")).toMatchObject({ isError: false });
    const shown = await acp(["audit", "show"], at);
    expect(shown.stdout).toContain("home_restored");
    expect(shown.stdout).toContain("the test wants it back");
  });
});

describe("keys and vault put back", () => {
  it("stop their use, and no gate: it allows and denies, and asks nobody", async () => {
    await using at = await world();
    const putBack = await at.copy("keys", "vault.json");
    await using running = await startGated(at);
    expect(await acp(["keys", "rotate"], at)).toMatchObject({ code: 0 });
    await running.said("The keys were rotated");
    await putBack();
    await using started = await startGated(at);
    await started.said("the log notes newer keys");
    expect(await started.call("list_directory", { path: at.folder })).toMatchObject({
      isError: false,
    });
    // What one saw while the files were copied it tries again later, and until then it denies.
    for (const gate of [running, started]) {
      const denied = await answering(at.home, { decision: "approved" }, () => write(gate, at, "a"));
      expect(denied).toMatchObject({ isError: true, code: "paused" });
    }
    const { stdout } = await acp(["doctor", "--json"], at);
    expect(stdout).toContain("keys_rolled_back");
    expect(stdout).toContain("vault_rolled_back");
  });
});

describe("config.yml", () => {
  it("is named by its hash, and known when an older text is back", async () => {
    await using at = await world();
    const texts = ['version: "1"\n', 'version: "1"\ndefaults: { timeout_seconds: 60 }\n'];
    for (const text of [texts[0], texts[0], texts[1], texts[0]]) {
      await writeFile(join(at.home, "config.yml"), text ?? "", { mode: 0o600 });
      await using gated = await startGated(at);
      await gated.client.listTools();
    }
    const shown = await acp(["audit", "show", "--limit", "0", "--json"], at);
    const notices = shown.stdout.match(/"notice":"config_[a-z_]+"/g);
    expect(notices).toEqual(
      ["loaded", "loaded", "reloaded", "reloaded", "seen_before"].map(
        (what) => `"notice":"config_${what}"`,
      ),
    );
  });
});
