import { expect, it } from "vitest";
import { screened } from "./screen.js";

const response = (result: object) => ({
  kind: "response" as const,
  id: 3,
  line: Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 3, result })),
});
const screen = (method: string, params: object): string | undefined =>
  method === "roots/list" && JSON.stringify(params).includes(".acp") ? "closed" : undefined;

it("tells a server that the roots are refused, and not what they are", () => {
  const looked = screened(screen, response({ roots: [{ uri: "file:///home/ada/.acp" }] }));
  if (!("passed" in looked)) throw new Error("it was not passed");
  expect(JSON.parse(looked.passed.line.toString())).toMatchObject({
    id: 3,
    error: { message: "The client's roots were refused" },
  });
  expect(looked.passed.line.toString()).not.toContain(".acp");
});

it("passes other roots and answers on as they came", () => {
  for (const message of [
    response({ roots: [{ uri: "file:///home/ada/projects" }] }),
    response({ action: "accept" }),
  ])
    expect(screened(screen, message)).toEqual({ passed: message });
});
