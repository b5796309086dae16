import { describe, expect, it } from "vitest";
import { createKeptSession } from "./kept-session.js";

describe("createKeptSession()", () => {
  it("makes no subscription again to a resource that is held back, until it is not", () => {
    const logs: string[] = [];
    const held = new Set(["x:b"]);
    const kept = createKeptSession({
      subscribeEffect: () => "allow",
      isHeldBack: (uri) => held.has(uri),
      log: (line) => logs.push(line),
    });
    for (const uri of ["x:a", "x:b"])
      kept.keep({ method: "resources/subscribe", params: { uri }, line: Buffer.alloc(0) });
    const again = (): readonly unknown[] =>
      kept.requests().map(({ line }) => JSON.parse(line.toString()).params.uri);
    expect(again()).toEqual(["x:a"]);
    expect(logs).toEqual([expect.stringContaining('"x:b" is not made again')]);
    held.clear();
    expect(again()).toEqual(["x:a", "x:b"]);
  });
});
