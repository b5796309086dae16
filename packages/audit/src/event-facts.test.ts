import type { JsonObject } from "@acp/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { makeEvent } from "../test/support.js";
import { encodeEvent } from "./codec.js";
import { factsOf } from "./event-facts.js";
import { readForwardedSeq, readLineFields } from "./log-index/line-fields.js";

const text = fc.string({ unit: "grapheme", maxLength: 20 });
const metadata = fc.record(
  {
    call: fc.oneof(text, fc.integer()),
    forwarded_seq: fc.oneof(fc.nat(), text),
    isolation: text,
    approver: text,
    approvers: fc.oneof(fc.array(text), text),
    note: text,
  },
  { requiredKeys: [] },
);

it("factsOf() says of an event what an index reads in its line", () => {
  fc.assert(
    fc.property(
      fc.record({ agent: text, tool: text, requestId: text, policyRule: text }),
      fc.double({ min: 0, max: 4e12, noNaN: true }),
      metadata,
      (fields, atMs, given) => {
        const event = makeEvent(1, { ...fields, atMs, metadata: given satisfies JsonObject });
        const { line, head } = encodeEvent(event, undefined);
        const bytes = Buffer.from(line);
        const facts = factsOf(event, head);
        expect(facts).toMatchObject({ ...readLineFields(bytes, 0, bytes.length) });
        const seq = readForwardedSeq(bytes, 0, bytes.length);
        if (seq !== undefined) expect(facts.forwardedSeq).toBe(seq);
      },
    ),
  );
});

it("factsOf() keeps nothing that is the caller's", () => {
  const approvers = ["ann"];
  const event = makeEvent(1, { metadata: { approvers } });
  const facts = factsOf(event, { seq: 0, hash: "sha256:0" });
  approvers.push("eve");
  expect(facts.approvers).toEqual(["ann"]);
});
