/** A word that a list of ours gains is explained in the specification before anybody meets it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  AUDIT_EVENT_TYPES,
  CATEGORIES,
  CONSENT_OUTCOMES,
  DECISIONS,
  END_STATUSES,
  REFUSAL_CODES,
  RISK_LEVELS,
} from "../src/index.js";

const textOf = (page: string): string =>
  readFileSync(new URL(`../../../spec/${page}`, import.meta.url), "utf8");

it.each([
  ["AUDIT_EVENT_TYPES", AUDIT_EVENT_TYPES, "audit.md"],
  ["REFUSAL_CODES", REFUSAL_CODES, "consent.md"],
  ["CONSENT_OUTCOMES", CONSENT_OUTCOMES, "consent.md"],
  ["DECISIONS", DECISIONS, "consent.md"],
  ["END_STATUSES", END_STATUSES, "approve-socket.md"],
  ["CONSENT_OUTCOMES", CONSENT_OUTCOMES, "approve-socket.md"],
  ["RISK_LEVELS", RISK_LEVELS, "policy.md"],
  ["CATEGORIES", CATEGORIES, "policy.md"],
] as const)(
  "every word of %s is in the page of the specification that has them",
  (_list, words, page) => {
    const text = textOf(page);
    expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(text))).toEqual([]);
  },
);
