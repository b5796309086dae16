/** Damages to a home, its files, settings and keys, each with the code of its finding. */
import {
  chmod,
  chown,
  link,
  mkdir,
  readFile,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { changeVaultFile, initKeys, makeKeyFile } from "@acp/home";
import type { FindingCode } from "../src/doctor/codes.js";
import type { ContextParts } from "../src/doctor/context.js";
import { noteMark } from "../src/logs/vault-log.js";
import { ioOf } from "./doctor-world.js";
import type { World } from "./doctor-world.js";

/** One thing that is done to a home. */
export interface Damage {
  readonly name: string;
  readonly code: FindingCode;
  readonly do: (world: World) => Promise<unknown>;
  /** Whether --fix mends it. */
  readonly isMended?: true;
  readonly parts?: Partial<ContextParts>;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const AN_HOUR_AGO = new Date(Date.now() - 2 * 60 * 60 * 1_000);
const write = (path: string, text: string | Uint8Array): Promise<void> =>
  writeFile(path, text, { mode: 0o600 });

export const HOME: readonly Damage[] = [
  { name: "no home", code: "home_missing", do: ({ home }) => rm(home.dir, { recursive: true }) },
  {
    name: "a file for a home",
    code: "home_not_directory",
    do: async ({ home }) => {
      await rm(home.dir, { recursive: true });
      await write(home.dir, "");
    },
  },
  {
    name: "a link for a home",
    code: "home_link",
    do: async ({ home }) => {
      await rm(home.dir, { recursive: true });
      await symlink("/tmp", home.dir);
    },
  },
  { name: "mode 755", code: "home_open", isMended: true, do: ({ home }) => chmod(home.dir, 0o755) },
  {
    name: "mode 000",
    code: "home_unreadable",
    isMended: true,
    do: ({ home }) => chmod(home.dir, 0o000),
  },
  {
    name: "a folder above that anyone may write in",
    code: "home_replaceable",
    do: ({ home }) => chmod(join(home.dir, ".."), 0o777),
  },
];

export const FILES: readonly Damage[] = [
  {
    name: "grants that others may read",
    code: "file_open",
    isMended: true,
    do: async ({ home }) => {
      await write(home.grantsPath, '{"version":"1","grants":[]}');
      await chmod(home.grantsPath, 0o644);
    },
  },
  {
    name: "a log that others may read",
    code: "file_open",
    isMended: true,
    do: ({ log }) => chmod(log, 0o640),
  },
  {
    name: "a policy that others may write",
    code: "file_open",
    isMended: true,
    do: ({ home }) => chmod(home.policyPath, 0o666),
  },
  {
    name: "a config that others may read",
    code: "file_readable",
    isMended: true,
    do: ({ home }) => chmod(home.configPath, 0o644),
  },
  {
    name: "a vault of mode 000",
    code: "file_unreadable",
    isMended: true,
    do: ({ home }) => chmod(home.vaultPath, 0o000),
  },
  {
    name: "keys that others may enter",
    code: "folder_open",
    isMended: true,
    do: ({ home }) => chmod(home.keysDir, 0o750),
  },
  {
    name: "a private key that is a link",
    code: "file_link",
    do: async ({ home }) => {
      await rm(home.privateKeyPath);
      await symlink("/dev/null", home.privateKeyPath);
    },
  },
  {
    name: "a log with a second name",
    code: "file_second_name",
    do: ({ log, home }) => link(log, join(home.dir, "..", "copy")),
  },
  {
    name: "a folder in the place of the policy",
    code: "file_not_file",
    do: async ({ home }) => {
      await rm(home.policyPath);
      await mkdir(home.policyPath, { mode: 0o700 });
    },
  },
  {
    name: "what a killed process was writing",
    code: "temporary_left",
    isMended: true,
    do: async ({ home }) => {
      const path = join(home.dir, ".grants.json.4711.0123456789ab.tmp");
      await write(path, "");
      await utimes(path, AN_HOUR_AGO, AN_HOUR_AGO);
    },
  },
];

export const FOREIGN: readonly Damage[] = [
  {
    name: "another user's home",
    code: "home_foreign",
    do: ({ home }) => chown(home.dir, 12_345, 12_345),
  },
  {
    name: "another user's policy",
    code: "file_foreign",
    do: ({ home }) => chown(home.policyPath, 12_345, 12_345),
  },
];

export const SETTINGS: readonly Damage[] = [
  {
    name: "a clock of 1970",
    code: "clock_wrong",
    parts: { nowMs: 5_000 },
    do: () => Promise.resolve(),
  },
  {
    name: "a clock that is an hour behind",
    code: "clock_behind",
    parts: { nowMs: Date.now() - DAY_MS / 24 },
    do: () => Promise.resolve(),
  },
  {
    name: "events of next month",
    code: "clock_future_events",
    parts: { nowMs: Date.now() - 30 * DAY_MS },
    do: () => Promise.resolve(),
  },
  { name: "no config.yml", code: "config_missing", do: ({ home }) => rm(home.configPath) },
  {
    name: "an unknown key",
    code: "config_broken",
    do: ({ home }) => write(home.configPath, 'version: "1"\nchanel: prompt\n'),
  },
  {
    name: "a config of NUL bytes",
    code: "config_broken",
    do: ({ home }) => write(home.configPath, new Uint8Array(64)),
  },
  {
    name: "a config without a version",
    code: "config_warning",
    do: ({ home }) => write(home.configPath, "channel: prompt\n"),
  },
  {
    name: "an emptied policy",
    code: "policy_broken",
    do: ({ home }) => write(home.policyPath, ""),
  },
  { name: "no policy", code: "policy_missing", do: ({ home }) => rm(home.policyPath) },
  {
    name: "a policy for several people and no approvers",
    code: "policy_broken",
    do: async ({ home }) => {
      await write(home.configPath, 'version: "1"\n');
      await write(
        home.policyPath,
        'version: "1"\nrules:\n  - id: two\n    match: { kind: "*" }\n    action: ask\n    quorum: 2\n',
      );
    },
  },
  {
    name: "a channel on which nobody can answer",
    code: "channel_nobody",
    do: ({ home }) =>
      write(
        home.configPath,
        'version: "1"\nchannel: prompt\napprovers:\n  - { id: ada, channel: telegram, subject: "1" }\n',
      ),
  },
  {
    name: "a bot token that is none",
    code: "channel_secret_broken",
    do: ({ home }) =>
      write(
        home.configPath,
        'version: "1"\nchannel: telegram\ntelegram: { bot_token: "nope", chat_id: "1" }\n',
      ),
  },
  {
    name: "a sandbox around it",
    code: "sandbox_inside",
    parts: { io: ioOf({ ACP_SANDBOX: "namespace" }) },
    do: () => Promise.resolve(),
  },
];

export const KEYS: readonly Damage[] = [
  {
    name: "no keys at all",
    code: "keys_missing",
    do: ({ home }) =>
      Promise.all(
        [home.privateKeyPath, home.publicKeyPath, home.vaultPath].map((path) => rm(path)),
      ),
  },
  {
    name: "a private key that is gone",
    code: "key_lost",
    do: ({ home }) => rm(home.privateKeyPath),
  },
  {
    name: "an emptied private key",
    code: "key_broken",
    do: ({ home }) => truncate(home.privateKeyPath),
  },
  {
    name: "a key file that is gone",
    code: "unlock_file_missing",
    do: ({ home }) => rm(join(home.keysDir, "unlock.key")),
  },
  {
    name: "another key file",
    code: "key_rejected",
    do: ({ home }) => write(join(home.keysDir, "unlock.key"), makeKeyFile()),
  },
  {
    name: "a key file of text",
    code: "key_rejected",
    do: ({ home }) => write(join(home.keysDir, "unlock.key"), "hello\n"),
  },
  {
    name: "an emptied public key",
    code: "public_keys_broken",
    do: ({ home }) => truncate(home.publicKeyPath),
  },
  {
    name: "a public key that is gone",
    code: "public_keys_broken",
    do: ({ home }) => rm(home.publicKeyPath),
  },
  {
    name: "a passphrase that nobody gives",
    code: "passphrase_unknown",
    do: async ({ home }) => {
      for (const path of [home.privateKeyPath, home.publicKeyPath, home.vaultPath]) await rm(path);
      await initKeys(home, { kind: "passphrase", passphrase: "correct horse battery" });
    },
  },
  {
    name: "no checkpoint key",
    code: "checkpoint_key_missing",
    isMended: true,
    do: ({ home }) => rm(join(home.keysDir, "checkpoint.key")),
  },
  {
    name: "a broken checkpoint key",
    code: "checkpoint_key_broken",
    isMended: true,
    do: ({ home }) => write(join(home.keysDir, "checkpoint.key"), "PRIVATE+KEY+x\n"),
  },
  { name: "a vault that is gone", code: "vault_missing", do: ({ home }) => rm(home.vaultPath) },
  { name: "an emptied vault", code: "vault_broken", do: ({ home }) => truncate(home.vaultPath) },
  {
    name: "an older vault",
    code: "vault_rolled_back",
    do: async ({ home, context }) => {
      const keys = await context().keys();
      if (keys === undefined || keys instanceof Error) throw new Error("the keys do not open");
      const older = await readFile(home.vaultPath, "utf8");
      const mark = await changeVaultFile(home, keys, (secrets) => secrets);
      await noteMark({ home, io: ioOf() }, mark, { change: "resealed" });
      await write(home.vaultPath, older);
    },
  },
  {
    name: "a record key that is none",
    code: "record_key_broken",
    isMended: true,
    do: async ({ home }) => {
      for (const path of [home.privateKeyPath, home.publicKeyPath, home.vaultPath]) await rm(path);
      await write(home.recordKeyPath, "00\n");
    },
  },
];
