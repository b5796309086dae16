/**
 * Review links: whether a symbolic link leads out of a workspace, as the workspace will be with
 * what is taken. Pure.
 */

/** The target of a link at a path below the workspace; `undefined` where there is no link. */
export type TargetOf = (path: string) => string | undefined;

/** Where a link leads. */
export interface LinkWorld {
  /** Its real path. */
  readonly workspace: string;
  readonly targetOf: TargetOf;
  /** Hears each path below the workspace that is on the way. */
  readonly visit?: (path: string) => void;
}

/** As many as Linux follows. */
const STEPS_MAX = 40;

/**
 * Whether a link at `path` leads to something that is not below `workspace`, on any of its steps.
 */
export function leadsOut(path: string, { workspace, targetOf, visit }: LinkWorld): boolean {
  const at = path.split("/").slice(0, -1);
  const rest = (targetOf(path) ?? "").split("/");
  if (!enter(targetOf(path) ?? "", { workspace, at, rest })) return true;
  for (let links = 0, word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "" || word === ".") continue;
    if (word === "..") {
      if (at.pop() === undefined) return true;
      continue;
    }
    at.push(word);
    visit?.(at.join("/"));
    const target = targetOf(at.join("/"));
    if (target === undefined) continue;
    links += 1;
    at.pop();
    const words = target.split("/");
    if (links > STEPS_MAX || !enter(target, { workspace, at, rest: words })) return true;
    rest.unshift(...words);
  }
  return false;
}

interface Way {
  readonly workspace: string;
  readonly at: string[];
  readonly rest: string[];
}

/**
 * An absolute target begins at the workspace or leads out: no link above the workspace is followed.
 */
function enter(target: string, { workspace, at, rest }: Way): boolean {
  if (!target.startsWith("/")) return true;
  const top = workspace.split("/");
  if (!top.every((word, index) => rest[index] === word)) return false;
  at.length = 0;
  rest.splice(0, top.length);
  return true;
}
