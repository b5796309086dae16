/** A word that a list of ours gains is explained in the specification before anybody meets it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { AUDIT_FAULT_CODES, EXPORT_FORMATS } from "../src/index.js";

const SPEC = readFileSync(new URL("../../../spec/audit.md", import.meta.url), "utf8");

it.each([
  ["AUDIT_FAULT_CODES", AUDIT_FAULT_CODES],
  ["EXPORT_FORMATS", EXPORT_FORMATS],
] as const)("every word of %s is in spec/audit.md", (_list, words) => {
  expect(words.filter((word) => !SPEC.includes(`\`${word}\``))).toEqual([]);
});
