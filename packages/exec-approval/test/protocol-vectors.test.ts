/** The protocol document's own messages, and what is none: spec/vectors/exec-approval.json. */
import { readFileSync } from "node:fs";
import { isConsentError, type JsonObject } from "@acp/core";
import { describe, expect, it } from "vitest";
import {
  decodeMessage,
  encodeMessage,
  readResolveParams,
  readResolveResult,
} from "../src/codec.js";

interface Case {
  readonly name: string;
  readonly kind: "message" | "params" | "result";
  readonly text?: string;
  readonly value?: JsonObject;
  readonly pretty?: boolean;
  readonly expect: "same" | { readonly error: string; readonly path?: string };
}

const { cases } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/exec-approval.json", import.meta.url), "utf8"),
) as {
  readonly cases: readonly Case[];
};

/** What reading and writing gives, as JSON; or the refusal. */
function outcomeOf({
  kind,
  text = "",
  value = {},
}: Case): string | { readonly error: string; readonly path?: string } {
  try {
    if (kind === "message") return encodeMessage(decodeMessage(text));
    return JSON.stringify(kind === "params" ? readResolveParams(value) : readResolveResult(value));
  } catch (error) {
    if (!isConsentError(error)) throw error;
    return { error: error.code, ...(error.path === undefined ? {} : { path: error.path }) };
  }
}

describe("spec/vectors/exec-approval.json", () => {
  it.each(cases)("$kind: $name", (each) => {
    const { text, value, expect: want } = each;
    expect(outcomeOf(each)).toEqual(
      want === "same" ? JSON.stringify(text === undefined ? value : JSON.parse(text)) : want,
    );
  });

  const shown = cases.filter(({ pretty }) => pretty === true);

  it("holds the four messages that the document shows", () => expect(shown).toHaveLength(4));

  it.each(shown)("$name: the same bytes at an indent of 2", ({ text = "" }) => {
    expect(JSON.stringify(decodeMessage(text), null, 2)).toBe(text);
  });
});
