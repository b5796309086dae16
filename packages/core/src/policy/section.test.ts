import { describe, expect, it } from "vitest";
import type { JsonValue } from "../json/value.js";
import {
  atLeastOne,
  exactlyOne,
  idleWhere,
  neededWhere,
  notBoth,
  notEmpty,
  onlyBeside,
} from "./key-rules.js";
import { optional, required, section } from "./section.js";
import type { KeyRule } from "./section.js";
import { flag, list, number, refined, text, word } from "./shape.js";
import { spotOf } from "./spot.js";

const problemsOf = (
  { read }: { readonly read: (spot: ReturnType<typeof spotOf>, context: undefined) => object },
  value: JsonValue,
): readonly string[] => {
  const outcome = read(spotOf(value, []), undefined) as {
    readonly mistakes?: readonly { readonly message: string }[];
  };
  return (outcome.mistakes ?? []).map(({ message }) => message.replace("Cannot load policy ", ""));
};

const person = section({
  name: required("name", text(8), "Who it is."),
  ageYears: optional("age", number({ min: 0, max: 200 }), "How old."),
  isHere: optional("is_here", flag, "Whether they are here."),
});

describe("section()", () => {
  it("gives values under the names of code, and leaves out what is not there", () => {
    expect(person.read(spotOf({ name: "ada", age: 36 }, []), undefined)).toEqual({
      value: { name: "ada", ageYears: 36 },
    });
  });

  it("has a schema of the same keys and bounds", () => {
    expect(person.schema).toEqual({
      type: "object",
      properties: {
        name: { description: "Who it is.", type: "string", minLength: 1, maxLength: 8 },
        age: { description: "How old.", type: "number", minimum: 0, maximum: 200 },
        is_here: { description: "Whether they are here.", type: "boolean" },
      },
      required: ["name"],
      additionalProperties: false,
    });
  });

  it("names every mistake, but not what is missing beside a key that is written wrong", () => {
    expect(problemsOf(person, { age: -1, is_here: 1 })).toEqual([
      "at age: expected a number from 0 to 200, got -1",
      "at is_here: expected true or false",
      'Cannot load policy: "name" is missing',
    ]);
    expect(problemsOf(person, { nam: "ada", agee: 1 })).toEqual([
      'at nam: unknown key "nam"; did you mean name?',
      'at agee: unknown key "agee"; did you mean age?',
    ]);
  });

  it("reads no key that every object inherits", () => {
    expect(problemsOf(person, JSON.parse('{"name":"a","__proto__":{}}') as JsonValue)).toEqual([
      'at __proto__: unknown key "__proto__"',
    ]);
  });

  it("hands on what is thrown by mistake", () => {
    const broken = refined(text(8), () => {
      throw new TypeError("a bug");
    });
    expect(() =>
      problemsOf(section({ a: optional("a", list(broken), "x") }), { a: ["b"] }),
    ).toThrow(TypeError);
  });
});

describe("key rules", () => {
  const value = word(["x", "y"]);
  const keysOf = (rule: KeyRule) =>
    section(
      { a: optional("a", value, "a"), b: optional("b", value, "b"), c: optional("c", value, "c") },
      [rule],
    );
  const idle = {
    key: "a",
    values: ["x"],
    keys: ["b", "c"],
    problem: (key: string) => `${key} idle`,
  };
  it.each<[string, KeyRule, JsonValue, readonly string[]]>([
    ["exactlyOne()", exactlyOne("a", "b"), {}, [": it needs either"]],
    ["exactlyOne()", exactlyOne("a", "b"), { a: "x", b: "x" }, [": it needs either"]],
    ["exactlyOne()", exactlyOne("a", "b"), { a: "x" }, []],
    ["atLeastOne()", atLeastOne(["a", "b"], "none"), { c: "x" }, [": none"]],
    ["atLeastOne()", atLeastOne(["a", "b"], "none"), { b: "x" }, []],
    ["notEmpty()", notEmpty("empty"), {}, [": empty"]],
    ["notEmpty()", notEmpty("empty"), { c: "x" }, []],
    ["notBoth()", notBoth("a", "b", "both"), { a: "x", b: "x" }, ["at a: both"]],
    ["notBoth()", notBoth("a", "b", "both"), { b: "x" }, []],
    ["onlyBeside()", onlyBeside("a", ["b", "c"]), { b: "x", c: "x" }, ["at b: ", "at c: "]],
    ["onlyBeside()", onlyBeside("a", ["b", "c"]), { a: "x", c: "x" }, []],
    ["idleWhere()", idleWhere(idle), { a: "x", b: "x", c: "x" }, ["at b: b idle", "at c: c idle"]],
    ["idleWhere()", idleWhere(idle), { a: "y", b: "x" }, []],
    ["neededWhere()", neededWhere({ key: "a", value: "x" }, ["b"], "alone"), { a: "x" }, ["alone"]],
    ["neededWhere()", neededWhere({ key: "a", value: "x" }, ["b"], "alone"), { a: "y" }, []],
    [
      "neededWhere()",
      neededWhere({ key: "a", value: "x" }, ["b"], "alone"),
      { a: "x", b: "x" },
      [],
    ],
  ])("%s of %j", (_name, rule, source, problems) => {
    expect(problemsOf(keysOf(rule), source)).toEqual(
      problems.map((problem) => expect.stringContaining(problem) as string),
    );
  });
});
