/**
 * What the site holds, as docs/index.md lists it: one list is the overview that people read, the
 * site's navigation and its llms.txt. Pure.
 */
import { posix } from "node:path";
import { linksOf } from "../markdown.js";
import { placeOf } from "./pages.js";

/** A page that the overview names. */
export interface Entry {
  readonly title: string;
  /** Where the page stands in the site. */
  readonly place: string;
  /** What it is for. */
  readonly summary: string;
}

/** A kind of pages. */
export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

const INDEX = "docs/index.md";
const ITEM = /^- (\[[^\n]*?\]\([^)]*\)): ([^\n]+(?:\n {2}[^\n]+)*)$/gm;

function entryOf(link: string, summary: string): Entry | undefined {
  const [found] = linksOf(link);
  if (found === undefined) return undefined;
  const place = placeOf(posix.join(posix.dirname(INDEX), found.path).replace(/\/$/, ""));
  return place === undefined
    ? undefined
    : { title: found.text, place, summary: summary.replaceAll(/\n +/g, " ") };
}

/** The sections of the overview, each with the pages that its list names. */
export function sectionsOf(index: string): readonly Section[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = ""] = part.split("\n");
      const entries = [...part.matchAll(ITEM)].map(([, link = "", summary = ""]) =>
        entryOf(link, summary),
      );
      return { title, entries: entries.filter((entry) => entry !== undefined) };
    })
    .filter(({ entries }) => entries.length > 0);
}

/**
 * Places that lists of their own lead to: the decisions, the formats, the packages and their
 * interfaces.
 */
const LISTED_ELSEWHERE = /^(?:adr|spec|reference\/(?:packages|api))\/|^index\.md$/;

/** Pages that no list leads to. */
export function unlisted(
  sections: readonly Section[],
  places: readonly string[],
): readonly string[] {
  const listed = new Set(sections.flatMap(({ entries }) => entries.map(({ place }) => place)));
  return places.filter((place) => !listed.has(place) && !LISTED_ELSEWHERE.test(place));
}

/** llms.txt: what the site is, and each page as Markdown with what it is for. */
export function llmsText(index: string, sections: readonly Section[]): string {
  const [, about = ""] = /^# .+\n\n([^#]+?)\n\n/.exec(index) ?? [];
  const lists = sections.map(({ title, entries }) =>
    [
      `## ${title}`,
      "",
      ...entries.map((entry) => `- [${entry.title}](${entry.place}): ${entry.summary}`),
    ].join("\n"),
  );
  return `${["# ACP (Agent Consent Protocol)", `> ${about.replaceAll("\n", "\n> ")}`, ...lists].join("\n\n")}\n`;
}
