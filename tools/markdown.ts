/**
 * Markdown as far as our pages use it: fenced blocks, links, headings and the anchors that lead to
 * them. Pure.
 */

/** A fenced block with a language. */
export interface Block {
  /** The line of its opening fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  /** What stands behind the language, such as `run`. */
  readonly info: string;
  readonly text: string;
}

/** A link or an image. */
export interface Link {
  readonly isImage: boolean;
  /** What is shown, as written. */
  readonly text: string;
  /** A path or an address, without the anchor; empty for an anchor of the same page. */
  readonly path: string;
  /** Without `#`; empty where there is none. */
  readonly anchor: string;
}

const FENCED = /^(```|~~~)(\w*)[^\S\n]*([^\n]*)\n([\s\S]*?)^\1[^\S\n]*$/gm;
const CODE = /^(```|~~~)[\s\S]*?^\1[^\n]*$|`[^`\n]+`/gm;
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]+)>?\)/g;
const HEADING = /^#{1,6} +(.+?) *#*$/gm;

/** The fenced blocks of a page that name a language. */
export function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(FENCED)]
    .map((match) => {
      const [, , language = "", info = "", inside = ""] = match;
      return { line: text.slice(0, match.index).split("\n").length, language, info, text: inside };
    })
    .filter(({ language }) => language !== "");
}

/** Rewrites the links of a page; what stands in code stays as it is. */
export function mapLinks(text: string, map: (link: Link) => string | undefined): string {
  const codes: string[] = [];
  const masked = text.replaceAll(CODE, (code) => `\0${codes.push(code) - 1}\0`);
  const unmask = (part: string): string =>
    part.replaceAll(/\0(\d+)\0/g, (_, index: string) => codes[Number(index)] ?? "");
  const mapped = masked.replaceAll(LINK, (whole: string, ...parts: readonly string[]) => {
    const [mark = "", shown = "", target = ""] = parts;
    const [path = "", anchor = ""] = target.split("#");
    return (
      map({ isImage: mark === "!", text: unmask(shown), path: decodeURIComponent(path), anchor }) ??
      whole
    );
  });
  return unmask(mapped);
}

/** The links of a page, without what stands in code. */
export function linksOf(text: string): readonly Link[] {
  const found: Link[] = [];
  mapLinks(text, (link) => void found.push(link));
  return found;
}

/** Whether a path of a link leads to another site. */
export const isAddress = (path: string): boolean => /^[a-z][a-z+.-]*:/.test(path);

/**
 * The anchor of a heading, as GitHub makes it; the site does the same, so that a link holds in both
 * places.
 */
export function slugOf(heading: string): string {
  const shown = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1");
  return shown
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Mark}\p{Number}\p{Connector_Punctuation} -]/gu, "")
    .replaceAll(" ", "-");
}

/** The anchors of a page's headings; a heading that comes again gets a number. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const prose = text.replaceAll(FENCED, "");
  return new Set(
    [...prose.matchAll(HEADING)].map(([, heading = ""]) => {
      const slug = slugOf(heading);
      const count = counts.get(slug) ?? 0;
      counts.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
}

/** The first heading of a page, without marks. */
export function titleOf(text: string): string | undefined {
  return /^# +(.+)$/m.exec(text)?.[1]?.replaceAll(/[`*]/g, "");
}
