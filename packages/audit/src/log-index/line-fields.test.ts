import { logEvent } from "@acp/core";
import type { JsonObject } from "@acp/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeEvent, parseEvent } from "../codec.js";
import { trackOpenWork, writeOpenWork } from "../open-work.js";
import { readForwardedSeq } from "./line-fields.js";

const lineOf = (
  metadata: JsonObject,
  type: "tool_call_completed" | "tool_call_forwarded",
): Buffer =>
  Buffer.from(encodeEvent(logEvent(type, { id: "ae_1", atMs: 0 }, metadata), undefined).line);
const seqOf = (metadata: JsonObject): number | undefined => {
  const line = lineOf(metadata, "tool_call_completed");
  return readForwardedSeq(line, 0, line.length);
};

it("readForwardedSeq() reads what the metadata itself names, and leaves the rest to who parses", () => {
  expect(seqOf({ call: "cc_1", forwarded_seq: 17, outcome: "performed" })).toBe(17);
  expect(seqOf({ a: 'x,"forwarded_seq":3', call: "cc_1" })).toBeUndefined();
  expect(seqOf({ a: { b: 1, forwarded_seq: 3 } })).toBeUndefined();
  expect(seqOf({ a: [{ b: 1, forwarded_seq: 3 }], forwarded_seq: 4 })).toBeUndefined();
  for (const forwarded_seq of [-1, 1.5, 1e21, "3", null])
    expect(seqOf({ call: "cc_1", forwarded_seq })).toBeUndefined();
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (given, seq) => {
      const metadata: JsonObject = JSON.parse(JSON.stringify(given));
      const named = { ...metadata, forwarded_seq: seq };
      if (["seq", "mono_ms"].some((key) => Object.hasOwn(named, key))) return;
      expect([seq, undefined]).toContain(seqOf(named));
      if (!Object.hasOwn(metadata, "forwarded_seq")) expect(seqOf(metadata)).toBeUndefined();
    }),
  );
});

it("an open call is the same whether its events are read at once, or only where its end is missing", () => {
  const step = fc.oneof(
    fc.constant("begin" as const),
    fc.record({ ends: fc.nat(40) }),
    fc.record({ asks: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const [atOnce, later] = [trackOpenWork(), trackOpenWork()];
      for (const [seq, each] of steps.entries()) {
        if (each === "begin") {
          const event = { ...parseEvent(String(lineOf({}, "tool_call_forwarded"))), seq };
          atOnce.add(event);
          later.begin(event, () => event);
        } else if ("ends" in each) {
          const line = lineOf({ call: "cc_1", forwarded_seq: each.ends }, "tool_call_completed");
          const event = { ...parseEvent(String(line)), seq };
          atOnce.add(event);
          later.finish(event, each.ends);
        } else expect(later.calls()).toEqual(atOnce.calls());
      }
      expect(writeOpenWork(later)).toEqual(writeOpenWork(atOnce));
    }),
  );
});
