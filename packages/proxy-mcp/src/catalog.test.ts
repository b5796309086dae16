import { describe, expect, it } from "vitest";
import { createCatalog, type ListPage } from "./catalog.js";

const NEEDS_A = { type: "object", required: ["a"] };
const options = (list?: ListPage): { argumentChars: number; list: ListPage | undefined } => ({ argumentChars: 2, list });

describe("createCatalog()", () => {
  it("checks against what it learnt, page by page", async () => {
    const catalog = createCatalog("s", () => {});
    catalog.learn({ tools: [{ name: "x", inputSchema: NEEDS_A }], nextCursor: "1" });
    catalog.learn({ tools: [{ name: "y", inputSchema: { required: ["b"] } }] });
    expect(await catalog.check("x", {}, options())).toContain("'a'");
    expect(await catalog.check("y", {}, options())).toContain("'b'");
    expect(await catalog.check("z", {}, options())).toBeUndefined();
  });

  it("asks for the list once, over all its pages, when it knows nothing", async () => {
    const asked: (string | undefined)[] = [];
    const list: ListPage = async (cursor) => {
      asked.push(cursor);
      return cursor === undefined ? { tools: [], nextCursor: "n" } : { tools: [{ name: "x", inputSchema: NEEDS_A }] };
    };
    const catalog = createCatalog("s", () => {});
    expect(await Promise.all([catalog.check("x", {}, options(list)), catalog.check("x", {}, options(list))])).toEqual([
      expect.stringContaining("'a'"),
      expect.stringContaining("'a'"),
    ]);
    expect(await catalog.check("unknown", {}, options(list))).toBeUndefined();
    expect(asked).toEqual([undefined, "n"]);
  });

  it("ends a list whose cursor never ends", async () => {
    let pages = 0;
    const catalog = createCatalog("s", () => {});
    await catalog.check(
      "x",
      {},
      options(async () => ({ tools: [], nextCursor: String(pages++) })),
    );
    expect(pages).toBe(50);
  });

  it("checks nothing when the server does not answer", async () => {
    const catalog = createCatalog("s", () => {});
    expect(
      await catalog.check(
        "x",
        {},
        options(async () => undefined),
      ),
    ).toBeUndefined();
  });

  it("forgets, and asks again", async () => {
    const catalog = createCatalog("s", () => {});
    catalog.learn({ tools: [{ name: "x", inputSchema: NEEDS_A }] });
    catalog.forget();
    expect(await catalog.check("x", {}, options())).toBeUndefined();
    expect(
      await catalog.check(
        "x",
        {},
        options(async () => ({ tools: [{ name: "x", inputSchema: NEEDS_A }] })),
      ),
    ).toContain("'a'");
  });

  it("says once why a schema is not used", async () => {
    const logs: string[] = [];
    const catalog = createCatalog("s", (line) => logs.push(line));
    catalog.learn({ tools: [{ name: "x\n", inputSchema: { type: "nonsense" } }] });
    await catalog.check("x\n", {}, options());
    await catalog.check("x\n", {}, options());
    expect(logs).toHaveLength(1);
    expect(logs[0]).toMatch(/^\[s\] arguments of tool "x\\u000a" are not checked against its schema: /);
  });

  it.each([[undefined], [null], [[]], [{}], [{ tools: {} }], [{ tools: [null, 1, { name: 1 }] }]])(
    "takes %j for no tools",
    async (result) => {
      const catalog = createCatalog("s", () => {});
      catalog.learn(result);
      expect(await catalog.check("x", {}, options())).toBeUndefined();
    },
  );

  it("remembers no more tools than it may", async () => {
    const logs: string[] = [];
    const catalog = createCatalog("s", (line) => logs.push(line));
    catalog.learn({ tools: Array.from({ length: 10_002 }, (_, index) => ({ name: `t${index}`, inputSchema: NEEDS_A })) });
    expect(await catalog.check("t9999", {}, options())).toContain("'a'");
    expect(await catalog.check("t10000", {}, options())).toBeUndefined();
    expect(logs).toEqual(["[s] has more than 10000 tools; the arguments of the rest are not checked"]);
  });
});
