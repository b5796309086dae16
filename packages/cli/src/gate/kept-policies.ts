/**
 * Kept policies: each policy text that was in force, in the home by its hash, as long as a log of
 * the home names it. So a decision can be explained with the rule as it was. Format: spec/home.md.
 */
import { createHash } from "node:crypto";
import { readdir, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { readAuditLog } from "@acp/audit";
import { POLICY_BYTES_MAX } from "@acp/core";
import { createFileAtomic, homePaths, makePrivateDirectory, readPrivateFile } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { listAuditFiles } from "../logs/log-files.js";

const DIRECTORY = "policies";
const NAME = /^([0-9a-f]{64})\.yml$/;
/** A text is kept before the log names it: what is younger may be named in a moment. */
const YOUNG_MS = 86_400_000;

/** A text that was put in force. */
export interface KeptPolicy {
  /** `sha256:<hex>` of the text. */
  readonly hash: string;
  /** When it was last put in force before, where another text came after it. */
  readonly seenMs?: number;
}

/** The hash by which logs name a policy's text. */
export function policyHash(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/**
 * Keeps a text that comes into force.
 *
 * @param home - The home's directory.
 * @throws ConsentError `home_invalid` where it cannot be written.
 */
export async function keepPolicy(home: string, text: string): Promise<KeptPolicy> {
  const directory = join(home, DIRECTORY);
  await makePrivateDirectory(directory);
  const hash = policyHash(text);
  const path = pathOf(home, hash);
  if (await createFileAtomic(path, text)) return { hash };
  const [{ mtimeMs: seenMs }, newestMs] = await Promise.all([stat(path), newestOf(directory)]);
  // Its time is when it last came into force, so that an older one is known when it comes back.
  await utimes(path, new Date(), new Date());
  return seenMs < newestMs ? { hash, seenMs } : { hash };
}

/** The text that a log names; `undefined` where it is not kept, or is not that text any more. */
export async function readKeptPolicy(home: string, hash: string): Promise<string | undefined> {
  if (!/^sha256:[0-9a-f]{64}$/.test(hash)) return undefined;
  const text = await readPrivateFile(pathOf(home, hash), POLICY_BYTES_MAX).catch(() => undefined);
  return text !== undefined && policyHash(text) === hash ? text : undefined;
}

/**
 * Removes the texts that no log of the home names any more, once they are a day old.
 *
 * @returns How many were removed.
 * @throws ConsentError `audit_failed` where a log cannot be read; then nothing is removed.
 */
export async function prunePolicies(home: string, nowMs: number): Promise<number> {
  const old: string[] = [];
  for (const hash of await keptHashes(home)) {
    const { mtimeMs } = await stat(pathOf(home, hash));
    if (nowMs - mtimeMs > YOUNG_MS) old.push(hash);
  }
  if (old.length === 0) return 0;
  const named = await namedHashes(home);
  const left = old.filter((hash) => !named.has(hash));
  await Promise.all(left.map((hash) => unlink(pathOf(home, hash))));
  return left.length;
}

function pathOf(home: string, hash: string): string {
  return join(home, DIRECTORY, `${hash.slice("sha256:".length)}.yml`);
}

async function keptHashes(home: string): Promise<readonly string[]> {
  const names = await readdir(join(home, DIRECTORY)).catch(() => []);
  return names.flatMap((name) => {
    const hex = NAME.exec(name)?.[1];
    return hex === undefined ? [] : [`sha256:${hex}`];
  });
}

async function newestOf(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => NAME.test(name));
  const times = await Promise.all(
    names.map(async (name) => (await stat(join(directory, name))).mtimeMs),
  );
  return Math.max(...times);
}

async function namedHashes(home: string): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  const reading = {
    filter: { eventType: "gate_notice" },
    indexKey: await readIndexKey(homePaths(home)),
  };
  for (const file of await listAuditFiles(home))
    for await (const { metadata } of readAuditLog(file, reading))
      if (typeof metadata["policy"] === "string") named.add(metadata["policy"]);
  return named;
}
