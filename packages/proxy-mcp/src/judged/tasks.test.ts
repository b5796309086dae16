import { describe, expect, it } from "vitest";
import { createTasks } from "./tasks.js";

const answer = (taskId: string): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { task: { taskId } } }));

describe("createTasks()", () => {
  it("learns no id that is too long to keep very many of", () => {
    const tasks = createTasks<string>();
    const [kept, long] = ["a".repeat(1_024), "a".repeat(1_025)];
    for (const id of [kept, long]) tasks.learn("one", answer(id));
    expect([tasks.ownerOf(kept), tasks.ownerOf(long)]).toEqual(["one", undefined]);
  });
});
