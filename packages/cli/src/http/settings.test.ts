import { describe, expect, it } from "vitest";
import { httpAction } from "@acp/core";
import { choosePort, hostOffers, readPort } from "./settings.js";

describe("readPort()", () => {
  it.each([
    ["0", 0],
    ["8788", 8788],
    ["65535", 65_535],
  ])("reads %s", (text, port) => {
    expect(readPort("port", text)).toBe(port);
  });

  it.each(["65536", "-1", "08788", "8788 ", "http", ""])(
    "refuses %j and names the option",
    (text) => {
      expect(() => readPort("metrics", text)).toThrow(
        expect.objectContaining({
          code: "options_invalid",
          message: expect.stringContaining("--metrics"),
        }),
      );
    },
  );
});

const base = { stages: [], servers: [], groups: {}, warnings: [] };

describe("hostOffers()", () => {
  const get = httpAction("GET", "https://example.com/");
  const methodsOf = (config: Parameters<typeof hostOffers>[1]["config"]): unknown =>
    hostOffers({}, { config })(get)[0]?.scope;

  it("offers what reads from the host, and everything there where the configuration wants that", () => {
    expect(methodsOf(undefined)).toMatchObject({ methods: ["GET", "HEAD"] });
    expect(methodsOf({ ...base, http: {} })).not.toHaveProperty("twin");
    expect(methodsOf({ ...base, http: { hostApproval: "site" } })).toMatchObject({
      methods: ["*"],
      twin: "www.example.com",
    });
  });
});

describe("choosePort()", () => {
  const config = { ...base, httpPort: 9000 };

  it("takes the command line's before the file's before 8788", () => {
    expect(choosePort({ config }, { values: { port: "0" } })).toBe(0);
    expect(choosePort({ config }, { values: {} })).toBe(9000);
    expect(choosePort({ config: undefined }, { values: {} })).toBe(8788);
  });
});
