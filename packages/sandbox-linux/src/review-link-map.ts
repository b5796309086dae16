/**
 * Review link map: the links of a workspace as it is, and which of them a change would have lead
 * out. A link is harmless only as long as those on its way stay what they are, so each change is
 * judged by all that are there, whoever made them and when. Pure.
 */
import { leadsOut } from "./review-links.js";

/** The links of one workspace. */
export interface LinkMap {
  /**
   * Whether a link leads out where `path` becomes one to `target`, or none, that does not now.
   * What leads out already is a person's own business.
   */
  breaks(path: string, target: string | undefined): boolean;
  /** Says that it has become so. */
  set(path: string, target: string | undefined): void;
}

/**
 * Makes one.
 *
 * @param workspace - Its real path.
 * @param links - Paths below it, and what each link says.
 */
export function createLinkMap(
  workspace: string,
  links: Iterable<readonly [path: string, target: string]>,
): LinkMap {
  const targets = new Map(links);
  /** By a path, the links that lead over it; some may do so no longer. */
  const over = new Map<string, Set<string>>();
  const isOut = (link: string): boolean => {
    const visit = (path: string): void => {
      const known = over.get(path);
      if (known === undefined) over.set(path, new Set([link]));
      else known.add(link);
    };
    visit(link);
    return leadsOut(link, { workspace, targetOf: (path) => targets.get(path), visit });
  };
  const out = new Set([...targets.keys()].filter(isOut));
  const become = (path: string, target: string | undefined): void => {
    if (target === undefined) targets.delete(path);
    else targets.set(path, target);
  };
  const concerned = (path: string): readonly string[] =>
    [...new Set([path, ...(over.get(path) ?? [])])].filter((link) => targets.has(link));
  return {
    breaks(path, target) {
      const before = targets.get(path);
      become(path, target);
      const isBroken = concerned(path).some(
        (link) => (link === path || !out.has(link)) && isOut(link),
      );
      become(path, before);
      return isBroken;
    },
    set(path, target) {
      become(path, target);
      out.delete(path);
      for (const link of concerned(path)) {
        if (isOut(link)) out.add(link);
        else out.delete(link);
      }
    },
  };
}
