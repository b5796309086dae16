import type { AuditEventInput, AuditReceipt, JsonObject } from "@acp/core";
import { stateSavedEvent } from "@acp/core/unstable";
import fc from "fast-check";
import { expect, it } from "vitest";
import { makeEvent } from "../../test/support.js";
import { encodeEvent } from "../codec.js";
import { factsOf } from "../event-facts.js";
import { leafText } from "../merkle.js";
import { createIndexBuilder, EMPTY_STATE } from "./builder.js";
import type { AddedLine } from "./stretch-builder.js";

const SAVED = { kind: "grants", hash: `sha256:${"0".repeat(64)}` } as const;
const text = fc.string({ unit: "grapheme", maxLength: 8 });

/** An event of a log, but for its id; `seqs` are those that a completion may name. */
const event = fc.oneof(
  fc.record({
    eventType: fc.constantFrom(
      "tool_call_intercepted",
      "policy_evaluated",
      "tool_call_forwarded",
      "tool_call_completed",
      "outcome_unknown",
      "consent_requested",
      "consent_approved",
      "consent_denied",
      "log_opened",
      "gate_notice",
    ),
    agent: text,
    tool: text,
    requestId: fc.constantFrom("", "cr_00000001", "cr_00000002"),
    metadata: fc.record(
      {
        call: text,
        forwarded_seq: fc.nat({ max: 20 }),
        isolation: text,
        approver: text,
        notice: fc.constantFrom("policy_loaded", "other"),
        arguments: fc.dictionary(text, text),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ counter: fc.nat({ max: 9 }) }),
);

function eventOf(given: object, number: number): AuditEventInput {
  const id = `ae_${String(number).padStart(8, "0")}`;
  if ("counter" in given)
    return stateSavedEvent({ ...SAVED, counter: Number(given.counter) }, { id, atMs: number });
  const metadata: JsonObject = JSON.parse(JSON.stringify(Reflect.get(given, "metadata")));
  return makeEvent(number, { ...given, metadata, id });
}

it("createIndexBuilder() makes the same of what it is told of events as of their lines", () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), (given) => {
      const read = createIndexBuilder({ head: undefined, state: EMPTY_STATE }, 4);
      const told = createIndexBuilder({ head: undefined, state: EMPTY_STATE }, 4);
      let head: AuditReceipt | undefined;
      let from = 0;
      for (const [number, each] of given.entries()) {
        const input = eventOf(each, number);
        const encoded = encodeEvent(input, head);
        ({ head } = encoded);
        const bytes = Buffer.from(`${encoded.line}\n`);
        const line: AddedLine = { bytes, start: 0, end: bytes.length - 1, file: 0, from };
        const leaf = leafText(bytes, 0, line.end);
        expect(read.add(line)).toBe(true);
        expect(told.add({ ...line, leaf, facts: factsOf(input, head) })).toBe(true);
        from += bytes.length;
      }
      expect(told.head()).toEqual(read.head());
      expect(told.work().calls()).toEqual(read.work().calls());
      expect(told.seal(1)).toEqual(read.seal(1));
    }),
  );
});
