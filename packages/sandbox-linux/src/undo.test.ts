import { describe, expect, it } from "vitest";
import { createUndo } from "./undo.js";

describe("createUndo()", () => {
  it("takes back in the other order, once, however often it is asked", async () => {
    const done: string[] = [];
    const undo = createUndo(() => Promise.resolve(void done.push("last")));
    undo.add(() => void done.push("first"));
    undo.add(async () => void done.push("second"));
    await Promise.all([undo.all(), undo.all()]);
    await undo.all();
    expect(done).toEqual(["second", "first", "last"]);
  });

  it("goes on after an error, says it every time, and leaves the record where it is", async () => {
    const done: string[] = [];
    const undo = createUndo(() => Promise.resolve(void done.push("last")));
    undo.add(() => void done.push("first"));
    undo.add(() => {
      throw new Error("the second does not go");
    });
    undo.add(() => Promise.reject(new Error("the third does not go")));
    await expect(undo.all()).rejects.toThrow("the third does not go");
    await expect(undo.all()).rejects.toThrow("the third does not go");
    expect(done).toEqual(["first"]);
  });
});
