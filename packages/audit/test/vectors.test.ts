import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { splitLines } from "../src/lines.js";
import { verifyLines } from "../src/verify.js";
import { streamOf } from "./support.js";

interface Case {
  readonly name: string;
  readonly lines: readonly string[];
  readonly torn?: string;
  readonly want: { readonly ok: boolean };
}

const { cases } = JSON.parse(readFileSync(new URL("../../../spec/vectors/audit.json", import.meta.url), "utf8")) as {
  readonly cases: readonly Case[];
};

describe("spec/vectors/audit.json", () => {
  it.each(cases)("verifyAuditLog() finds $name", async ({ lines, torn = "", want }) => {
    expect(await verifyLines(splitLines(streamOf(lines.map((line) => `${line}\n`).join("") + torn)))).toMatchObject(want);
  });
});
