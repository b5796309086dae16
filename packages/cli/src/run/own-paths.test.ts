import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_CONFIG, openHome } from "@acp/home";
import { expect, it, onTestFinished } from "vitest";
import type { Io } from "../command.js";
import { ownPaths } from "./own-paths.js";

it("ownPaths() names the home and everything of ours that is elsewhere, also behind a link", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "acp-own-")));
  onTestFinished(() => rm(root, { recursive: true }));
  const at = (name: string): string => join(root, name);
  await mkdir(at("home"), { mode: 0o700 });
  await writeFile(at("real-policy.yml"), "");
  await symlink(at("real-policy.yml"), at("policy.yml"));
  const config = {
    ...DEFAULT_CONFIG,
    http: {
      agents: [
        { id: "a", token: "t", policyPath: at("agent-policy.yml") },
        { id: "b", token: "t" },
      ],
    },
    audit: {
      format: "v0.2" as const,
      witnesses: [{ directory: at("witness") }, { url: "https://witness.example" }],
    },
  };
  const source = {
    file: at("config.yml"),
    config,
    policyFile: at("policy.yml"),
    isPolicyNamed: true,
  };
  // Everything else of an Io is not looked at.
  const io = { cwd: root, env: { ACP_PASSPHRASE_FILE: "passphrase" } } as unknown as Io;
  const invocation = { values: { "key-file": "stick.key" }, io };
  const names = [
    "home",
    "config.yml",
    "policy.yml",
    "stick.key",
    "passphrase",
    "agent-policy.yml",
    "witness",
    "real-policy.yml",
  ];
  expect(new Set(await ownPaths({ home: await openHome(at("home")), source, invocation }))).toEqual(
    new Set(names.map(at)),
  );
});
