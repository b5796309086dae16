/**
 * Guard: keeps the tools behind a gate of this home away from the home itself, and has places of
 * credentials asked about. Every gate of the command line has it, and `acp policy explain` shows
 * what it says.
 */
import { lstatSync, readlinkSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve as resolvePath } from "node:path";
import { createPathGuard } from "@acp/core/policy";
import type { ResolvedPath } from "@acp/core/policy";
import type { Action, Layer } from "@acp/core";
import { onceATurn } from "@acp/home";
import type { Home } from "@acp/home";
import type { Invocation } from "../command.js";
import type { HomeConfig } from "./config.js";
import { ownPaths } from "../run/own-paths.js";

/** What the guard of a gate is made from. */
export interface GuardParts {
  readonly home: Home;
  readonly source: HomeConfig;
  readonly invocation: Pick<Invocation, "values" | "io" | "rest">;
}

/**
 * As many as the kernel follows for one path, wherever they stand: links to links would double the
 * work with each.
 */
const LINKS_MAX = 40;

/**
 * Where an absolute path leads, as far as it exists, as the kernel walks it; what stands behind a
 * name that is not there is added as a text.
 */
export function followLinks(path: string): ResolvedPath {
  let links = 0;
  const walk = (from: string): ResolvedPath => {
    let place = "/";
    let exists = true;
    const segments = from.split("/").filter((segment) => segment !== "" && segment !== ".");
    for (const [index, segment] of segments.entries()) {
      if (segment === "..") place = dirname(place);
      else {
        const next = join(place, segment);
        const target = targetOf(next);
        if (target === undefined)
          return { path: join(place, ...segments.slice(index)), exists: false };
        if (target === "") place = next;
        else if (++links > LINKS_MAX) return { path: from, exists: false };
        // Not normalised: what stands before a ".." may be a link itself.
        else ({ path: place, exists } = walk(isAbsolute(target) ? target : `${place}/${target}`));
      }
    }
    return { path: place, exists };
  };
  return walk(path);
}

/**
 * What a link says; empty for what is none, `undefined` for what is not there or may not be looked
 * at.
 */
function targetOf(path: string): string | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    return found.isSymbolicLink() ? readlinkSync(path) : "";
  } catch {
    return undefined;
  }
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Where a server's relative paths may start: its directory, and those that its command names, as a
 * file server's roots are named.
 */
function startsOfCommand(words: readonly string[], directory: string): readonly string[] {
  const named = words
    .filter((word) => isAbsolute(word) || /^[.~]/.test(word))
    .map((word) => resolvePath(directory, word));
  return [
    directory,
    ...named.filter((path) => isAbsolute(path) && safely(() => isDirectory(path))),
  ];
}

function safely(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

/**
 * Where the paths of a server may start. Servers may change while the gate is there; what one of
 * before is still asked is held against where that one started, too.
 */
function createStarts(source: HomeConfig, cwd: string): (server: string) => readonly string[] {
  const starts = new Map<string, Set<string>>();
  let known: unknown;
  return (name) => {
    const servers = source.config?.servers ?? [];
    for (const server of servers === known ? [] : servers)
      if ("command" in server)
        starts.set(
          server.name,
          new Set([
            ...(starts.get(server.name) ?? []),
            ...startsOfCommand(server.command, server.cwd ?? cwd),
          ]),
        );
    known = servers;
    return [...(starts.get(name) ?? [])];
  };
}

/** Makes the guard of a home's gates. */
export async function openGuard({ home, source, invocation }: GuardParts): Promise<Layer> {
  const { io, rest } = invocation;
  const own = startsOfCommand(rest, io.cwd);
  const startsOf = createStarts(source, io.cwd);
  const guard = createPathGuard({
    userHome: io.userHome,
    acpHome: home.dir,
    closed: await ownPaths({ home, source, invocation }),
    startsOf: (server) => [...own, ...startsOf(server)],
    resolve: onceATurn(followLinks),
  });
  // A call is judged, and once more where its permit is redeemed: mostly in the same turn.
  const judge = onceATurn((action: Action) => guard.judge(action, NOBODY));
  return { name: guard.name, onlyRestricts: true, judge: (action) => judge(action) };
}

/** What it reads of the facts is nothing. */
const NOBODY = { agent: { id: "client" }, nowMs: 0 };
