import { describe, expect, it } from "vitest";
import { shownTask, taskResult } from "./task-shapes.js";
import type { TaskState } from "./task-shapes.js";

const RELATED = "io.modelcontextprotocol/related-task";
const lineOf = (result: string): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}\n`);
const read = (line: Buffer): unknown => JSON.parse(line.toString());

describe("taskResult()", () => {
  it.each([
    ["{}", { _meta: { [RELATED]: { taskId: "t" } } }],
    ['{ "content":[1] }', { _meta: { [RELATED]: { taskId: "t" } }, content: [1] }],
    ['{"_meta":{ },"a":1}', { _meta: { [RELATED]: { taskId: "t" } }, a: 1 }],
    ['{"a":1,"_meta":{"b":2}}', { a: 1, _meta: { [RELATED]: { taskId: "t" }, b: 2 } }],
    // What is no object has nothing that could name the task.
    ['"text"', "text"],
    ["[1]", [1]],
    ['{"_meta":"x"}', { _meta: "x" }],
  ])("names the task in %s", (result, want) => {
    expect(read(taskResult("own", "t", lineOf(result)))).toEqual({
      jsonrpc: "2.0",
      id: "own",
      result: want,
    });
  });

  it("gives an error as it is", () => {
    const error = Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}\n');
    expect(read(taskResult(2, "t", error))).toMatchObject({ id: 2, error: { code: -1 } });
  });
});

describe("shownTask()", () => {
  const task: TaskState = {
    taskId: "t",
    isStateful: false,
    createdMs: 0,
    updatedMs: 1,
    ttlMs: 2,
    status: "completed",
    message: "done",
    answer: lineOf('{"n":1.0e+2}'),
  };

  it("holds the call's answer with its bytes", () => {
    expect(shownTask(1, task).toString()).toContain('"status":"completed"');
    expect(shownTask(1, task).toString()).toContain(',"result":{"n":1.0e+2}}}\n');
  });

  it("holds an error of a failed one, and nothing of one that is not over", () => {
    const answer = Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}\n');
    expect(read(shownTask(1, { ...task, status: "failed", answer }))).toMatchObject({
      result: { resultType: "complete", status: "failed", error: { code: -1 } },
    });
    expect(read(shownTask(1, { ...task, status: "working", answer }))).not.toHaveProperty(
      "result.error",
    );
  });
});
