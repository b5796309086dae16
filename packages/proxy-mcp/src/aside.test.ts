import { parseToolDefinition, toolAction } from "@acp/core";
import type { JsonObject, ToolAction, ToolDefinition } from "@acp/core";
import { describe, expect, it } from "vitest";
import { createArgumentCheck, prepareCheck } from "./argument-check.js";
import { createAside } from "./aside.js";
import { TOO_SLOW_MAX } from "./limits.js";
import { createSchemaCheck } from "./schema-check.js";

const toolOf = (inputSchema: object): ToolDefinition =>
  parseToolDefinition({ server: "s", name: "t", inputSchema });
const action = (args: JsonObject): ToolAction => toolAction("s", "t", args);
/** No plain one: it is checked aside. */
const pattern = (text: string): ToolDefinition =>
  toolOf({ type: "object", properties: { text: { type: "string", pattern: text } } });
/** Doubles its work with every letter. */
const slow = (n: number): ToolDefinition => pattern(`^(a+)+${n}$`);
const EVIL = action({ text: `${"a".repeat(60)}!` });

/** A proxy's check, and what it logs. */
function proxy() {
  const logs: string[] = [];
  const parts = { log: (line: string) => void logs.push(line), aside: createAside() };
  const { check } = createArgumentCheck(parts);
  return {
    logs,
    check,
    prepare: (args: ToolAction, tool: ToolDefinition) => prepareCheck(args, tool, parts),
  };
}

describe("createAside()", () => {
  it("finds out what a check of this thread then says", async () => {
    const { check, prepare, logs } = proxy();
    const tool = pattern("^[ab]+$");
    const [bad, good] = [action({ text: "c" }), action({ text: "abba" })];
    await Promise.all([prepare(bad, tool), prepare(good, tool)]);
    expect(check(bad, tool)).toBe('"text" must match pattern "^[ab]+$"');
    expect(check(good, tool)).toBeUndefined();
    expect(logs).toEqual([]);
  });

  it("keeps no process", async () => {
    const count = () =>
      process.getActiveResourcesInfo().filter((name) => name.includes("Port")).length;
    const before = count();
    await proxy().prepare(action({ text: "c" }), pattern("^d$"));
    expect(count()).toBe(before);
  });

  it("is not asked about what is quick here, or belongs to another tool", () => {
    const { prepare } = proxy();
    const plain = toolOf({ type: "object", properties: { text: { type: "string" } } });
    expect(prepare(action({ text: "a" }), plain)).toBeUndefined();
    expect(prepare(toolAction("other", "t", {}), pattern("a"))).toBeUndefined();
  });

  it("does not hold this thread while a pattern backtracks, and skips the schema", async () => {
    const { check, prepare, logs } = proxy();
    const tool = slow(0);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await prepare(EVIL, tool);
    clearInterval(timer);
    // A held thread would have had none.
    expect(turns).toBeGreaterThan(3);
    expect(check(EVIL, tool)).toBeUndefined();
    expect(prepare(EVIL, tool)).toBeUndefined();
    expect(logs).toEqual([expect.stringMatching(/takes more than \d+ ms$/)]);
  });

  it("goes on with another worker for others, and for one that was slow too often with none", async () => {
    const [one, other] = [proxy(), proxy()];
    for (let n = 1; n <= TOO_SLOW_MAX; n++) await one.prepare(EVIL, slow(n));
    const tool = pattern("^b$");
    const wrong = action({ text: "a" });
    await Promise.all([one.prepare(wrong, tool), other.prepare(wrong, pattern("^b$"))]);
    expect(one.check(wrong, tool)).toBeUndefined();
    expect(one.logs.at(-1)).toContain("others took too long");
    const own = pattern("^b$");
    await other.prepare(wrong, own);
    expect(other.check(wrong, own)).toContain("must match pattern");
  });

  it("takes turns: many of one are no queue before one of another", async () => {
    const [many, one] = [proxy(), proxy()];
    const order: string[] = [];
    const tools = Array.from({ length: 20 }, (_, n) => pattern(`^a{${n + 1}}$`));
    const all = tools.map(async (tool) => {
      await many.prepare(action({ text: "a" }), tool);
      order.push("many");
    });
    const own = (async () => {
      await one.prepare(action({ text: "a" }), pattern("^c$"));
      order.push("one");
    })();
    await Promise.all([...all, own]);
    expect(order.indexOf("one")).toBeLessThanOrEqual(2);
  });

  it("survives a schema that takes too much memory", async () => {
    const { prepare, check, logs } = proxy();
    // Each level has the one below twice, so compiling it in line doubles.
    let huge: object = { pattern: "a" };
    for (let depth = 0; depth < 11; depth++) huge = { anyOf: [huge, { not: huge }] };
    await prepare(action({ text: "a" }), toolOf({ type: "object", properties: { text: huge } }));
    const tool = pattern("^b$");
    const wrong = action({ text: "a" });
    await prepare(wrong, tool);
    expect(check(wrong, tool)).toContain("must match pattern");

    expect(logs).toHaveLength(1);
  });

  it.each([
    [1_000, undefined],
    [1, expect.stringContaining("must match pattern")],
  ])(
    "compiled in %d ms there, edited arguments are checked here or not at all",
    async (compileMs, said) => {
      const schema = createSchemaCheck(pattern("^a$").inputSchema, () => expect.unreachable());
      const aside = { check: () => Promise.resolve({ problem: undefined, compileMs }) };
      await schema.prepare({ text: "a" }, 12, aside);
      expect(schema.check({ text: "b" }, 12)).toEqual(said);
    },
  );
});
