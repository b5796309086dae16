/**
 * Links: for every person a way of their own to one question. A link is a secret: whoever holds it
 * answers as that person, once, while the question is open.
 */
import { createHash, randomBytes } from "node:crypto";
import type { EndStatus } from "@acp/core";
import type { Question } from "./questions.js";

/** Links kept after they stopped working, so that who opens one late is told why. */
const OVER_MAX = 10_000;
const TOKEN_BYTES = 32;
/** The last part of a link's path. */
const TOKEN = /^q_[A-Za-z0-9_-]{43}$/;

/** A link that works. */
export interface OpenLink {
  readonly state: "open";
  /** Its token's hash. */
  readonly key: string;
  readonly question: Question;
  readonly subject: string;
  /** In the page's form: an answer comes from somebody who was shown the page. */
  readonly formKey: string;
}

/** What a link leads to. */
export type Link = OpenLink | { readonly state: "over"; readonly how: EndStatus | "answered" };

/** The links of one channel. */
export interface Links {
  /** Makes a link for every subject. */
  mint(question: Question, subjects: readonly string[]): Readonly<Record<string, string>>;
  find(token: string): Link | undefined;
  /** Takes a link out of use while its answer is judged; false where it is not free. */
  take(link: OpenLink): boolean;
  /** Puts a link back that answered nothing. */
  release(link: OpenLink): void;
  spend(link: OpenLink): void;
  end(question: Question, status: EndStatus): void;
}

const random = (): string => randomBytes(TOKEN_BYTES).toString("base64url");
// Looked up by hash, so that the time a look-up takes tells nothing about the tokens that exist.
const keyOf = (token: string): string => createHash("sha256").update(token).digest("base64");

/** Whether the last part of a path has the form of a link's token. */
export function isLinkToken(segment: string): boolean {
  return TOKEN.test(segment);
}

/**
 * No links yet.
 *
 * @param base - What links start with, ending in a slash.
 */
export function createLinks(base: string): Links {
  const links = new Map<string, OpenLink>();
  const keys = new Map<Question, readonly string[]>();
  const over = new Map<string, Link>();
  const taken = new Set<OpenLink>();

  const close = (key: string, how: EndStatus | "answered"): void => {
    const link = links.get(key);
    if (link === undefined) return;
    links.delete(key);
    taken.delete(link);
    over.set(key, { state: "over", how });
    const [oldest] = over.keys();
    if (over.size > OVER_MAX && oldest !== undefined) over.delete(oldest);
  };

  return {
    mint(question, subjects) {
      const made = subjects.map((subject) => {
        const token = `q_${random()}`;
        const key = keyOf(token);
        links.set(key, { state: "open", key, question, subject, formKey: random() });
        return { key, entry: [subject, base + token] as const };
      });
      keys.set(
        question,
        made.map(({ key }) => key),
      );
      return Object.fromEntries(made.map(({ entry }) => entry));
    },
    find: (token) => links.get(keyOf(token)) ?? over.get(keyOf(token)),
    take(link) {
      if (taken.has(link)) return false;
      taken.add(link);
      return true;
    },
    release: (link) => void taken.delete(link),
    spend: ({ key }) => close(key, "answered"),
    end(question, status) {
      for (const key of keys.get(question) ?? []) close(key, status);
      keys.delete(question);
    },
  };
}
