import { describe, expect, it } from "vitest";
import { isConsentError } from "../errors.js";
import { ASK_TIMEOUT_MS_MAX } from "../limits.js";
import { parseExecApprovalConfig, parseProfileConfig } from "./config.js";

// What a document can show is in spec/vectors/exec-config.json, run by
// test/vectors-exec-config.test.ts.

const DOCUMENT = {
  security: "allowlist",
  ask: "on-miss",
  timeoutMs: 60000,
  askFallback: "deny",
  allowlist: [{ pattern: "git **" }, { pattern: "pnpm **" }],
};

function refusal(run: () => unknown): {
  readonly path: string | undefined;
  readonly message: string;
} {
  try {
    run();
  } catch (error) {
    if (isConsentError(error, "config_invalid"))
      return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error("it was not refused");
}

describe("parseExecApprovalConfig()", () => {
  it("reads the example of the protocol document", () => {
    const config = parseExecApprovalConfig(DOCUMENT);
    expect(config).toMatchObject({
      security: "allowlist",
      ask: "on-miss",
      timeoutMs: 60_000,
      askFallback: "deny",
    });
    expect(config.allowlist.entries).toEqual(DOCUMENT.allowlist);
    expect(config.dangerouslyAllowOnTimeout).toBe(false);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("has the document's defaults", () => {
    const { allowlist, ...others } = parseExecApprovalConfig({});
    expect(others).toEqual({
      security: "allowlist",
      ask: "on-miss",
      timeoutMs: 60_000,
      askFallback: "deny",
      loopbackPorts: [],
      dangerouslyAllowOnTimeout: false,
      trials: false,
    });
    expect(allowlist.entries).toEqual([]);
    expect(allowlist.find(["git"])).toBeUndefined();
  });

  it("lets silence allow everything only where that is said in so many words", () => {
    expect(
      parseExecApprovalConfig({ askFallback: "full", dangerouslyAllowOnTimeout: true }).askFallback,
    ).toBe("full");
    expect(
      refusal(() =>
        parseExecApprovalConfig({ askFallback: "full", dangerouslyAllowOnTimeout: false }),
      ),
    ).toEqual({
      path: "askFallback",
      message: expect.stringContaining('"dangerouslyAllowOnTimeout": true'),
    });
  });

  it.each([
    ["no map", [], "", "expected a map"],
    ["nothing", undefined, "", "not plain JSON data"],
    ["a slip of a key", { timeoutMS: 1 }, "timeoutMS", "did you mean timeoutMs?"],
    ["a key of nobody", { colour: "red" }, "colour", 'unknown key "colour"'],
    ["a port that is none", { loopbackPorts: [3000, 0] }, "loopbackPorts[1]", "expected"],
    ["a port that is a text", { loopbackPorts: ["3000"] }, "loopbackPorts[0]", "expected"],
    ["ports as one number", { loopbackPorts: 3000 }, "loopbackPorts", "expected"],
    [
      "too many ports",
      { loopbackPorts: Array.from({ length: 33 }, (_, at) => at + 1) },
      "loopbackPorts",
      "more than 32 ports",
    ],
    ["another security", { security: "none" }, "security", "expected deny, allowlist or full"],
    ["security in capitals", { security: "Full" }, "security", "did you mean full?"],
    ["a list of words", { ask: ["off"] }, "ask", "expected off, on-miss or always"],
    [
      "another fallback",
      { askFallback: "allow" },
      "askFallback",
      "expected deny, allowlist or full",
    ],
    ["time as a text", { timeoutMs: "60000" }, "timeoutMs", "did you mean 60000?"],
    ["no time", { timeoutMs: 0 }, "timeoutMs", "from 1 to"],
    ["half a millisecond", { timeoutMs: 1.5 }, "timeoutMs", "whole number"],
    ["too much time", { timeoutMs: ASK_TIMEOUT_MS_MAX + 1 }, "timeoutMs", "from 1 to"],
    ["no number", { timeoutMs: Number.NaN }, "timeoutMs", "not plain JSON data"],
    ["null for a default", { ask: null }, "ask", "got nothing"],
    ["a word for trials", { trials: "on" }, "trials", "expected true or false"],
    [
      "a word for a flag",
      { dangerouslyAllowOnTimeout: "true" },
      "dangerouslyAllowOnTimeout",
      "expected true or false",
    ],
    [
      "a bad entry",
      { allowlist: [{ pattern: "git **" }, { patern: "x" }] },
      "allowlist[1].patern",
      "did you mean pattern?",
    ],
  ])("refuses %s", (_name, value, path, message) => {
    expect(refusal(() => parseExecApprovalConfig(value))).toEqual({
      path,
      message: expect.stringContaining(message),
    });
  });
});

describe("parseProfileConfig()", () => {
  it("keeps what belongs to other programs", () => {
    const document = { name: "main", execApproval: DOCUMENT, tools: { allow: ["exec"] } };
    const profile = parseProfileConfig(document);
    expect(profile.document).toEqual(document);
    expect(profile.execApproval.allowlist.entries).toEqual(DOCUMENT.allowlist);
  });

  it("has every default where the section is missing", () => {
    expect(parseProfileConfig({ name: "main" }).execApproval).toMatchObject({
      security: "allowlist",
      ask: "on-miss",
    });
  });

  it.each([
    [
      "a slip of the section",
      { execAproval: { security: "deny" } },
      "execAproval",
      "did you mean execApproval?",
    ],
    [
      "a slip beside the section",
      { execApproval: {}, execApprovals: {} },
      "execApprovals",
      "did you mean execApproval?",
    ],
    [
      "a bad section",
      { execApproval: { security: "open" } },
      "execApproval.security",
      "expected deny, allowlist or full",
    ],
    ["no map", "x", "", "expected a map"],
  ])("refuses %s", (_name, value, path, message) => {
    expect(refusal(() => parseProfileConfig(value))).toEqual({
      path,
      message: expect.stringContaining(message),
    });
  });
});
