/**
 * Which files of the repository are pages of the docs site, where each stands there, and its text
 * with links that hold there. Pure.
 */
import { posix } from "node:path";
import { isAddress, mapLinks } from "../markdown.js";
import type { Link } from "../markdown.js";

/** Pages that stand elsewhere in the site than in the repository, and folders that have a page. */
const PLACES: Readonly<Record<string, string>> = {
  "SECURITY.md": "explanation/threat-model.md",
  "VERSIONING.md": "explanation/versioning.md",
  "CONTRIBUTING.md": "explanation/contributing.md",
  "README.md": "index.md",
  docs: "index.md",
  "docs/adr": "explanation/decisions.md",
  spec: "reference/formats.md",
};
/** For who writes a decision, not for who reads them. */
const TEMPLATE = "docs/adr/0000-template.md";

/** Where a file or folder stands in the site; undefined where it is not part of it. */
export function placeOf(path: string): string | undefined {
  const own = PLACES[path];
  if (own !== undefined) return own;
  const [, name] = /^packages\/([^/]+)(?:\/README\.md)?$/.exec(path) ?? [];
  if (name !== undefined) return `reference/packages/${name}.md`;
  if (path === TEMPLATE) return undefined;
  if (/^spec\/[^/]+\.md$/.test(path)) return path;
  return /^docs\/.+\.(?:md|png)$/.test(path) ? path.slice("docs/".length) : undefined;
}

/**
 * The files of a repository that are pages; the README is not one, but leads to what the site has.
 */
export function pagesOf(files: readonly string[]): readonly string[] {
  return files.filter(
    (file) => file.endsWith(".md") && file !== "README.md" && placeOf(file) !== undefined,
  );
}

/**
 * A link as the site has it: to a page, to a picture, or, where the site has neither, as text that
 * names the file.
 */
function siteLink({ isImage, text, path, anchor }: Link, file: string): string | undefined {
  if (path === "" || isAddress(path)) return undefined;
  const target = posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, "");
  const place = placeOf(target);
  if (place === undefined)
    return text.includes(posix.basename(target)) ? text : `${text} (\`${target}\`)`;
  if (isImage) return `![${text}](/${place})`;
  const relative = posix.relative(posix.dirname(placeOf(file) ?? ""), place);
  return `[${text}](${relative}${anchor === "" ? "" : `#${anchor}`})`;
}

/**
 * The text of a page as the site shows it; what a block says to our tests beside its language is
 * not for readers.
 */
export function sitePage(file: string, text: string): string {
  return mapLinks(text, (link) => siteLink(link, file)).replaceAll(/^(```\w+) .*$/gm, "$1");
}
