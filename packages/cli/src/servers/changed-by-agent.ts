/**
 * What of a server's command lies where the agent writes. The server's sandbox holds what it then
 * runs, but its variables and its network are within the agent's reach: the person is told.
 */
import { statSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import type { CommandServer } from "@acp/home";
import type { Workspace } from "@acp/sandbox-linux";

/**
 * Absolute paths of files that the command names in the agent's workspace, and its working directory where
 * that lies there. Empty where the server sees nothing of the workspace, or the agent cannot write.
 */
export function changedByAgent(
  { command, cwd, workspace: wanted, read = [], write = [] }: CommandServer,
  workspace: Workspace | undefined,
): readonly string[] {
  if (workspace === undefined || workspace.access === "read-only") return [];
  const isWithin = (path: string, folder: string): boolean => {
    const way = relative(folder, path);
    return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
  };
  const shown = [...read, ...write, ...(wanted === undefined ? [] : [workspace.path])];
  const isChangeable = (path: string): boolean =>
    isWithin(path, workspace.path) && shown.some((each) => isWithin(path, each));
  // A folder is what a server works on; a file may be what it runs.
  const isFile = (path: string): boolean =>
    statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const named = command.flatMap((word) => {
    if (isAbsolute(word)) return [word];
    return cwd === undefined ? [] : [resolve(cwd, word)];
  });
  const found = named.filter((path) => isChangeable(path) && isFile(path));
  return [...new Set(cwd !== undefined && isChangeable(cwd) ? [cwd, ...found] : found)];
}
