/** Damages to logs, stores and sockets, each with the code of its finding. */
import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { generateNoteKey, noteSigner, signCheckpoint } from "@acp/audit";
import { randomIds } from "@acp/core";
import { stateSavedEvent } from "@acp/core/unstable";
import type { StateKind } from "@acp/core/unstable";
import { homePaths } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { onTestFinished } from "vitest";
import { openHomeAudit } from "../src/logs/open-audit.js";
import type { Damage } from "./doctor-damages.js";
import { addEvents, doctorWorld, edit } from "./doctor-world.js";
import type { World } from "./doctor-world.js";

const AN_HOUR_AGO = new Date(Date.now() - 2 * 60 * 60 * 1_000);
const write = (path: string, text: string | Uint8Array): Promise<void> =>
  writeFile(path, text, { mode: 0o600 });
const lines = (text: string): string[] => text.split("\n").slice(0, -1);
const beside = ({ log }: World): string => `${log}.checkpoints`;

/** Notes a save that is not the file's. */
async function noteState(home: HomePaths, kind: StateKind): Promise<void> {
  await using audit = await openHomeAudit(home);
  const stamp = { id: randomIds.next("ae"), atMs: Date.now() };
  const hash = `sha256:${"5e".repeat(32)}`;
  await audit.append([stateSavedEvent({ kind, counter: 2, hash }, stamp)]);
}

export const LOGS: readonly Damage[] = [
  {
    name: "half a line at the end",
    code: "log_torn",
    isMended: true,
    do: ({ log }) => edit(log, (text) => `${text}{"agent":"`),
  },
  {
    name: "NUL bytes at the end",
    code: "log_torn",
    isMended: true,
    do: ({ log }) => edit(log, (text) => text + "\0".repeat(4_096)),
  },
  {
    name: "NUL bytes in the middle",
    code: "log_nul",
    isMended: true,
    do: ({ log }) => edit(log, (text) => text.replace(/sample 3/, "\0\0\0\0\0\0\0\0")),
  },
  {
    name: "a NUL block that the next line follows",
    code: "log_nul",
    isMended: true,
    do: ({ log }) =>
      edit(
        log,
        (text) =>
          `${lines(text).slice(0, 4).join("\n")}\n${"\0".repeat(512)}${lines(text).slice(4).join("\n")}\n`,
      ),
  },
  {
    name: "a changed word",
    code: "log_broken",
    isMended: true,
    do: ({ log }) => edit(log, (text) => text.replace("sample 3", "simple 3")),
  },
  {
    name: "a line that is missing",
    code: "log_broken",
    isMended: true,
    do: ({ log }) => edit(log, (text) => `${lines(text).toSpliced(3, 1).join("\n")}\n`),
  },
  {
    name: "a line twice",
    code: "log_broken",
    isMended: true,
    do: ({ log }) =>
      edit(
        log,
        (text) =>
          `${lines(text)
            .toSpliced(3, 0, lines(text)[2] ?? "")
            .join("\n")}\n`,
      ),
  },
  {
    name: "a last line that is none",
    code: "log_broken",
    isMended: true,
    do: ({ log }) => edit(log, (text) => `${text}oops\n`),
  },
  {
    name: "a first line that is none",
    code: "log_not_log",
    isMended: true,
    do: ({ log }) => write(log, "my shopping list\n"),
  },
  {
    name: "a start that is missing",
    code: "log_start_missing",
    isMended: true,
    do: ({ log }) => edit(log, (text) => `${lines(text).slice(3).join("\n")}\n`),
  },
  {
    name: "an end that is missing",
    code: "log_end_missing",
    isMended: true,
    do: ({ log }) => edit(log, (text) => `${lines(text).slice(0, 4).join("\n")}\n`),
  },
  {
    name: "an emptied log",
    code: "log_end_missing",
    isMended: true,
    do: ({ log }) => truncate(log),
  },
  { name: "a log that is gone", code: "log_end_missing", isMended: true, do: ({ log }) => rm(log) },
  {
    name: "a log that was written again",
    code: "log_replaced",
    isMended: true,
    do: async (world) => {
      const other = await doctorWorld();
      for (const path of [world.log, beside(world)]) await rm(path);
      await addEvents(world.home, 9);
      await write(beside(world), await readFile(beside(other), "utf8"));
    },
  },
  {
    name: "a folder for a log",
    code: "log_unreadable",
    do: async ({ log }) => {
      await rm(log);
      await mkdir(log, { mode: 0o700 });
    },
  },
  {
    name: "checkpoints of NUL bytes",
    code: "checkpoints_broken",
    isMended: true,
    do: (world) => write(beside(world), "\0\0\0\n"),
  },
  {
    name: "emptied checkpoints",
    code: "checkpoints_emptied",
    isMended: true,
    do: (world) => truncate(beside(world)),
  },
  {
    name: "checkpoints that are gone",
    code: "checkpoints_emptied",
    isMended: true,
    do: (world) => rm(beside(world)),
  },
  {
    name: "checkpoints of another key",
    code: "checkpoints_foreign",
    isMended: true,
    do: (world) => {
      const signer = noteSigner(generateNoteKey("other").signerKey);
      const note = signCheckpoint({ origin: "other", size: 0, root: new Uint8Array(32) }, signer);
      return edit(beside(world), (text) => `${text}${JSON.stringify(note)}\n`);
    },
  },
  {
    name: "a witness that is not mounted",
    code: "witness_missing",
    do: ({ home }) =>
      write(home.configPath, 'version: "1"\naudit:\n  witnesses: [{ directory: /not/mounted }]\n'),
  },
  {
    name: "forty logs",
    code: "logs_many",
    do: ({ home }) =>
      Promise.all(
        Array.from({ length: 40 }, (_, at) => write(join(home.dir, `audit.${at + 2}.jsonl`), "")),
      ),
  },
];

export const STORES: readonly Damage[] = [
  {
    name: "passkeys of half a file",
    code: "passkeys_broken",
    isMended: true,
    do: ({ home }) => write(home.passkeysPath, '{"version":"1","pass'),
  },
  {
    name: "emptied passkeys",
    code: "passkeys_broken",
    isMended: true,
    do: ({ home }) => truncate(home.passkeysPath),
  },
  {
    name: "passkeys with an unknown field",
    code: "passkeys_broken",
    isMended: true,
    do: ({ home }) => write(home.passkeysPath, '{"version":"1","passkeys":[],"more":1}'),
  },
  {
    name: "only revoked passkeys",
    code: "passkeys_none_active",
    do: ({ home }) =>
      write(
        home.passkeysPath,
        JSON.stringify({
          version: "1",
          passkeys: [
            {
              id: "aa",
              approver: "ada",
              publicKey: "aa",
              rpId: "localhost",
              origins: ["http://localhost"],
              label: "l",
              createdAtMs: 1,
              revokedAtMs: 2,
            },
          ],
        }),
      ),
  },
  {
    name: "grants of half a file",
    code: "grants_broken",
    isMended: true,
    do: ({ home }) => write(home.grantsPath, '{"version"'),
  },
  {
    name: "older grants",
    code: "grants_rolled_back",
    isMended: true,
    do: async ({ home }) => {
      await write(home.grantsPath, '{"version":"1","counter":1,"grants":[]}');
      await noteState(home, "grants");
    },
  },
  {
    name: "older passkeys",
    code: "passkeys_rolled_back",
    isMended: true,
    do: async ({ home }) => {
      await write(home.passkeysPath, '{"version":"1","counter":1,"passkeys":[]}');
      await noteState(home, "passkeys");
    },
  },
  {
    name: "older pins of tools",
    code: "pins_rolled_back",
    isMended: true,
    do: async ({ home }) => {
      await write(home.toolPinsPath, '{"version":"1","counter":1,"servers":[]}');
      await noteState(home, "pins");
    },
  },
  {
    name: "pins of tools of half a file",
    code: "pins_broken",
    isMended: true,
    do: ({ home }) => write(home.toolPinsPath, '{"version":"1","serv'),
  },
  {
    name: "pins of as many servers as there is room for",
    code: "pins_broken",
    isMended: true,
    do({ home }) {
      const servers = Array.from({ length: 1_000 }, (_, index) => ({
        id: `sha256:${String(index).padStart(64, "0")}`,
        server: "x",
        pins: [],
      }));
      return write(home.toolPinsPath, JSON.stringify({ version: "1", servers }));
    },
  },
  {
    name: "older keys",
    code: "keys_rolled_back",
    do: ({ home }) => noteState(home, "keys"),
  },
  {
    name: "an entry that is no grant",
    code: "grants_ignored",
    do: ({ home }) => write(home.grantsPath, '{"version":"1","grants":[{}]}'),
  },
  {
    name: "a claim of NUL bytes",
    code: "claims_broken",
    isMended: true,
    do: async ({ home }) => {
      await mkdir(join(home.dir, "claims"), { mode: 0o700 });
      await write(join(home.dir, "claims", "claims.jsonl"), "\0\0\n");
    },
  },
  {
    name: "a journal that is not text",
    code: "pending_broken",
    isMended: true,
    do: async ({ home }) => {
      await mkdir(join(home.dir, "pending", "0123abcd"), { recursive: true, mode: 0o700 });
      await write(
        join(home.dir, "pending", "0123abcd", "journal.jsonl"),
        Uint8Array.of(0xff, 0xfe),
      );
    },
  },
  {
    name: "a pause file of half a text",
    code: "pause_broken",
    do: ({ home }) => write(home.pausePath, "{"),
  },
  {
    name: "an agent's pause file of half a text",
    code: "agent_pause_broken",
    do: async ({ home }) => {
      await mkdir(home.pausedAgentsDir, { mode: 0o700 });
      await write(join(home.pausedAgentsDir, `${"0".repeat(64)}.json`), "{");
    },
  },
];

/** A socket whose process is gone, as a kill leaves it. */
async function staleSocket(path: string): Promise<void> {
  const code = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", code]);
  await utimes(path, AN_HOUR_AGO, AN_HOUR_AGO);
}

export const SOCKETS: readonly Damage[] = [
  {
    name: "a gate's socket that is left",
    code: "socket_stale",
    isMended: true,
    do: async ({ home }) => {
      await mkdir(join(home.dir, "run"), { mode: 0o700 });
      await staleSocket(join(home.dir, "run", "4711.sock"));
    },
  },
  {
    name: "a lock that is left",
    code: "lock_stale",
    isMended: true,
    do: ({ home }) => staleSocket(join(home.dir, "writer.lock.4711.0123abcd")),
  },
  {
    name: "a file for the folder of sockets",
    code: "run_folder_broken",
    do: ({ home }) => write(join(home.dir, "run"), ""),
  },
  {
    name: "a long path",
    code: "socket_path_long",
    parts: { home: homePaths(`/tmp/${"x".repeat(80)}`) },
    do: async () => {
      await mkdir(`/tmp/${"x".repeat(80)}`, { mode: 0o700 });
      onTestFinished(() => rm(`/tmp/${"x".repeat(80)}`, { recursive: true }));
    },
  },
  {
    name: "a port that another program has",
    code: "port_taken",
    do: async ({ home }) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      const address = server.address();
      const port = typeof address === "object" ? address?.port : 0;
      await write(home.configPath, `version: "1"\nproxy: { http_port: ${port} }\n`);
    },
  },
];
