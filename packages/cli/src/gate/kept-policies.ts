/**
 * Kept policies: each policy text that was in force, in the home by its hash, as long as a log of
 * the home names it. So a decision can be explained with the rule as it was. Of a configuration,
 * which may hold secrets, only the hash is kept. Format: spec/home.md.
 */
import { createHash } from "node:crypto";
import { readdir, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { readAuditLog } from "@acp/audit";
import { POLICY_BYTES_MAX } from "@acp/core";
import { createFileAtomic, homePaths, makePrivateDirectory, readPrivateFile } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { listAuditFiles } from "../logs/log-files.js";

/** Texts of one kind, and the member of a notice that names them. */
interface Shelf {
  readonly directory: "policies" | "configs";
  readonly key: "policy" | "config";
}

const POLICIES: Shelf = { directory: "policies", key: "policy" };
const CONFIGS: Shelf = { directory: "configs", key: "config" };
const SUFFIX = ".yml";
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
  const hash = policyHash(text);
  const { seenMs } = await keep(home, POLICIES, { hash, text });
  return { hash, ...(seenMs !== undefined && { seenMs }) };
}

/**
 * Keeps the hash of a configuration that comes into force.
 *
 * @returns Whether another one was in force last, and when this one was before that.
 * @throws ConsentError `home_invalid` where it cannot be written.
 */
export function keepConfig(
  home: string,
  hash: string,
): Promise<{ readonly isOther: boolean; readonly seenMs?: number }> {
  return keep(home, CONFIGS, { hash, text: "" });
}

async function keep(
  home: string,
  shelf: Shelf,
  { hash, text }: { readonly hash: string; readonly text: string },
): Promise<{ readonly isOther: boolean; readonly seenMs?: number }> {
  const directory = join(home, shelf.directory);
  await makePrivateDirectory(directory);
  const path = pathOf(home, shelf, hash);
  const newestMs = await newestOf(directory);
  if (await createFileAtomic(path, text)) return { isOther: newestMs > Number.NEGATIVE_INFINITY };
  const { mtimeMs: seenMs } = await stat(path);
  // Its time is when it last came into force, so that an older one is known when it comes back.
  await utimes(path, new Date(), new Date());
  return seenMs < newestMs ? { isOther: true, seenMs } : { isOther: false };
}

/** The text that a log names; `undefined` where it is not kept, or is not that text any more. */
export async function readKeptPolicy(home: string, hash: string): Promise<string | undefined> {
  if (!/^sha256:[0-9a-f]{64}$/.test(hash)) return undefined;
  const text = await readPrivateFile(pathOf(home, POLICIES, hash), POLICY_BYTES_MAX).catch(
    () => undefined,
  );
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
  for (const shelf of [POLICIES, CONFIGS])
    for (const hash of await keptHashes(home, shelf)) {
      const path = pathOf(home, shelf, hash);
      if (nowMs - (await stat(path)).mtimeMs > YOUNG_MS) old.push(path);
    }
  if (old.length === 0) return 0;
  const named = await namedPaths(home);
  const left = old.filter((path) => !named.has(path));
  await Promise.all(left.map((path) => unlink(path)));
  return left.length;
}

function pathOf(home: string, { directory }: Shelf, hash: string): string {
  return join(home, directory, `${hash.slice("sha256:".length)}${SUFFIX}`);
}

async function keptHashes(home: string, { directory }: Shelf): Promise<readonly string[]> {
  const names = await readdir(join(home, directory)).catch(() => []);
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

async function namedPaths(home: string): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  const reading = {
    filter: { eventType: "gate_notice" },
    indexKey: await readIndexKey(homePaths(home)),
  };
  for (const file of await listAuditFiles(home))
    for await (const { metadata } of readAuditLog(file, reading))
      for (const shelf of [POLICIES, CONFIGS]) {
        const hash = metadata[shelf.key];
        if (typeof hash === "string") named.add(pathOf(home, shelf, hash));
      }
  return named;
}
