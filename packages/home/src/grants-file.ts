/**
 * Grants file: earlier consents that still hold, for every gate of the home. Read anew whenever one
 * is looked for, so that what was revoked holds nowhere any more. Format: spec/home.md §7.
 */
import { type Grant, type Grants, isJsonObject, type JsonObject, memoryGrants } from "@acp/core";
import { cannot } from "./errors.js";
import { openStateFile, type StateChange, type StateGuard } from "./state-file.js";

const VERSION = "1";
const FILE_BYTES_MAX: number = 16 * 1024 * 1024;

/** Options of {@link fileGrants}. */
export interface FileGrantsOptions {
  /**
   * Called with the number of invalid entries whenever the file is read and has any. They count as
   * absent, and the next change removes them.
   */
  readonly onIgnored?: (count: number) => void;
  /** Judges whether the file is the newest one; unless given, by what this process has seen. */
  readonly guard?: StateGuard;
  /** Called with the reason whenever the file is read and does not count: it has no grants then. */
  readonly onOlder?: (why: string) => void;
}

/**
 * Returns grants that are kept in a file of the home, which is created if it does not exist.
 * Format: spec/home.md §7.
 *
 * @returns Grants whose methods reject with `home_invalid` or `home_busy` if the outcome is not
 * certain. Treat a rejection as a denial.
 */
export function fileGrants(
  path: string,
  { onIgnored, onOlder, guard }: FileGrantsOptions = {},
): Grants {
  const file = openStateFile<ReadGrants>({
    path,
    bytesMax: FILE_BYTES_MAX,
    guard,
    onIgnored: onOlder,
    empty: { grants: [], ignored: 0 },
    parse: (text) => parseContent(path, text),
    print: ({ grants }) => ({ grants: grants.map(toJson) }),
  });
  const tableOfRead = (read: ReadGrants): Promise<Grants> => {
    if (read.ignored > 0) onIgnored?.(read.ignored);
    return tableOf(read.grants);
  };
  const read = async (): Promise<Grants> => tableOfRead(await file.read());
  const changed =
    <T>(make: (grants: Grants) => Promise<Changed<T>>) =>
    async (content: ReadGrants): Promise<StateChange<ReadGrants, T>> => {
      const grants = await tableOfRead(content);
      const { answer, isChanged, isNotedElsewhere = false } = await make(grants);
      if (!isChanged) return { answer };
      return { answer, isNotedElsewhere, next: { grants: await grants.list(), ignored: 0 } };
    };

  return {
    put: (grant) =>
      file.change(
        changed(async (grants) => {
          await grants.put(grant);
          return { answer: undefined, isChanged: true };
        }),
      ),
    get: async (id) => (await read()).get(id),
    find: async (agentId, action, nowMs) => (await read()).find(agentId, action, nowMs),
    list: async () => (await read()).list(),
    revoke: (id) =>
      file.revoke(
        changed(async (grants) => {
          const answer = await grants.revoke(id);
          return { answer, isChanged: answer };
        }),
      ),
    async use(id, nowMs) {
      const found = await read();
      // One without a count is used by looking at it: nothing has to be written.
      if ((await found.get(id))?.usesLeft === undefined) return found.use(id, nowMs);
      return file.change(
        changed(async (grants) => {
          const answer = await grants.use(id, nowMs);
          return { answer, isChanged: answer, isNotedElsewhere: true };
        }),
      );
    },
  };
}

interface Changed<T> {
  readonly answer: T;
  readonly isChanged: boolean;
  readonly isNotedElsewhere?: boolean;
}

async function tableOf(list: readonly Grant[]): Promise<Grants> {
  const grants = memoryGrants();
  // In the order they were made: putting one may forget what was over by then.
  for (const grant of list.toSorted((a, b) => a.createdAtMs - b.createdAtMs))
    await grants.put(grant);
  return grants;
}

/** A grant is plain JSON data, also where its type allows members that are undefined. */
function toJson(grant: Grant): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify(grant));
  return isJsonObject(value) ? value : {};
}

/** The entries that are grants, and how many are none. */
interface ReadGrants {
  readonly grants: readonly Grant[];
  readonly ignored: number;
}

function parseContent(path: string, text: string): ReadGrants {
  const read = readList(text);
  if (read === undefined)
    throw cannot("read", path)("it holds no grants; remove it to revoke them all");
  return read;
}

/**
 * Returns the grants in the text of a grants file, or `undefined` if it is not one. Whether a gate
 * of this home wrote them is not checked. Format: spec/home.md §7.
 */
export function parseGrants(text: string): readonly Grant[] | undefined {
  return readList(text)?.grants;
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
