/**
 * Write service: puts the definition of a service where its manager reads it, and takes it away
 * again. A person's own file of that name is neither replaced nor removed.
 */
import { lstat, mkdir, readFile, readlink, symlink, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { ConsentError } from "@acp/core";
import { writeFileAtomic } from "@acp/home";
import { isDefinition } from "./definition.js";
import type { ServiceDefinition } from "./definition.js";

/**
 * Writes it.
 *
 * @returns Whether anything was changed.
 * @throws ConsentError `home_invalid` where a file of that name is not ours, or cannot be written.
 */
export async function writeService(service: ServiceDefinition): Promise<boolean> {
  const { path, text, link } = service;
  const found = await readOurs(path);
  const isLinked = link === undefined || (await readlinkOf(link.path)) === link.to;
  if (found === text && isLinked) return false;
  await mkdir(dirname(path), { recursive: true });
  if (found !== text) await writeFileAtomic(path, text);
  if (link === undefined || isLinked) return true;
  await mkdir(dirname(link.path), { recursive: true });
  await symlink(link.to, link.path);
  return true;
}

/**
 * Removes it, where it is ours.
 *
 * @returns Whether there was one.
 * @throws ConsentError `home_invalid` where a file of that name is not ours.
 */
export async function removeService(service: ServiceDefinition): Promise<boolean> {
  const { path, link } = service;
  const isThere = (await readOurs(path)) !== undefined;
  const isLinked = link !== undefined && (await readlinkOf(link.path)) === link.to;
  // The link first: without its file it would make each login report a fault.
  if (isLinked) await unlink(link.path);
  if (isThere) await unlink(path);
  return isThere || isLinked;
}

async function readOurs(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  const text = found.isFile() ? await readFile(path, "utf8") : "";
  if (isDefinition(text)) return text;
  throw notOurs(path);
}

async function readlinkOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return readlink(path);
  throw notOurs(path);
}

const notOurs = (path: string): ConsentError =>
  new ConsentError(
    "home_invalid",
    `"${path}" was not written by acp service install: move it away first`,
  );
