import { describe, expect, it } from "vitest";
import { readSecrets } from "./secret.js";

const bytes = (count: number): string => `whsec_${Buffer.alloc(count, 3).toString("base64")}`;

describe("readSecrets()", () => {
  it("reads one, and several in their order", () => {
    expect(readSecrets(bytes(32)).map((key) => key.length)).toEqual([32]);
    expect(readSecrets([bytes(24), bytes(64)]).map((key) => key.length)).toEqual([24, 64]);
  });

  const refused: readonly (readonly [string, unknown])[] = [
    ["nothing", ""],
    ["no prefix", bytes(32).slice(6)],
    ["another prefix", bytes(32).replace("whsec_", "whsk_")],
    ["too few bytes", bytes(23)],
    ["too many bytes", bytes(65)],
    ["no base64", "whsec_not base64 at all, but long enough to be"],
    ["base64url", `whsec_${Buffer.alloc(32, 255).toString("base64url")}`],
    ["base64 without its padding", bytes(32).replace("=", "")],
    ["bits beyond the last byte", bytes(32).replace("M=", "N=")],
    ["an empty list", []],
    ["one too many", Array.from({ length: 9 }, () => bytes(32))],
    ["a good one beside a bad one", [bytes(32), "hunter2"]],
    ["a number", 5],
    ["a list that holds a number", [5]],
    ["undefined", undefined],
  ];

  it.each(refused)("refuses %s, and shows no secret", (_name, secret) => {
    const read = (): unknown => Reflect.apply(readSecrets, undefined, [secret]);
    expect(read).toThrow(expect.objectContaining({ code: "options_invalid" }));
    try {
      read();
    } catch (error) {
      expect(String(error)).not.toMatch(/AwMD|hunter2/);
    }
  });
});
