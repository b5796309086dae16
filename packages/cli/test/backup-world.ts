/** Backups in this process: any records in a sealed file, and `acp` with streams that are kept. */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { verifyAuditLog } from "@acp/audit";
import { deriveUnlockKey } from "@acp/home";
import type { Unlock } from "@acp/home";
import { onTestFinished } from "vitest";
import { payloadKey, printHeader, printRecord } from "../src/backup/format.js";
import type { BackupRecord } from "../src/backup/format.js";
import { createSealer } from "../src/backup/seal-stream.js";
import type { InputStream, Io, OutputStream } from "../src/command.js";
import { main } from "../src/main.js";
import { defineService } from "../src/service/definition.js";
import type { ServiceDefinition } from "../src/service/definition.js";
import { doctorWorld, ioOf } from "./doctor-world.js";
import type { World } from "./doctor-world.js";

/** Opens at once, unlike a passphrase. */
export const UNLOCK: Unlock = { kind: "key-file", text: `${"5a".repeat(32)}\n` };

/** A folder that is removed with the test. */
export async function folder(): Promise<string> {
  const at = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(at, { recursive: true, force: true }));
  return at;
}

/** What `acp service install` writes for a home. */
export const serviceFor = (home: string, userHome: string): ServiceDefinition =>
  defineService({
    platform: process.platform,
    userHome,
    configHome: undefined,
    home: realpathSync(home),
    node: process.execPath,
    program: "/acp.cjs",
    variables: {},
  });

/** What stands in a backup, in its order: records, and bytes of files with their sum. */
export type Part = BackupRecord | { readonly contents: string } | { readonly raw: string };

/** The bytes of a sealed file of these parts. */
export async function sealedFile(
  parts: readonly Part[],
  {
    unlock = UNLOCK,
    salt = new Uint8Array(32),
  }: { readonly unlock?: Unlock; readonly salt?: Uint8Array } = {},
): Promise<Buffer> {
  const header = { kind: unlock.kind, salt };
  const pieces: Uint8Array[] = [Buffer.from(printHeader(header))];
  const key = payloadKey(await deriveUnlockKey(unlock, salt), header);
  const sealer = createSealer(key, (sealed) => Promise.resolve(void pieces.push(sealed)));
  for (const part of parts) await sealer.push(Buffer.from(textOf(part)));
  await sealer.end();
  return Buffer.concat(pieces);
}

function textOf(part: Part): string {
  if ("raw" in part) return part.raw;
  if (!("contents" in part)) return printRecord(part);
  const sha256 = createHash("sha256").update(part.contents).digest("hex");
  return `${part.contents}${printRecord({ kind: "sum", sha256 })}`;
}

export const HOME_RECORD: BackupRecord = {
  kind: "home",
  acp: "0.0.1",
  created_at_ms: Date.UTC(2026, 0, 15),
  has_logs: true,
  home: "/home/ada/.acp",
  home_format: 1,
};

/** A file with its bytes. */
export const fileParts = (path: string, contents: string): readonly Part[] => [
  { kind: "file", path, bytes: Buffer.byteLength(contents), modified_at_ms: 1_768_473_000_000 },
  { contents },
];

/** Writes a file of these parts; with a home record in front and an end behind. */
export async function backupOf(parts: readonly Part[]): Promise<string> {
  const file = join(await folder(), "x.backup");
  const entries = parts.filter(
    (part) => "kind" in part && (part.kind === "file" || part.kind === "directory"),
  ).length;
  await writeFile(file, await sealedFile([HOME_RECORD, ...parts, { kind: "end", entries }]));
  return file;
}

/** How `acp` ended in this process. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `acp` in this process.
 *
 * @param typed - What a person types, at a terminal then.
 */
export async function say(
  argv: readonly string[],
  {
    typed,
    ...io
  }: Partial<Omit<Io, "stdin" | "stdout" | "stderr">> & { readonly typed?: string } = {},
): Promise<Said> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = { stdout: "", stderr: "" };
  stdout.on("data", (chunk: Buffer) => (texts.stdout += chunk.toString()));
  stderr.on("data", (chunk: Buffer) => (texts.stderr += chunk.toString()));
  const stdin: InputStream = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  if (typed !== undefined) (stdin as unknown as PassThrough).write(typed);
  const outputs: Record<"stdout" | "stderr", OutputStream> = {
    stdout: Object.assign(stdout, { isTTY: false }),
    stderr: Object.assign(stderr, { isTTY: false }),
  };
  const code = await main([...argv], { ...ioOf(), ...io, stdin, ...outputs });
  await new Promise((resolve) => setImmediate(resolve));
  return { code, ...texts };
}

/** A home with a place for its backup, and the key file that seals it. */
export interface BackupWorld extends World {
  readonly dir: string;
  readonly file: string;
  acp(...argv: readonly string[]): Promise<Said>;
  typing(typed: string, ...argv: readonly string[]): Promise<Said>;
}

/** Makes one. */
export async function world(): Promise<BackupWorld> {
  const made = await doctorWorld();
  const at = await folder();
  const keyFile = join(at, "backup.key");
  await writeFile(keyFile, UNLOCK.kind === "key-file" ? UNLOCK.text : "", { mode: 0o600 });
  const { dir } = made.home;
  const full = (argv: readonly string[]): readonly string[] => [
    ...argv,
    "--home",
    dir,
    "--key-file",
    keyFile,
  ];
  return {
    ...made,
    dir,
    file: join(at, "home.backup"),
    acp: (...argv) => say(full(argv)),
    typing: (typed, ...argv) => say(full(argv), { typed }),
  };
}

/** Every file of a folder. */
export async function textsOf(dir: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files
      .sort()
      .map(
        async (path): Promise<[string, string]> => [
          path.slice(dir.length + 1),
          await readFile(path, "latin1"),
        ],
      ),
  );
  return Object.fromEntries(texts);
}

/** How many events of a log are good. */
export async function eventsIn(dir: string): Promise<number> {
  return (await verifyAuditLog(join(dir, "audit.jsonl"))).events;
}
