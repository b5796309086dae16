/**
 * Grants file: earlier consents that still hold, for every gate of the home. Read anew whenever one
 * is looked for, so that what was revoked holds nowhere any more. Format: spec/home.md §7.
 */
import { dirname } from "node:path";
import { type Grant, type Grants, isJsonObject, memoryGrants } from "@acp/core";
import { writeFileAtomic } from "./atomic.js";
import { cannot } from "./errors.js";
import { isMissing, readPrivateFile } from "./private-file.js";
import { whileWriting } from "./writer-lock.js";

const VERSION = "1";
const FILE_BYTES_MAX: number = 16 * 1024 * 1024;

/** What a change leaves, and what it answers. */
interface Changed<T> {
  readonly grants: Grants;
  readonly answer: T;
  readonly isChanged: boolean;
}

/** Options of {@link fileGrants}. */
export interface FileGrantsOptions {
  /**
   * Called with the number of invalid entries whenever the file is read and has any. They count as
   * absent, and the next change removes them.
   */
  readonly onIgnored?: (count: number) => void;
}

/**
 * Returns grants that are kept in a file of the home, which is created if it does not exist.
 * Format: spec/home.md §7.
 *
 * @returns Grants whose methods reject with `home_invalid` or `home_busy` if the outcome is not
 * certain. Treat a rejection as a denial.
 */
export function fileGrants(path: string, { onIgnored }: FileGrantsOptions = {}): Grants {
  const read = async (): Promise<Grants> => {
    const { grants, ignored } = await readGrants(path);
    if (ignored > 0) onIgnored?.(ignored);
    return tableOf(grants);
  };
  const change = <T>(make: (grants: Grants) => Promise<Omit<Changed<T>, "grants">>): Promise<T> =>
    whileWriting(dirname(path), async () => {
      const grants = await read();
      const { answer, isChanged } = await make(grants);
      if (isChanged) await write(path, print(await grants.list()));
      return answer;
    });

  return {
    put: (grant) =>
      change(async (grants) => {
        await grants.put(grant);
        return { answer: undefined, isChanged: true };
      }),
    get: async (id) => (await read()).get(id),
    find: async (agentId, action, nowMs) => (await read()).find(agentId, action, nowMs),
    list: async () => (await read()).list(),
    revoke: (id) =>
      change(async (grants) => {
        const answer = await grants.revoke(id);
        return { answer, isChanged: answer };
      }),
    async use(id, nowMs) {
      const found = await read();
      // One without a count is used by looking at it: nothing has to be written.
      if ((await found.get(id))?.usesLeft === undefined) return found.use(id, nowMs);
      return change(async (grants) => {
        const answer = await grants.use(id, nowMs);
        return { answer, isChanged: answer };
      });
    },
  };
}

async function tableOf(list: readonly Grant[]): Promise<Grants> {
  const grants = memoryGrants();
  // In the order they were made: putting one may forget what was over by then.
  for (const grant of list.toSorted((a, b) => a.createdAtMs - b.createdAtMs))
    await grants.put(grant);
  return grants;
}

function print(grants: readonly Grant[]): string {
  return `${JSON.stringify({ version: VERSION, grants }, undefined, 2)}\n`;
}

/**
 * What could not be read again is not written: one question that is too large must not end every
 * grant.
 */
async function write(path: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX)
    throw cannot("write", path)(`it would have more than ${FILE_BYTES_MAX} bytes`);
  await writeFileAtomic(path, text);
}

/** The entries that are grants, and how many are none. */
interface ReadGrants {
  readonly grants: readonly Grant[];
  readonly ignored: number;
}

async function readGrants(path: string): Promise<ReadGrants> {
  if (await isMissing(path)) return { grants: [], ignored: 0 };
  const read = readList(await readPrivateFile(path, FILE_BYTES_MAX));
  if (read === undefined)
    throw cannot("read", path)("it holds no grants; remove it to revoke them all");
  return read;
}

function readList(text: string): ReadGrants | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value["version"] !== VERSION) return undefined;
  const { grants: entries } = value;
  if (!Array.isArray(entries)) return undefined;
  const grants = entries.filter(isGrant);
  return { grants, ignored: entries.length - grants.length };
}

/**
 * What a store stands on; whether a gate wrote it is the gate's to see. A scope of a kind that
 * nobody knows covers nothing.
 */
function isGrant(value: unknown): value is Grant {
  if (!isJsonObject(value)) return false;
  const { scope, createdAtMs, expiresAtMs, usesLeft, approverIds, secrets, evidence } = value;
  return (
    ["id", "agentId", "requestId"].every(
      (key) => typeof value[key] === "string" && value[key] !== "",
    ) &&
    isJsonObject(scope) &&
    typeof scope["kind"] === "string" &&
    Number.isSafeInteger(createdAtMs) &&
    Number.isSafeInteger(expiresAtMs) &&
    (usesLeft === undefined || (Number.isSafeInteger(usesLeft) && Number(usesLeft) >= 0)) &&
    isTexts(approverIds) &&
    isTexts(secrets) &&
    (evidence === "any" || evidence === "passkey")
  );
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === "string");
