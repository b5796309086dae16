import { describe, expect, it } from "vitest";
import { createTasks } from "./tasks.js";

const answer = (taskId: string): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { task: { taskId } } }));

describe("createTasks()", () => {
  it("learns the tasks of both revisions, and takes no other result for one", () => {
    const tasks = createTasks<string>();
    const result = (value: object): Buffer =>
      Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result: value }));
    tasks.learn("one", result({ resultType: "task", taskId: "flat", status: "working" }));
    tasks.learn("one", result({ resultType: "complete", taskId: "other" }));
    tasks.learn("one", result({ content: [{ resultType: "task", taskId: "inner" }] }));
    expect(["flat", "other", "inner"].map(tasks.ownerOf)).toEqual(["one", undefined, undefined]);
  });

  it("learns no id that is too long to keep very many of", () => {
    const tasks = createTasks<string>();
    const [kept, long] = ["a".repeat(1_024), "a".repeat(1_025)];
    for (const id of [kept, long]) tasks.learn("one", answer(id));
    expect([tasks.ownerOf(kept), tasks.ownerOf(long)]).toEqual(["one", undefined]);
  });
});
