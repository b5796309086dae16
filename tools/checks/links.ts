/**
 * Relative links in Markdown lead to files that exist, and their anchors to headings.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { anchorsOf, isAddress, linksOf } from "../markdown.js";
import type { Link } from "../markdown.js";
import { gitFiles } from "../workspace.mjs";
import type { Check } from "./check.js";

type Anchors = (file: string) => ReadonlySet<string>;

/** The headings of each page, read once. */
function anchorReader(root: string): Anchors {
  const known = new Map<string, ReadonlySet<string>>();
  return (file) => {
    const found = known.get(file) ?? anchorsOf(readFileSync(join(root, file), "utf8"));
    known.set(file, found);
    return found;
  };
}

function problemOf(
  { path, anchor }: Link,
  file: string,
  { root, anchors }: { root: string; anchors: Anchors },
): string | undefined {
  const target = path === "" ? file : join(path.startsWith("/") ? "." : dirname(file), path);
  const shown = anchor === "" ? path : `${path}#${anchor}`;
  if (!existsSync(join(root, target))) return `${file}: leads to "${shown}", which does not exist`;
  if (anchor === "" || !target.endsWith(".md") || statSync(join(root, target)).isDirectory())
    return undefined;
  return anchors(target).has(anchor)
    ? undefined
    : `${file}: leads to "${shown}", which is not a heading there`;
}

export const links: Check = {
  name: "links",
  remedy: "Mend the link or write the page it leads to",
  run({ root }) {
    const anchors = anchorReader(root);
    const files = gitFiles(root).filter((file) => file.endsWith(".md"));
    const problems = files.flatMap((file) =>
      linksOf(readFileSync(join(root, file), "utf8"))
        .filter(({ path }) => !isAddress(path))
        .map((link) => problemOf(link, file, { root, anchors })),
    );
    return { problems: problems.filter((problem) => problem !== undefined) };
  },
};
