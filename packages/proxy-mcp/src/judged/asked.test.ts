import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { createAsked } from "./asked.js";

const target = { server: "one", name: "t" };

describe("createAsked()", () => {
  it("knows a state and keys again without keeping their texts", () => {
    const asked = createAsked();
    const state = "s".repeat(4 * 1024 * 1024);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const used = (): number => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 1024 / 1024;
    };
    const before = used();
    for (let index = 0; index < 64; index++)
      asked.note({
        ...target,
        requestState: Buffer.from(`${state}${index}`).toString("latin1"),
        requests: new Map([["key", "roots/list"]]),
      });
    expect(used() - before).toBeLessThan(100);
    const params = { requestState: `${state}7`, inputResponses: { key: { x: 1 } } };
    expect(asked.problem(target, params)).toBeUndefined();
    expect(asked.rootsIn(target, params)).toEqual([{ x: 1 }]);
    expect(asked.problem(target, { ...params, requestState: "other" })).toContain("did not ask");
    expect(asked.problem(target, { ...params, requestState: 7 })).toContain("did not ask");
    expect(asked.problem(target, { inputResponses: { key: 1 } })).toContain("did not ask");
  });
});
