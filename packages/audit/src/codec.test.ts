import { canonicalJson } from "@acp/core";
import { describe, expect, it } from "vitest";
import { makeEvent } from "../test/support.js";
import { checkLink, decodeEvent, encodeEvent, sha256 } from "./codec.js";
import { LINE_BYTES_MAX } from "./event.js";

/** A line with some fields replaced, sealed anew as an editor with a hash tool would. */
function forge(fields: Readonly<Record<string, unknown>>, drop: readonly string[] = []): string {
  const { event_hash: _hash, ...wire } = JSON.parse(
    encodeEvent(makeEvent(1), undefined).line,
  ) as Record<string, unknown>;
  const forged: Record<string, unknown> = { ...wire, ...fields };
  for (const key of drop) delete forged[key];
  return canonicalJson({ ...forged, event_hash: sha256(canonicalJson(forged)) });
}

function faultOf(line: string): string {
  const decoded = decodeEvent(line);
  return decoded.ok ? "none" : decoded.fault.code;
}

describe("encodeEvent()", () => {
  it.each([3, 24, 25, 600])("puts %i keys of metadata in order", (count) => {
    const keys = Array.from({ length: count }, (_, index) =>
      `k${(index * 7) % count}\u{1f600}`.slice(0, 2 + (index % 4)).toWellFormed(),
    );
    const metadata = Object.fromEntries(keys.map((key, index) => [`${key}${index}`, index]));
    for (let again = 0; again < 2; again++) {
      const { line } = encodeEvent(makeEvent(1, { metadata }), undefined, { monoMs: 1 });
      expect(decodeEvent(line)).toMatchObject({ ok: true, event: { metadata, seq: 0, monoMs: 1 } });
    }
  });

  it("writes the schema of S0 §7.4 and nothing else", () => {
    const { line, head } = encodeEvent(
      makeEvent(1, { requestId: "cr_1", responseTimeMs: 12.5, metadata: { b: 1, a: [true] } }),
      undefined,
    );
    expect(JSON.parse(line)).toEqual({
      type: "audit_event",
      version: "0.2.0",
      id: "ae_1",
      timestamp: "2026-01-15T10:30:00.001Z",
      event_type: "policy_evaluated",
      request_id: "cr_1",
      agent: "agent-1",
      tool: "write_file",
      category: "write",
      risk_level: "medium",
      decision: "allow",
      response_time_ms: 12.5,
      policy_rule: "rule_1",
      metadata: { seq: 0, a: [true], b: 1 },
      previous_event_hash: null,
      event_hash: head.hash,
    });
  });

  it("seals the canonical bytes without the hash, also where texts imitate the field", () => {
    const trap = ',"event_type":"x","event_hash":"sha256:';
    const { line, head } = encodeEvent(
      makeEvent(1, {
        agent: trap,
        category: trap,
        decision: trap,
        metadata: { event_hash: trap, event_type: 1 },
      }),
      undefined,
    );
    const { event_hash: hash, ...rest } = JSON.parse(line) as Record<string, unknown>;
    expect(line).toBe(canonicalJson(JSON.parse(line)));
    expect(hash).toBe(head.hash);
    expect(hash).toBe(sha256(canonicalJson(rest)));
    expect(faultOf(line)).toBe("none");
  });

  it("links to the event before", () => {
    const first = encodeEvent(makeEvent(1), undefined);
    const second = encodeEvent(makeEvent(2), first.head);
    expect(JSON.parse(second.line)).toMatchObject({
      previous_event_hash: first.head.hash,
      metadata: { seq: 1 },
    });
    expect(second.head.seq).toBe(1);
  });

  it("keeps a line one line, whatever a name holds", () => {
    const name = '\n{"agent":"forged"}\r\u2028\u2029\u0085\u0000"';
    const { line } = encodeEvent(
      makeEvent(1, { tool: name, metadata: { [name]: name } }),
      undefined,
    );
    expect(line).not.toMatch(/[\n\r\0]/);
    const decoded = decodeEvent(line);
    expect(decoded.ok && decoded.event.tool).toBe(name);
  });

  it.each([
    ["a lone surrogate", { tool: "\ud800" }, "surrogate"],
    ["NaN", { responseTimeMs: Number.NaN }, "NaN"],
    ["a negative time", { responseTimeMs: -1 }, "response_time_ms"],
    ["a time that is none", { atMs: Number.POSITIVE_INFINITY }, "Invalid time"],
    ["a year beyond four digits", { atMs: Date.UTC(10_000, 0) }, "timestamp"],
    ["no id", { id: "" }, "id"],
    ["its own sequence number", { metadata: { seq: 7 } }, "metadata.seq"],
  ])("refuses %s", (_name, fields, why) => {
    expect(() => encodeEvent(makeEvent(1, fields), undefined)).toThrow(why);
  });
});

describe("decodeEvent()", () => {
  it("gives the event back", () => {
    const event = makeEvent(1, { metadata: { list: [1, { deep: null }], ["__proto__"]: "own" } });
    const { line, head } = encodeEvent(event, { seq: 6, hash: sha256("six") });
    expect(decodeEvent(line)).toEqual({
      ok: true,
      event: { ...event, seq: 7, previousHash: sha256("six"), hash: head.hash },
    });
  });

  it.each([
    ["not_json", "no", () => "{"],
    ["not_json", "an empty line", () => ""],
    ["not_json", "a byte order mark", () => `\ufeff${forge({})}`],
    ["not_canonical", "blanks", () => ` ${forge({})}`],
    ["not_canonical", "a key twice", () => forge({}).replace("{", '{"agent":"other",')],
    [
      "not_canonical",
      "another spelling of a number",
      () => forge({ response_time_ms: 10 }).replace(":10,", ":1e1,"),
    ],
    [
      "not_canonical",
      "an escape that is not needed",
      () => forge({}).replace("write_file", "write\\u005ffile"),
    ],
    ["not_canonical", "a lone surrogate", () => forge({}).replace("write_file", "\\ud800")],
    ["schema_invalid", "a list", () => "[]"],
    ["schema_invalid", "an unknown field", () => forge({ note: "" })],
    ["schema_invalid", "a missing field", () => forge({}, ["tool"])],
    ["schema_invalid", "another type", () => forge({ type: "event" })],
    ["schema_invalid", "another version", () => forge({ version: "0.3.0" })],
    [
      "schema_invalid",
      "a time with an offset",
      () => forge({ timestamp: "2026-01-15T10:30:00.001+00:00" }),
    ],
    ["schema_invalid", "a number for a text", () => forge({ agent: 7 })],
    ["schema_invalid", "an empty id", () => forge({ id: "" })],
    ["schema_invalid", "an empty event type", () => forge({ event_type: "" })],
    ["schema_invalid", "a negative response time", () => forge({ response_time_ms: -1 })],
    ["schema_invalid", "metadata that is a list", () => forge({ metadata: [] })],
    ["schema_invalid", "no sequence number", () => forge({ metadata: {} })],
    ["schema_invalid", "half a sequence number", () => forge({ metadata: { seq: 0.5 } })],
    [
      "schema_invalid",
      "a previous hash of another kind",
      () => forge({ previous_event_hash: "md5:00" }),
    ],
    [
      "schema_invalid",
      "a hash in upper case",
      () =>
        forge({}).replace(/sha256:[0-9a-f]+/, (hash) => hash.toUpperCase().replace("SHA", "sha")),
    ],
    ["hash_mismatch", "a changed field", () => forge({}).replace("write_file", "read_file")],
    ["none", "a type of a newer version", () => forge({ event_type: "something_new" })],
  ])("says %s of %s", (code, _name, line) => {
    expect(faultOf(line())).toBe(code);
  });
});

describe("a line of the greatest length", () => {
  it("can be read back", () => {
    const empty = encodeEvent(makeEvent(1, { metadata: { filler: "" } }), undefined).line.length;
    const { line } = encodeEvent(
      makeEvent(1, { metadata: { filler: "x".repeat(LINE_BYTES_MAX - empty) } }),
      undefined,
    );
    expect(line.length).toBe(LINE_BYTES_MAX);
    expect(faultOf(line)).toBe("none");
  });
});

describe("checkLink()", () => {
  const decoded = decodeEvent(encodeEvent(makeEvent(1), { seq: 4, hash: sha256("four") }).line);
  if (!decoded.ok) throw new Error(decoded.fault.message);
  const { event } = decoded;

  it("accepts the next event only", () => {
    expect(checkLink(event, { seq: 4, hash: sha256("four") })).toBeUndefined();
    expect(checkLink(event, { seq: 3, hash: sha256("four") })?.code).toBe("seq_broken");
    expect(checkLink(event, undefined)?.code).toBe("seq_broken");
    expect(checkLink(event, { seq: 4, hash: sha256("five") })?.code).toBe("chain_broken");
  });

  it("wants no predecessor of the first event", () => {
    expect(checkLink({ ...event, seq: 0 }, undefined)?.code).toBe("chain_broken");
    expect(checkLink({ ...event, seq: 0, previousHash: null }, undefined)).toBeUndefined();
  });
});
