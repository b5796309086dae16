import { describe, expect, it } from "vitest";
import { createSchemaCheck } from "./schema-check.js";

async function check(
  schema: unknown,
  args: Record<string, never> | Record<string, unknown>,
): Promise<{ problem: string | undefined; skips: string[] }> {
  const skips: string[] = [];
  const run = createSchemaCheck(schema, (reason) => skips.push(reason));
  const problem = run.check(args as never, JSON.stringify(args).length);
  return { problem, skips };
}

const PATH = {
  type: "object",
  properties: { path: { type: "string" }, depth: { type: "integer", minimum: 1 } },
  required: ["path"],
  additionalProperties: false,
};

describe("createSchemaCheck()", () => {
  it("passes arguments that fit", async () => {
    expect(await check(PATH, { path: "a", depth: 2 })).toEqual({ problem: undefined, skips: [] });
  });

  it("names every error when arguments do not fit", async () => {
    const { problem } = await check(PATH, { depth: 0, extra: true });
    expect(problem).toContain("must have required property 'path'");
    expect(problem).toContain('"depth" must be >= 1');
    expect(problem).toContain('must NOT have additional properties: "extra"');
  });

  it("bounds how many errors it tells", async () => {
    const schema = { type: "object", additionalProperties: { type: "string" } };
    const { problem } = await check(
      schema,
      Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index])),
    );
    expect(problem).toContain("and 4992 more");
    expect(problem?.length).toBeLessThan(2_100);
  });

  it("refuses an argument that differs from a known one in case only", async () => {
    const open = { type: "object", properties: { path: { type: "string" } } };
    expect((await check(open, { path: "/ok", Path: "/etc" })).problem).toContain(
      '"Path" differs from the argument "path"',
    );
    expect((await check(open, { path: "/ok", other: 1 })).problem).toBeUndefined();
    const folding = { type: "object", properties: { kind: {} } };
    expect((await check(folding, { "\u212aind": 1 })).problem).toContain("in case only");
  });

  it("takes two known names that differ in case only", async () => {
    const both = { type: "object", properties: { a: {}, A: {} } };
    expect((await check(both, { a: 1, A: 2 })).problem).toBeUndefined();
  });

  it("reads draft-07 and 2020-12 each by its own rules", async () => {
    const old = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } },
    };
    expect((await check(old, { pair: ["a", "b"] })).problem).toContain('"pair.1" must be number');
    const now = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { pair: { prefixItems: [{ type: "string" }, { type: "number" }] } },
    };
    expect((await check(now, { pair: ["a", "b"] })).problem).toContain('"pair.1" must be number');
    expect((await check(now, { pair: ["a", 1] })).skips).toEqual([]);
  });

  it("follows references inside the schema and never fetches others", async () => {
    const inside = {
      type: "object",
      properties: { at: { $ref: "#/$defs/at" } },
      $defs: { at: { type: "integer" } },
    };
    expect((await check(inside, { at: "x" })).problem).toContain('"at" must be integer');
    const outside = await check(
      { type: "object", properties: { at: { $ref: "http://127.0.0.1:1/x.json" } } },
      { at: "x" },
    );
    expect(outside.problem).toBeUndefined();
    expect(outside.skips).toEqual([expect.stringContaining("can't resolve reference")]);
  });

  it("takes two schemas with one $id", async () => {
    const schema = { $id: "https://x.test/s", type: "object", required: ["a"] };
    expect((await check(schema, {})).problem).toContain("'a'");
    expect((await check(schema, {})).skips).toEqual([]);
  });

  it("stops a regular expression that backtracks, and skips the schema from then on", async () => {
    const skips: string[] = [];
    const run = createSchemaCheck(
      { type: "object", properties: { name: { type: "string", pattern: "^(a+)+$" } } },
      (reason) => skips.push(reason),
    );
    const evil = { name: `${"a".repeat(50_000)}!` };
    // Without the watchdog neither of these would end.
    expect(run.check(evil, 50_000)).toBeUndefined();
    expect(skips).toEqual(["a check takes more than 50 ms"]);
    expect(run.check(evil, 50_000)).toBeUndefined();
    expect(skips).toHaveLength(1);
  });

  it("stops a recursive union that doubles its work at every level", async () => {
    const branch = (op: string): unknown => ({
      properties: { below: { $ref: "#/$defs/node" }, op: { const: op } },
      required: ["below", "op"],
    });
    const schema = {
      type: "object",
      properties: { filter: { $ref: "#/$defs/node" } },
      $defs: { node: { anyOf: [branch("and"), branch("or"), { type: "number" }] } },
    };
    let filter: unknown = "wrong";
    for (let depth = 0; depth < 40; depth++) filter = { below: filter, op: "none" };
    const { skips } = await check(schema, { filter });
    expect(skips).toEqual(["a check takes more than 50 ms"]);
  });

  it("ignores uniqueItems, whose check takes quadratic time", async () => {
    const schema = { type: "object", properties: { list: { type: "array", uniqueItems: true } } };
    const list = Array.from({ length: 30_000 }, (_, index) => ({ index }));
    // Compared with each other they would take longer than a check may.
    expect(await check(schema, { list })).toEqual({ problem: undefined, skips: [] });
  });

  it.each([
    [
      "too deep",
      () => JSON.parse(`${'{"not":'.repeat(80)}{}${"}".repeat(80)}`) as unknown,
      "nested deeper than 64",
    ],
    [
      "very deep",
      () => JSON.parse(`${'{"not":'.repeat(50_000)}{}${"}".repeat(50_000)}`) as unknown,
      "nested deeper than 64",
    ],
    ["too large", () => ({ type: "object", description: "x".repeat(200_000) }), "more than 131072"],
    ["not a schema", () => ({ type: "nonsense" }), "nonsense"],
    [
      "a broken pattern",
      () => ({ properties: { a: { pattern: "(" } } }),
      "Invalid regular expression",
    ],
  ])("skips a schema that is %s", async (_name, make, reason) => {
    const { problem, skips } = await check(make(), { a: "x" });
    expect(problem).toBeUndefined();
    expect(skips).toEqual([expect.stringContaining(reason)]);
  });

  it.each([[undefined], [true], ["x"], [null]])(
    "checks nothing where the schema is %j",
    async (schema) => {
      expect(await check(schema, { a: 1 })).toEqual({ problem: undefined, skips: [] });
    },
  );

  it("does not change the arguments", async () => {
    const args = { a: "1" };
    await check(
      {
        type: "object",
        properties: { a: { type: "integer", default: 5 }, b: { default: 1 } },
        additionalProperties: false,
      },
      args,
    );
    expect(args).toEqual({ a: "1" });
  });
});
