import { DENY_CODES } from "@acp/core";
import { describe, expect, it } from "vitest";
import { denialMessage, refuse } from "./hub-refusal.js";

describe("refuse()", () => {
  it("refuse() has the code's own remedy unless one is given", () => {
    expect(refuse("gate_closed", "why")).toMatchObject({
      remedy: DENY_CODES.gate_closed.remedy,
      retryable: true,
    });
    expect(refuse("action_invalid", "why", "Do this")).toMatchObject({
      remedy: "Do this",
      retryable: false,
    });
  });
});

describe("denialMessage()", () => {
  it("denialMessage() says that it was not run, why, and what to do", () => {
    expect(denialMessage(refuse("action_invalid", "it is blank", "Give a command"))).toBe(
      "The command was not run (action_invalid): it is blank. Give a command.",
    );
  });
});
