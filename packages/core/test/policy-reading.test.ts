import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { isConsentError } from "../src/index.js";
import { parsePolicy } from "../src/policy.js";
import type { ConsentError } from "../src/index.js";
import { readPolicy } from "../src/yaml.js";
import { actions, facts, lists, origins } from "./policy-arbitraries.js";

const full = {
  version: "1",
  default: "ask",
  classify: [{ tool: "open_*", category: "physical", risk: "critical" }],
  rules: [
    {
      id: "pay",
      name: "Payments",
      reason: "money",
      match: {
        kind: "tool",
        tool: "pay_*",
        category: "financial",
        server: "bank",
        name: "*",
        args: { to: "*", nested: { deep: { path: "~/x" } } },
      },
      action: "ask",
      level: "critical",
      timeout: 60,
      rate_limit: "1/day",
      conditions: { time_of_day: { after: "09:00", before: "17:00", timezone: "UTC" } },
      approvers: ["ada"],
      quorum: 2,
      approval: "passkey",
      secrets: ["KEY"],
    },
    { match: { kind: "http", host: "*.example", method: "GET", port: 443 }, action: "allow" },
  ],
};
/** Every map of the policy whose keys are fixed. */
const places: readonly (readonly (string | number)[])[] = [
  [],
  ["classify", 0],
  ["rules", 0],
  ["rules", 1],
  ["rules", 0, "match"],
  ["rules", 1, "match"],
  ["rules", 0, "conditions"],
  ["rules", 0, "conditions", "time_of_day"],
];
const at = (root: unknown, path: readonly (string | number)[]): Record<string, unknown> =>
  path.reduce<unknown>(
    (value, step) => (value as Record<string | number, unknown>)[step],
    root,
  ) as Record<string, unknown>;

describe("parsing", () => {
  it("parsePolicy() reads a policy with every key", () => {
    expect(parsePolicy(full, origins).rules).toHaveLength(2);
  });

  it("parsePolicy() refuses an unknown key anywhere", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        fc.string({ minLength: 1, maxLength: 12 }),
        fc.jsonValue(),
        (place, key, value) => {
          const policy = structuredClone(full);
          const map = at(policy, place);
          fc.pre(
            !Object.hasOwn(map, key) &&
              ![
                "default_action",
                "host",
                "method",
                "port",
                "args",
                "tool",
                "category",
                "server",
                "name",
              ].includes(key),
          );
          Object.defineProperty(map, key, { value, enumerable: true });
          expect(() => parsePolicy(policy, origins)).toThrow(
            expect.objectContaining({ code: "policy_invalid" }),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it("parsePolicy() loads or refuses, and never throws anything else", () => {
    const spots = places.flatMap((place) =>
      Object.keys(at(full, place)).map((key) => [...place, key]),
    );
    fc.assert(
      fc.property(fc.constantFrom(...spots), fc.anything(), (path, value) => {
        const policy = structuredClone(full);
        Object.defineProperty(at(policy, path.slice(0, -1)), String(path.at(-1)), {
          value,
          enumerable: true,
          configurable: true,
        });
        try {
          parsePolicy(policy, origins);
        } catch (error) {
          expect(isConsentError(error, "policy_invalid")).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("YAML", () => {
  const outcome = (text: string): "loaded" | number => {
    try {
      readPolicy(text, origins);
      return "loaded";
    } catch (error) {
      expect(isConsentError(error, "policy_invalid")).toBe(true);
      const { position } = error as ConsentError;
      expect(position?.line).toBeGreaterThanOrEqual(1);
      expect(position?.column).toBeGreaterThanOrEqual(1);
      expect(position?.line).toBeLessThanOrEqual(text.split("\n").length);
      return position?.line ?? 0;
    }
  };
  const valid = stringify(full);

  it("readPolicy() loads or refuses any text, with a line that exists", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: "binary" })),
        (text) => void outcome(text),
      ),
      { numRuns: 1_000 },
    );
  });

  it("readPolicy() loads or refuses a policy with a scratch, with a line that exists", () => {
    const scratches = fc.constantFrom(
      "",
      ":",
      "- ",
      "\t",
      "&a ",
      "*a",
      "!x ",
      "{",
      "[",
      "]",
      "'",
      '"',
      "|",
      "#",
      "---\n",
      "\u0000",
      "\ufeff",
      "?",
      "\r",
      "yes",
      "<<: *a",
      "%YAML 1.1\n",
    );
    fc.assert(
      fc.property(
        fc.nat({ max: valid.length }),
        fc.nat({ max: 5 }),
        scratches,
        (place, removed, scratch) => {
          outcome(valid.slice(0, place) + scratch + valid.slice(place + removed));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("readPolicy() reads the same policy as parsePolicy()", () => {
    fc.assert(
      fc.property(lists, actions, (list, action) => {
        const policy = { version: "1", rules: list };
        const read = readPolicy(stringify(policy, { aliasDuplicateObjects: false }), origins);
        expect(read.judge(action, facts)).toEqual(
          parsePolicy(policy, origins).judge(action, facts),
        );
        expect(read.rules.every(({ line }) => (line ?? 0) > 1)).toBe(true);
      }),
    );
  });
});
