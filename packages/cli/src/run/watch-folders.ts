/**
 * Watch folders: the workspace, and what MCP servers may write besides, are looked at before
 * anything of a run begins and when all of it has ended. What is new there and runs by itself is
 * set aside.
 */
import { realpathSync } from "node:fs";
import type { Home, UpstreamServer } from "@acp/home";
import type { HeldAgent, Workspace } from "@acp/sandbox-linux";
import { followChanges } from "./held-changes.js";
import { keepKnownPlaces } from "./known-places.js";
import { lookBefore, setNewAside } from "./left-behind.js";
import type { WorkspaceBefore } from "./left-behind.js";
import { keepRecord, settleRecords } from "./left-record.js";
import type { LeftRecord } from "./left-record.js";

/** What is watched. */
export interface WatchParts {
  readonly home: Pick<Home, "dir">;
  readonly workspace: Workspace | undefined;
  readonly servers: readonly UpstreamServer[];
  readonly held: Pick<HeldAgent, "persistent" | "unheld" | "report" | "onHeldName">;
  /** For the person and the log. */
  readonly say: (notice: string) => Promise<void>;
  /** The same, while the command runs: a file that is held was replaced or removed outside. */
  readonly tell: (text: string) => void;
}

/** Folders that are watched. */
export interface WatchedFolders {
  /** Sets aside what is new, once nothing writes there any more. */
  end(): Promise<void>;
  /** Forgets them: nothing of the run has begun. */
  forget(): Promise<void>;
}

interface Watched {
  readonly record: LeftRecord;
  /** What counts as known by now. */
  readonly known: () => WorkspaceBefore;
  readonly isWorkspace: boolean;
}

/**
 * Does what earlier runs were killed before, and looks.
 *
 * @throws ConsentError `home_invalid` where what was seen cannot be kept for a run that is killed.
 */
export async function watchFolders({
  home,
  workspace,
  servers,
  held,
  say,
  tell,
}: WatchParts): Promise<WatchedFolders> {
  const settled = await settleRecords(home);
  for (const notice of settled) await say(notice);
  // Only in `namespace` nothing of it can be replaced inside.
  const isHeld = held.report.sandbox === "namespace";
  // What an earlier run left had its name still when the sandbox looked.
  const seen = settled.length === 0 ? held.persistent : undefined;
  const folders = serverFolders(servers, workspace).map(
    (path): Workspace => ({ path, access: "read-write" }),
  );
  const befores = [
    lookBefore(workspace, { seen, isHeld, unheld: held.unheld }),
    ...folders.map((folder) => lookBefore(folder, { isHeld })),
  ];
  const watched: Watched[] = [];
  for (const before of befores) {
    if (before === undefined) continue;
    const isWorkspace = before === befores[0];
    const record = await keepRecord(home, before);
    // What the next start looks for and holds first.
    if (isWorkspace)
      await keepKnownPlaces(home, before.path, {
        known: workspace?.known ?? [],
        found: held.persistent ?? before.places,
      });
    const known = isWorkspace ? followChanges(held, { before, record, say: tell }) : () => before;
    watched.push({ record, known, isWorkspace });
  }
  return {
    async end() {
      for (const { record, known, isWorkspace } of watched) {
        const notice = setNewAside(known());
        if (notice !== undefined)
          await say(isWorkspace ? notice : `${notice} Folder: ${known().path}`);
        await record.done();
      }
    },
    async forget() {
      for (const { record } of watched) await record.done();
    },
  };
}

/**
 * What servers in sandboxes may write, by real paths, each once; without what is in the workspace,
 * where the agent can write as well or nobody can.
 */
function serverFolders(
  servers: readonly UpstreamServer[],
  workspace: Workspace | undefined,
): readonly string[] {
  const written = servers.flatMap((server) =>
    "command" in server && server.sandbox !== "none" ? (server.write ?? []) : [],
  );
  const all = [...new Set(written.flatMap(realOf))];
  const above =
    workspace === undefined || workspace.access === "read-only" ? [] : realOf(workspace.path);
  const isIn = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
  return all.filter(
    (path) =>
      !above.some((each) => path === each || isIn(path, each)) &&
      !all.some((each) => isIn(path, each)),
  );
}

/** One that is not there ends its server, and nothing else. */
function realOf(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}
