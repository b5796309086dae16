import { describe, expect, it } from "vitest";
import { ConsentError } from "@acp/core";
import { exitOfError, failureOf, onFile, renderFailure } from "./failure.js";

describe("renderFailure()", () => {
  it("is one line with place, message, fix and code", async () => {
    const work = async (): Promise<never> => {
      throw new ConsentError("policy_invalid", 'Cannot read rule "2":\n unknown key "acton"', {
        position: { line: 4, column: 7 },
        suggestion: "action",
      });
    };
    const error: unknown = await onFile("p.yml", work).catch((thrown: unknown) => thrown);
    expect(renderFailure(failureOf(error))).toBe(
      'acp: p.yml:4:7: Cannot read rule "2": unknown key "acton"; did you mean "action"? [policy_invalid]',
    );
    expect(failureOf(error)).toMatchObject({
      code: "policy_invalid",
      line: 4,
      column: 7,
      suggestion: "action",
    });
    expect(exitOfError(error)).toBe("invalid");
  });

  it("names the file alone where there is no position", async () => {
    const error: unknown = await onFile("p.yml", () => {
      throw new ConsentError("policy_invalid", "Cannot read it");
    }).catch((thrown: unknown) => thrown);
    expect(renderFailure(failureOf(error))).toBe("acp: p.yml: Cannot read it [policy_invalid]");
  });

  it("does not let a terminal's control characters through", () => {
    expect(renderFailure(failureOf(new Error("a\u001b[2Jb\u2028c")))).toBe(
      "acp: a [2Jb c [internal_error]",
    );
    // What an agent calls its folders stands in messages about them.
    expect(renderFailure(failureOf(new Error("a\u202eb")))).toBe("acp: a\\u202eb [internal_error]");
    expect(exitOfError(new Error("x"))).toBe("failed");
  });
});

describe("onFile()", () => {
  it("hands other errors and results through", async () => {
    expect(await onFile("p", () => 3)).toBe(3);
    await expect(onFile("p", () => Promise.reject(new TypeError("t")))).rejects.toThrow(TypeError);
  });
});
