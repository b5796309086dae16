import { describe, expect, it } from "vitest";
import { createLoopTurns } from "./loop-turns.js";
import { createCatalog, type ListPage } from "./catalog.js";

const NEEDS_A = { type: "object", required: ["a"] };
const x = { server: "s", name: "x", inputSchema: NEEDS_A };

describe("createCatalog()", () => {
  it("knows what it learnt, page by page", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    catalog.learn({ tools: [{ name: "x", inputSchema: NEEDS_A }], nextCursor: "1" });
    catalog.learn({
      tools: [
        {
          name: "y",
          inputSchema: { required: ["b"] },
          annotations: { readOnlyHint: true },
          title: "Y",
        },
      ],
    });
    expect(await catalog.find("x", undefined)).toEqual(x);
    expect(await catalog.find("y", undefined)).toEqual({
      server: "s",
      name: "y",
      inputSchema: { required: ["b"] },
      annotations: { readOnlyHint: true },
    });
    expect(await catalog.find("z", undefined)).toBeUndefined();
  });

  it("gives the same definition for every call, so that its schema is compiled once", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    catalog.learn({ tools: [{ name: "x", inputSchema: NEEDS_A }] });
    expect(await catalog.find("x", undefined)).toBe(await catalog.find("x", undefined));
  });

  it("asks for the list once, over all its pages, when it knows nothing", async () => {
    const asked: (string | undefined)[] = [];
    const list: ListPage = async (cursor) => {
      asked.push(cursor);
      return cursor === undefined
        ? { tools: [], nextCursor: "n" }
        : { tools: [{ name: "x", inputSchema: NEEDS_A }] };
    };
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    expect(await Promise.all([catalog.find("x", list), catalog.find("x", list)])).toEqual([x, x]);
    expect(await catalog.find("unknown", list)).toBeUndefined();
    expect(asked).toEqual([undefined, "n"]);
  });

  it("ends a list whose cursor never ends", async () => {
    let pages = 0;
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    await catalog.find("x", async () => ({ tools: [], nextCursor: String(pages++) }));
    expect(pages).toBe(50);
  });

  it("knows nothing when the server does not answer", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    expect(await catalog.find("x", async () => undefined)).toBeUndefined();
  });

  it("forgets, and asks again", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    catalog.learn({ tools: [{ name: "x", inputSchema: NEEDS_A }] });
    catalog.forget();
    expect(await catalog.find("x", undefined)).toBeUndefined();
    expect(
      await catalog.find("x", async () => ({ tools: [{ name: "x", inputSchema: NEEDS_A }] })),
    ).toEqual(x);
  });

  it.each([
    ["a schema with an unpaired surrogate", { a: "\ud800" }],
    ["a schema of a megabyte", { a: "x".repeat(1024 * 1024) }],
  ])("presents a tool without %s, and says once why", async (_, inputSchema) => {
    const logs: string[] = [];
    const catalog = createCatalog("s", {
      log: (line) => logs.push(line),
      turns: createLoopTurns(),
    });
    catalog.learn({ tools: [{ name: "x\n", inputSchema }] });
    expect(await catalog.find("x\n", undefined)).toEqual({ server: "s", name: "x\n" });
    await catalog.find("x\n", undefined);
    expect(logs).toHaveLength(1);
    expect(logs[0]).toMatch(
      /^\[s\] arguments of tool "x\\u000a" are not checked against its schema: /,
    );
  });

  it.each([[undefined], [null], [[]], [{}], [{ tools: {} }], [{ tools: [null, 1, { name: 1 }] }]])(
    "takes %j for no tools",
    async (result) => {
      const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
      catalog.learn(result);
      expect(await catalog.find("x", undefined)).toBeUndefined();
    },
  );

  it("remembers no more tools than it may", async () => {
    const logs: string[] = [];
    const catalog = createCatalog("s", {
      log: (line) => logs.push(line),
      turns: createLoopTurns(),
    });
    catalog.learn({
      tools: Array.from({ length: 10_002 }, (_, index) => ({
        name: `t${index}`,
        inputSchema: NEEDS_A,
      })),
    });
    expect(await catalog.find("t9999", undefined)).toMatchObject({ name: "t9999" });
    expect(await catalog.find("t10000", undefined)).toBeUndefined();
    expect(logs).toEqual([
      "[s] has more than 10000 tools; the arguments of the rest are not checked",
    ]);
  });
});
