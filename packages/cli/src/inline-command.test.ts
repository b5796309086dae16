import { expect, describe, it } from "vitest";
import { COMMANDS } from "./commands.js";
import { MCP_COMMANDS, inOneForm } from "./inline-command.js";

const read = (line: string): string => inOneForm(line.split(" ")).join(" ");

describe("inOneForm()", () => {
  it("knows the commands of the table", () => {
    const named = COMMANDS.flatMap(({ name }) =>
      name.startsWith("mcp ") ? [name.slice("mcp ".length)] : [],
    );
    expect(MCP_COMMANDS).toEqual(named.toSorted());
  });

  it.each([
    ["mcp npx server", "mcp -- npx server"],
    ["mcp --home h npx -y server --home x", "mcp --home h -- npx -y server --home x"],
    ["mcp --home=h --alone npx server", "mcp --home=h --alone -- npx server"],
    [
      "mcp --config c.yml --server s node a.js -- b",
      "mcp --config c.yml --server s -- node a.js -- b",
    ],
    ["mcp --agent wrap node a.js", "mcp --agent wrap -- node a.js"],
    ["mcp --home h serve --port 1", "mcp serve --home h --port 1"],
    ["mcp --alone --home h logout web", "mcp logout --alone --home h web"],
  ])("finds what %j begins with", (line, whole) => {
    expect(read(line)).toBe(whole);
  });

  it.each([
    "mcp",
    "mcp --alone",
    "mcp --home h",
    "mcp --home",
    "mcp -- npx server",
    "mcp --home h -- npx",
    "mcp --home h -- serve",
    "mcp wrap files",
    "mcp scan --json",
    "policy check a.yml",
    "run npm test",
    "--home h mcp npx",
  ])("leaves %j as it is", (line) => {
    expect(read(line)).toBe(line);
  });
});
