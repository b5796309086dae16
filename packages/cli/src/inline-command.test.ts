import { describe, expect, it } from "vitest";
import { withTerminator } from "./inline-command.js";

const read = (line: string): string => withTerminator(line.split(" "), ["wrap", "scan"]).join(" ");

describe("withTerminator()", () => {
  it.each([
    ["mcp npx server", "mcp -- npx server"],
    ["mcp --home h npx -y server --home x", "mcp --home h -- npx -y server --home x"],
    ["mcp --home=h --alone npx server", "mcp --home=h --alone -- npx server"],
    [
      "mcp --config c.yml --server s node a.js -- b",
      "mcp --config c.yml --server s -- node a.js -- b",
    ],
    ["mcp --agent wrap node a.js", "mcp --agent wrap -- node a.js"],
    ["mcp --alone wrap files", "mcp --alone -- wrap files"],
  ])("finds where the command of %j begins", (line, whole) => {
    expect(read(line)).toBe(whole);
  });

  it.each([
    "mcp",
    "mcp --alone",
    "mcp --home h",
    "mcp --home",
    "mcp -- npx server",
    "mcp --home h -- npx",
    "mcp wrap files",
    "mcp scan --json",
    "policy check a.yml",
    "run npm test",
    "--home h mcp npx",
  ])("leaves %j as it is", (line) => {
    expect(read(line)).toBe(line);
  });
});
