/** Damages to what follows what, and to what is kept for later, each with the code of its finding. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFile,
  cp,
  mkdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { logEvent, randomIds } from "@acp/core";
import type { AuditEventInput } from "@acp/core";
import { printPasskeys, swapPath } from "@acp/home";
import { beginStaging } from "../src/backup/staging.js";
import { rotateCheckpointKey } from "../src/logs/checkpoint-seams.js";
import { openHomeAudit } from "../src/logs/open-audit.js";
import type { Damage } from "./doctor-damages.js";
import { addEvents, edit } from "./doctor-world.js";
import type { World } from "./doctor-world.js";

const write = (path: string, text: string | Uint8Array): Promise<void> =>
  writeFile(path, text, { mode: 0o600 });
const folder = async (path: string): Promise<void> =>
  void (await mkdir(path, { recursive: true, mode: 0o700 }));

/** A log that was set aside, and one that follows it. */
async function quarantined(world: World): Promise<string> {
  await edit(world.log, (text) => text.replace("sample 3", "simple 3"));
  await world.fix();
  await addEvents(world.home, 2);
  return `${world.log}.seams`;
}

/** A checkpoint key that followed another one; gives the text of that. */
async function rotated({ home }: World): Promise<string> {
  const older = await readFile(join(home.keysDir, "checkpoint.key"), "utf8");
  await rotateCheckpointKey(home);
  await addEvents(home, 2);
  return older;
}

/** A home whose log has an answer, and whose claims have it. */
async function answered({ home }: World): Promise<string> {
  await folder(join(home.dir, "claims"));
  const path = join(home.dir, "claims", "claims.jsonl");
  await write(path, '{"key":"ended:cr_1","end_ms":9000000000000,"ttl_ms":1000}\n');
  const stamp = { id: randomIds.next("ae"), atMs: Date.now() };
  const event: AuditEventInput = {
    ...logEvent("gate_notice", stamp, {}),
    eventType: "consent_approved",
    requestId: "cr_1",
  };
  await using audit = await openHomeAudit(home);
  await audit.append([event]);
  return path;
}

export const MORE: readonly Damage[] = [
  {
    name: "seams of a log that are gone",
    code: "seams_missing",
    isMended: true,
    do: async (world) => rm(await quarantined(world)),
  },
  {
    name: "seams of a log that were emptied",
    code: "seams_missing",
    isMended: true,
    do: async (world) => truncate(await quarantined(world)),
  },
  {
    name: "seams of a log without its last line",
    code: "seams_missing",
    isMended: true,
    do: async (world) => {
      const path = await quarantined(world);
      await edit(path, (text) => text.slice(0, -20));
    },
  },
  {
    name: "a seam of a log that somebody changed",
    code: "seam_broken",
    do: async (world) => {
      const path = await quarantined(world);
      await edit(path, (text) => text.replace("quarantined/", "quarantimed/"));
    },
  },
  {
    name: "a plan of what was set aside that nobody can read",
    code: "quarantine_changed",
    do: async (world) => {
      await quarantined(world);
      await write(join(world.home.dir, "quarantined", "audit.jsonl.1", "quarantine.json"), "{");
    },
  },
  {
    name: "what was set aside without its plan",
    code: "quarantine_changed",
    do: async (world) => {
      await quarantined(world);
      await rm(join(world.home.dir, "quarantined", "audit.jsonl.1", "quarantine.json"));
    },
  },
  {
    name: "a log that was set aside and is gone",
    code: "quarantine_gone",
    do: async (world) => {
      await quarantined(world);
      await rm(join(world.home.dir, "quarantined", "audit.jsonl.1", "audit.jsonl"));
    },
  },
  {
    name: "an older checkpoint key",
    code: "checkpoint_key_older",
    do: async (world) => write(join(world.home.keysDir, "checkpoint.key"), await rotated(world)),
  },
  {
    name: "seams of checkpoint keys that were emptied",
    code: "key_seams_broken",
    do: async (world) => {
      await rotated(world);
      await truncate(join(world.home.keysDir, "checkpoint.seams"));
    },
  },
  {
    name: "seams of checkpoint keys that are no text",
    code: "key_seams_broken",
    do: async (world) => {
      await rotated(world);
      await write(join(world.home.keysDir, "checkpoint.seams"), "hello\n");
    },
  },
  {
    name: "a checkpoint key that is no text",
    code: "checkpoint_key_broken",
    isMended: true,
    do: ({ home }) => write(join(home.keysDir, "checkpoint.key"), Uint8Array.of(0xff, 0xfe)),
  },
  {
    name: "a private key that is no text",
    code: "key_broken",
    do: ({ home }) => write(home.privateKeyPath, Uint8Array.of(0xff, 0xfe)),
  },
  {
    name: "a private key of 300 MB",
    code: "key_broken",
    do: ({ home }) => truncate(home.privateKeyPath, 300 * 1024 * 1024),
  },
  {
    name: "a public key that is not the private key's",
    code: "keys_differ",
    do: ({ home }) =>
      edit(
        home.publicKeyPath,
        (text) =>
          `d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a${text.slice(64)}`,
      ),
  },
  {
    name: "claims that were emptied",
    code: "claims_emptied",
    isMended: true,
    do: async (world) => truncate(await answered(world)),
  },
  {
    name: "a line of open questions that is none",
    code: "pending_ignored",
    do: async ({ home }) => {
      await folder(join(home.dir, "pending", "0123abcd"));
      await write(join(home.dir, "pending", "0123abcd", "journal.jsonl"), "hello\n");
    },
  },
  {
    name: "a policy text of before that was changed",
    code: "policy_text_changed",
    isMended: true,
    do: async ({ home }) => {
      await folder(join(home.dir, "policies"));
      const hash = createHash("sha256").update("one").digest("hex");
      await write(join(home.dir, "policies", `${hash}.yml`), "other");
    },
  },
  {
    name: "a pin of a server that nobody can read",
    code: "server_pin_broken",
    do: async ({ home }) => {
      await folder(join(home.dir, "servers", "notes", "packages"));
      await write(join(home.dir, "servers", "notes", "packages", "pin.json"), "{}");
    },
  },
  {
    name: "passkeys that are gone",
    code: "passkeys_gone",
    do: async (world) => {
      const { home } = world;
      const stamp = { id: randomIds.next("ae"), atMs: Date.now() };
      const hash = `sha256:${createHash("sha256").update(printPasskeys([])).digest("hex")}`;
      await using audit = await openHomeAudit(home);
      await audit.append([logEvent("state_saved", stamp, { file: "passkeys", counter: 1, hash })]);
      await rm(home.passkeysPath);
    },
  },
  {
    name: "what a killed restore left",
    code: "restore_left",
    isMended: true,
    do: async ({ home: { dir } }) => {
      const { dir: left } = await beginStaging({ kind: "restore", home: dir, target: dir });
      await edit(`${left}.json`, (text) => text.replace(/"pid":\d+/, `"pid":${2 ** 30}`));
      await cp(dir, left, { recursive: true });
    },
  },
  {
    name: "a folder for the look-up tables of a log",
    code: "file_not_file",
    do: async ({ log }) => {
      await rm(`${log}.lookup`, { force: true });
      await folder(`${log}.lookup`);
    },
  },
  {
    name: "a file in the place of a folder",
    code: "file_not_file",
    do: ({ home }) => write(join(home.dir, "policies"), ""),
  },
  {
    name: "a pipe for the checkpoints of a log",
    code: "checkpoints_broken",
    isMended: true,
    do: async ({ log }) => {
      await rm(`${log}.checkpoints`);
      execFileSync("mkfifo", ["-m", "600", `${log}.checkpoints`]);
    },
  },
  ...["audit.02.jsonl", "audit.1.jsonl", "Audit.2.jsonl", "audit.jsonl\n", "audit.70000.jsonl"].map(
    (name): Damage => ({
      name: `a log under the name ${JSON.stringify(name)}`,
      code: "log_misnamed",
      do: ({ home, log }) => copyFile(log, join(home.dir, name)),
    }),
  ),
  {
    name: "a folder for the cache of a log",
    code: "file_not_file",
    do: async ({ log }) => {
      await rm(`${log}.index`, { force: true });
      await folder(`${log}.index`);
    },
  },
  {
    name: "a home that a restore left beside its place",
    code: "home_half_moved",
    isMended: true,
    do: async ({ home: { dir } }) => {
      const at = {
        home: dir,
        target: dir,
        aside: `${dir}.replaced`,
        staging: `${dirname(dir)}/.acp-0123abcd`,
      };
      await cp(dir, at.staging, { recursive: true });
      await rename(dir, at.aside);
      await write(swapPath(dir), JSON.stringify({ version: "1", kind: "restore", ...at }));
    },
  },
  {
    name: "a link in the place of an older quarantine",
    code: "file_link",
    do: async ({ home }) => {
      await folder(join(home.dir, "quarantined"));
      await symlink("/nowhere", join(home.dir, "quarantined", "audit.jsonl.7"));
    },
  },
];
