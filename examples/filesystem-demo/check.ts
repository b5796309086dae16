/**
 * Whether the file server acted on what was approved and on nothing else: the files on disk against
 * the audit log.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallRecord } from "./timeline.js";

/** The file's text; `undefined` where there is none. */
export function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

/** The files that the agent's calls name, before a call. */
export async function filesOf(
  folder: string,
  args: Readonly<Record<string, unknown>>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const files = new Map<string, string | undefined>();
  for (const key of ["path", "source", "destination"]) {
    const name = args[key];
    if (typeof name === "string") files.set(name, await textOf(join(folder, name)));
  }
  return files;
}

/** What is wrong with the files after a call; empty where nothing is. */
export async function faultsOf(
  folder: string,
  before: ReadonlyMap<string, string | undefined>,
  record: CallRecord,
): Promise<readonly string[]> {
  const wanted = new Map(before);
  const { path, content } = record.approved;
  if (record.forwarded && typeof path === "string" && typeof content === "string")
    wanted.set(path, content);
  const faults: string[] = [];
  for (const [name, text] of wanted) {
    const found = await textOf(join(folder, name));
    if (found !== text)
      faults.push(`${name} holds ${JSON.stringify(found)}, approved was ${JSON.stringify(text)}`);
  }
  return faults;
}
