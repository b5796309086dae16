import { describe, expect, it } from "vitest";
import { ConsentError } from "../errors.js";
import { readPolicy } from "../yaml.js";
import { MISTAKES_MAX, asOneError } from "./mistakes.js";
import { parsePolicy } from "./parse.js";
import { POLICY } from "./spot.js";

const errorOf = (run: () => unknown): ConsentError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ConsentError) return error;
  }
  throw new Error("nothing was refused");
};
const all = ({ cause }: ConsentError): readonly ConsentError[] =>
  cause instanceof AggregateError ? (cause.errors as readonly ConsentError[]) : [];

const TEXT = `version: 1
default: alow
rules:
  - id: a
    match: { tol: x, port: "443" }
    action: ask
    timout: 5
  - id: a
    match: { tool: "{a}", host: b.example, args: { x: [], y: { z: null } } }
    action: deny
    quorum: 2
    approvers: [ada]
  - match: { tool: x }
  - match: { kind: http }
    action: ask
    timeout: 60
    offers: [{ covers: tool, ttl: 0 }, { ttl: 1 }]
    escalate: [{ after: 5 }, { after: 700000, to: [] }]
    conditions: { time_of_day: { after: 9:00, timezone: Mars } }
classify: [{ tool: x, category: reed }]
`;

describe("a policy with several mistakes", () => {
  it("names all of them in the order of the text, each with its place and what was meant", () => {
    const error = errorOf(() => readPolicy(TEXT));
    expect(
      all(error).map(({ code, path, suggestion, position }) => [
        code,
        `${position?.line}:${position?.column} ${path}`,
        suggestion,
      ]),
    ).toEqual(
      [
        ["1:10 version", 'version: "1"'],
        ["2:10 default", "allow"],
        ["5:14 rules[0].match.tol", "tool"],
        ["5:28 rules[0].match.port", "443"],
        ["7:5 rules[0].timout", "timeout"],
        ["8:9 rules[1].id", undefined],
        ["9:20 rules[1].match.tool", undefined],
        ["9:27 rules[1].match.host", undefined],
        ["9:55 rules[1].match.args.x", undefined],
        ["9:67 rules[1].match.args.y.z", undefined],
        ["11:5 rules[1].quorum", undefined],
        ["12:5 rules[1].approvers", undefined],
        ["13:5 rules[2]", undefined],
        ["17:35 rules[3].offers[0].ttl", undefined],
        ["17:40 rules[3].offers[1]", undefined],
        ["18:16 rules[3].escalate[0]", undefined],
        ["18:39 rules[3].escalate[1].after", undefined],
        ["18:51 rules[3].escalate[1].to", undefined],
        ["19:41 rules[3].conditions.time_of_day.after", '"09:00"'],
        ["19:57 rules[3].conditions.time_of_day.timezone", undefined],
        ["20:12 classify[0]", undefined],
        ["20:33 classify[0].category", "read"],
      ].map(([place, suggestion]) => ["policy_invalid", place, suggestion]),
    );
    expect(error).toMatchObject({
      code: "policy_invalid",
      path: "version",
      position: { line: 1, column: 10 },
      suggestion: 'version: "1"',
    });
    expect(error.message).toMatch(
      /^Cannot load policy at line 1, column 10 \(version\): .*; and at line 2, column 10 \(default\): .*; and 12 more$/,
    );
  });

  it("reads the rest of a rule whose action is wrong or missing", () => {
    const match = { tool: "{a}", args: { a: null } };
    const rules = [{ match, action: "alow" }, { match }];
    expect(
      all(errorOf(() => parsePolicy({ version: "1", rules }))).map(({ path }) => path),
    ).toEqual(
      [0, 1].flatMap((at) => [
        `rules[${at}].match.tool`,
        `rules[${at}].match.args.a`,
        at === 0 ? "rules[0].action" : "rules[1]",
      ]),
    );
  });

  it("names what does not fit together in a rule whose values are right", () => {
    const rule = {
      match: { kind: "shell" },
      action: "ask",
      timeout: 5,
      escalate: [{ after: 5, to: "ada" }],
      offers: [
        { covers: "call", ttl: 1 },
        { covers: "host", ttl: 1 },
        { covers: "tool", ttl: 1 },
      ],
    };
    const error = errorOf(() => parsePolicy({ version: "1", rules: [rule] }));
    expect(all(error).map(({ path }) => path)).toEqual([
      "rules[0].escalate",
      "rules[0].offers[1].covers",
      "rules[0].offers[2].covers",
    ]);
  });

  it("reads on only until there are enough", () => {
    const many = { length: 1_000 };
    const wrong = Array.from(many, () => ({ match: { tol: 1 }, action: "ask" }));
    const keys = Object.fromEntries(Array.from(many, (_, at) => [`key${at}`, null]));
    const rule = { match: { args: keys }, action: "ask" };
    const same = Array.from(many, () => ({ id: "a", match: { tool: "a" }, action: "ask" }));
    for (const policy of [{ rules: wrong }, { rules: [rule] }, keys, { rules: same }]) {
      const error = errorOf(() => parsePolicy({ version: "1", ...policy }));
      expect(all(error)).toHaveLength(MISTAKES_MAX);
      expect(error.message).toMatch(/; and at least 90 more$/);
    }
  });
});

describe("asOneError()", () => {
  it("is the only mistake itself", () => {
    const one = new ConsentError("policy_invalid", "Cannot load policy: no");
    expect(asOneError([one], POLICY)).toBe(one);
  });
});
