import { describe, expect, it } from "vitest";
import { fieldsOf, linesOf } from "./lines.js";

describe("fieldsOf()", () => {
  it("keeps the fields that are text", () => {
    expect(fieldsOf('{"id":"tcp-v4","outcome":"tried","count":3,"list":[]}')).toEqual({
      id: "tcp-v4",
      outcome: "tried",
    });
  });

  it.each(["null", "[]", "7", '"text"'])("has nothing of %s", (line) => {
    expect(fieldsOf(line)).toEqual({});
  });
});

describe("linesOf()", () => {
  it("leaves out a line that is not written to its end", () => {
    expect(linesOf('{"id":"a"}\n\n{"id":"b"}\n{"id":"c')).toEqual([{ id: "a" }, { id: "b" }]);
  });
});
