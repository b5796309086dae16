import { describe, expect, it } from "vitest";
import { createLoopTurns } from "./loop-turns.js";
import { createCatalog, type Catalog, type ListPage } from "./catalog.js";

/** The line of an answer to `tools/list`. */
const lineOf = (result: unknown): Buffer =>
  Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n`);
const learn = (catalog: Catalog, result: unknown): void => void catalog.take(lineOf(result));
const NEEDS_A = { type: "object", required: ["a"] };
const x = { server: "s", name: "x", inputSchema: NEEDS_A };

describe("createCatalog()", () => {
  it("knows what it learnt, page by page", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    learn(catalog, { tools: [{ name: "x", inputSchema: NEEDS_A }], nextCursor: "1" });
    learn(catalog, {
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
    const y = { server: "s", name: "y", inputSchema: { required: ["b"] } };
    // Its own word that it only reads counts where somebody trusts that.
    expect(await catalog.find("y", undefined)).toEqual(y);
    const trusted = createCatalog("s", {
      log: () => {},
      turns: createLoopTurns(),
      trustedAnnotations: new Set(["s"]),
    });
    const annotations = { readOnlyHint: true };
    learn(trusted, { tools: [{ name: "y", inputSchema: y.inputSchema, annotations }] });
    expect(await trusted.find("y", undefined)).toEqual({ ...y, annotations });
    expect(await catalog.find("z", undefined)).toBeUndefined();
  });

  it("gives the same definition for every call, so that its schema is compiled once", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    learn(catalog, { tools: [{ name: "x", inputSchema: NEEDS_A }] });
    expect(await catalog.find("x", undefined)).toBe(await catalog.find("x", undefined));
  });

  it("asks for the list once, over all its pages, when it knows nothing", async () => {
    const asked: (string | undefined)[] = [];
    const list: ListPage = async (cursor) => {
      asked.push(cursor);
      return cursor === undefined
        ? lineOf({ tools: [], nextCursor: "n" })
        : lineOf({ tools: [{ name: "x", inputSchema: NEEDS_A }] });
    };
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    expect(await Promise.all([catalog.find("x", list), catalog.find("x", list)])).toEqual([x, x]);
    expect(await catalog.find("unknown", list)).toBeUndefined();
    expect(asked).toEqual([undefined, "n"]);
  });

  it("ends a list whose cursor never ends", async () => {
    let pages = 0;
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    await catalog.find("x", async () => lineOf({ tools: [], nextCursor: String(pages++) }));
    expect(pages).toBe(50);
  });

  it("knows nothing when the server does not answer", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    expect(await catalog.find("x", async () => undefined)).toBeUndefined();
  });

  it("forgets, and asks again", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    learn(catalog, { tools: [{ name: "x", inputSchema: NEEDS_A }] });
    catalog.forget();
    expect(await catalog.find("x", undefined)).toBeUndefined();
    expect(
      await catalog.find("x", async () => lineOf({ tools: [{ name: "x", inputSchema: NEEDS_A }] })),
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
    await catalog.take(lineOf({ tools: [{ name: "x y", inputSchema }] }));
    const found = await catalog.find("x y", undefined);
    expect(found).toMatchObject({ server: "s", name: "x y" });
    expect(found).not.toHaveProperty("inputSchema");
    await catalog.find("x y", undefined);
    expect(logs).toHaveLength(1);
    expect(logs[0]).toMatch(/^\[s\] arguments of tool "x y" are not checked against its schema: /);
  });

  it.each([[undefined], [null], [[]], [{}], [{ tools: {} }], [{ tools: [null, 1, { name: 1 }] }]])(
    "takes %j for no tools",
    async (result) => {
      const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
      learn(catalog, result);
      expect(await catalog.find("x", undefined)).toBeUndefined();
    },
  );

  it("remembers no more tools than it may", async () => {
    const logs: string[] = [];
    const catalog = createCatalog("s", {
      log: (line) => logs.push(line),
      turns: createLoopTurns(),
    });
    const tools = Array.from({ length: 10_002 }, (_, index) => ({
      name: `t${index}`,
      inputSchema: NEEDS_A,
    }));
    await catalog.take(lineOf({ tools }));
    expect(await catalog.find("t9999", undefined)).toMatchObject({ name: "t9999" });
    expect(await catalog.find("t10000", undefined)).toBeUndefined();
    expect(logs).toEqual([
      "[s] has more than 10000 tools; the arguments of the rest are not checked",
    ]);
  });
});

const namesIn = (line: Buffer): readonly string[] =>
  (JSON.parse(line.toString("utf8")) as { result: { tools: { name: string }[] } }).result.tools.map(
    ({ name }) => name,
  );

describe("createCatalog(), without pins too", () => {
  it.each(["a\nb", "read\u202efile", "a\u{e0041}", "", "x".repeat(257)])(
    "leaves out a tool named %j and denies calls of it",
    async (name) => {
      const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
      const shown = await catalog.take(lineOf({ tools: [{ name }, { name: "y" }] }));
      expect(namesIn(shown)).toEqual(["y"]);
    },
  );

  it("denies a call of a tool whose name hides something", async () => {
    const catalog = createCatalog("s", { log: () => {}, turns: createLoopTurns() });
    learn(catalog, { tools: [{ name: "a\nb" }] });
    expect(await catalog.find("a\nb", undefined)).toMatchObject({
      pinned: "changed",
      notes: ["its name has a character that cannot be seen, U+000A"],
    });
  });
});
