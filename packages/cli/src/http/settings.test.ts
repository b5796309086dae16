import { describe, expect, it } from "vitest";
import { choosePort, readPort } from "./settings.js";

describe("readPort()", () => {
  it.each([
    ["0", 0],
    ["8788", 8788],
    ["65535", 65_535],
  ])("reads %s", (text, port) => {
    expect(readPort("port", text)).toBe(port);
  });

  it.each(["65536", "-1", "08788", "8788 ", "http", ""])("refuses %j and names the option", (text) => {
    expect(() => readPort("metrics", text)).toThrow(
      expect.objectContaining({ code: "options_invalid", message: expect.stringContaining("--metrics") }),
    );
  });
});

describe("choosePort()", () => {
  const config = { stages: [], servers: [], groups: {}, warnings: [], unsupported: [], httpPort: 9000 };

  it("takes the command line's before the file's before 8788", () => {
    expect(choosePort({ config }, { values: { port: "0" } })).toBe(0);
    expect(choosePort({ config }, { values: {} })).toBe(9000);
    expect(choosePort({ config: undefined }, { values: {} })).toBe(8788);
  });
});
