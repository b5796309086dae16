import fc from "fast-check";
import { scanJson } from "@acp/core";
import { describe, expect, it } from "vitest";
import {
  ODD_MEMBER,
  countMembers,
  hasMoreValues,
  elementsOf,
  findValue,
  membersOf,
  pickMembers,
  splice,
  textOf,
  walkScalars,
  wholeValue,
} from "./json-walk.js";

import { isRecord } from "./message.js";

const PATHS = [
  ["id"],
  ["method"],
  ["params", "name"],
  ["params", "arguments"],
  ["params", "_meta", "progressToken"],
];
const KEYS = [
  "id",
  "method",
  "params",
  "name",
  "arguments",
  "_meta",
  "progressToken",
  'q"\\',
  "é",
  "",
];

/** JSON text with random blanks and escapes. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>((tie) => ({
  object: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), tie("value")), {
      selector: ([key]) => key,
      maxLength: 5,
    })
    .chain((members) =>
      fc
        .tuple(blanks, fc.boolean())
        .map(
          ([blank, escaped]) =>
            `{${blank}${members.map(([key, value]) => `${keyText(key, escaped)}${blank}:${blank}${value}`).join(`${blank},`)}${blank}}`,
        ),
    ),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text.toWellFormed())),
    fc.integer().map(String),
    fc.constantFrom(
      "true",
      "false",
      "null",
      "1.5e3",
      '"\\\\"',
      '"\\\\\\""',
      `"${"x".repeat(70)}\\"y"`,
      `"${"\\\\".repeat(40)}"`,
    ),
    tie("object"),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[ ${items.join(" , ")} ]`),
  ),
})).object;
const blanks: fc.Arbitrary<string> = fc.constantFrom("", " ", "\t", "  ");

function keyText(key: string, escaped: boolean): string {
  return escaped
    ? `"${[...key].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`
    : JSON.stringify(key);
}

describe("findValue()", () => {
  it("finds what the strict parser finds, byte for byte", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const { spans, text: read } = scanJson(text, {
          spans: PATHS.map((path) => path.join(".")),
        });
        const bytes = Buffer.from(`${text}\n`);
        for (const path of PATHS) {
          const wanted = spans[path.join(".")];
          const found = findValue(bytes, path);
          expect(found === undefined ? undefined : textOf(bytes, found)).toBe(
            wanted === undefined ? undefined : read.slice(wanted.start, wanted.end),
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("takes the last one where a key stands twice, as JSON.parse does", () => {
    const bytes = Buffer.from('{"id":1,"id":2}');
    expect(textOf(bytes, findValue(bytes, ["id"]) ?? { start: 0, end: 0 })).toBe("2");
  });
});

describe("pickMembers()", () => {
  const SPARSE = ["", ",[]", ",{}", ',"]}"', ',"\\""', ",[[{}]]"];
  const WANTED = { id: [], method: ["name"], params: ["name", "arguments"] };

  it("finds the values at paths of one key and of two, as JSON.parse has them", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const bytes = Buffer.from(text);
        const value: unknown = JSON.parse(text);
        const picked = pickMembers(bytes, wholeValue(bytes), WANTED);
        if (!isRecord(value)) return expect(picked).toBeUndefined();
        for (const [key, inner] of Object.entries(WANTED)) {
          const at = picked?.get(key);
          expect(at === undefined ? undefined : JSON.parse(textOf(bytes, at))).toEqual(value[key]);
          for (const name of inner) {
            const own = picked?.get(`${key}.${name}`);
            const outer = value[key];
            expect(own === undefined ? undefined : JSON.parse(textOf(bytes, own))).toEqual(
              isRecord(outer) ? outer[name] : undefined,
            );
          }
        }
      }),
    );
  });

  it("finds what stands behind values without a quote for long, wherever the next one is", () => {
    const lengths = fc.array(fc.nat(2_000), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(lengths, fc.constantFrom(...SPARSE), (all, between) => {
        const lists = all.map((length) => `[${"1,".repeat(length)}1${between}]`);
        const text = `{"a":[${lists.join(",")}],"params":{"b":[${lists.join(",")}],"name":1},"id":2}`;
        JSON.parse(text);
        const bytes = Buffer.from(text);
        const picked = pickMembers(bytes, wholeValue(bytes), WANTED) ?? new Map();
        const texts = ["params.name", "id"].map((path) => textOf(bytes, picked.get(path)));
        expect(texts).toEqual(["1", "2"]);
      }),
    );
  });

  it("takes the last one where a key stands twice, and nothing of the first", () => {
    const bytes = Buffer.from('{"params":{"name":1},"params":{"arguments":2},"id":1,"id":3}');
    const picked = pickMembers(bytes, wholeValue(bytes), WANTED) ?? new Map();
    const texts = [...picked].map(([path, span]) => [path, textOf(bytes, span)]);
    expect(Object.fromEntries(texts)).toEqual({
      [ODD_MEMBER]: "3",
      id: "3",
      params: '{"arguments":2}',
      "params.arguments": "2",
    });
  });

  it.each([
    ['{"id":1,"params":{"name":1}}', false],
    ['{"id":1,"ids":2,"param":{},"params":{"names":1,"nam":2}}', false],
    ['{"id":1,"ID":2}', true],
    ['{"id":1,"\\u0069d":2}', true],
    ['{"Param\u017f":1}', true],
    ['{"params":{"NAME":1}}', true],
    ['{"params":{"name":1,"name":2}}', true],
    ['{"x":{"ID":1,"id":2,"id":3}}', false],
  ])("says of %s whether readers take other members: %s", (text, isOdd) => {
    const bytes = Buffer.from(text);
    expect(pickMembers(bytes, wholeValue(bytes), WANTED)?.has(ODD_MEMBER)).toBe(isOdd);
  });
});

describe("the walk", () => {
  it("ends without a throw on any bytes", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 60 }),
          fc
            .string({
              unit: fc.constantFrom("{", "}", "[", "]", '"', ",", ":", "\\", " ", "a", "1"),
              maxLength: 60,
            })
            .map((text) => Buffer.from(text)),
        ),
        (data) => {
          const bytes = Buffer.from(data);
          const whole = wholeValue(bytes);
          expect(whole.end).toBeLessThanOrEqual(bytes.length);
          membersOf(bytes, whole);
          elementsOf(bytes, whole);
          countMembers(bytes);
          findValue(bytes, ["a", "b"]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("lists elements and members with their spans", () => {
    const bytes = Buffer.from(' [ {"a" : [1, {"b":"]"}]} , "x,y" ,3] ');
    const elements = elementsOf(bytes, wholeValue(bytes)) ?? [];
    expect(elements.map((span) => textOf(bytes, span))).toEqual([
      '{"a" : [1, {"b":"]"}]}',
      '"x,y"',
      "3",
    ]);
    const [first = wholeValue(bytes)] = elements;
    expect(membersOf(bytes, first)?.map(({ key, value }) => [key, textOf(bytes, value)])).toEqual([
      ["a", '[1, {"b":"]"}]'],
    ]);
    expect(elementsOf(Buffer.from("[]"), { start: 0, end: 2 })).toEqual([]);
    expect(membersOf(Buffer.from("{}"), { start: 0, end: 2 })).toEqual([]);
  });

  it.each(["{", '{"a"', '{"a":1', '{"a":1,', '{"a" 1}', '{"a":1]', "[1}", "x"])(
    "finds no members in %j",
    (text) => {
      const bytes = Buffer.from(text);
      expect(membersOf(bytes, wholeValue(bytes))).toBeUndefined();
    },
  );
});

describe("walkScalars()", () => {
  it("visits strings, keys too, and numbers, and nothing inside strings", () => {
    const bytes = Buffer.from(' {"a\\":1":[-1.5e3,true,"",null,{"b":"2,3"}],"c":0}\n');
    const seen: string[] = [];
    walkScalars(bytes, (start, end) => seen.push(textOf(bytes, { start, end })));
    expect(seen).toEqual(['"a\\":1"', "-1.5e3", '""', '"b"', '"2,3"', '"c"', "0"]);
  });

  it("visits every scalar of any valid text", () => {
    const scalarsOf = (value: unknown): readonly unknown[] =>
      typeof value !== "object" || value === null
        ? [value].filter((each) => typeof each === "string" || typeof each === "number")
        : Object.entries(value).flatMap(([key, item]) => [
            ...(Array.isArray(value) ? [] : [key]),
            ...scalarsOf(item),
          ]);
    fc.assert(
      fc.property(jsonText, (text) => {
        const bytes = Buffer.from(text);
        const seen: unknown[] = [];
        walkScalars(bytes, (start, end) => seen.push(JSON.parse(textOf(bytes, { start, end }))));
        // A reader orders members whose keys are digits; these have none.
        expect(seen).toEqual(scalarsOf(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });
});

describe("countMembers()", () => {
  it("counts repeated keys each time and nothing inside strings", () => {
    expect(countMembers(Buffer.from('{"a:b":":","a":{"a":1,"a":2},"x":["\\":",{"y":0}]}'))).toBe(6);
  });
});

describe("hasMoreValues()", () => {
  it("counts every member and item, and nothing inside strings", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        let [most, least] = [0, 0];
        JSON.stringify(value, (_key, each: unknown) => {
          if (typeof each !== "object" || each === null) return each;
          const { length } = Object.keys(each);
          most += length + 1;
          least += Math.max(0, length - 1);
          return each;
        });
        expect(hasMoreValues(Buffer.from(text), most)).toBe(false);
        expect(hasMoreValues(Buffer.from(text), least - 1)).toBe(true);
      }),
    );
  });
});

describe("splice()", () => {
  it("replaces, removes and inserts, and keeps every other byte", () => {
    expect(
      splice(Buffer.from("0123456789"), [
        { start: 0, end: 0, text: "<" },
        { start: 2, end: 4, text: "é" },
        { start: 8, end: 10, text: "" },
      ]).toString(),
    ).toBe("<01é4567");
  });
});
