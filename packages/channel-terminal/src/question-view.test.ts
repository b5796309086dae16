import { sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { describeEnding, showTimeLeft } from "./question-view.js";

describe("showTimeLeft()", () => {
  it.each([
    [120_000, "2:00"],
    [119_001, "2:00"],
    [61_000, "1:01"],
    [1, "0:01"],
    [0, "0:00"],
    [-5_000, "0:00"],
    [3_600_000, "1:00:00"],
    [7 * 24 * 3_600_000, "168:00:00"],
  ])("shows %j ms as %j", (ms, want) => {
    expect(showTimeLeft(ms)).toBe(want);
  });
});

describe("describeEnding()", () => {
  it("is one line, escaped", () => {
    const request = sampleRequest({
      action: { ...sampleRequest().action, description: "x\u001b[2J\ny" },
    });
    expect(
      describeEnding({ request, redelivery: false }, { status: "failed", reason: "a\nb" }),
    ).toBe("x\\u001b[2J\\u000ay: failed, the call was denied (a\\u000ab)");
  });
});
