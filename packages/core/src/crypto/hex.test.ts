import { expect, it } from "vitest";
import { fromHex, toHex } from "./hex.js";

it("toHex() writes two lower-case digits for every byte, and fromHex() reads them back", () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  expect(toHex(all)).toBe(Buffer.from(all).toString("hex"));
  expect(fromHex(toHex(all))).toEqual(all);
  expect([toHex(new Uint8Array()), fromHex("")]).toEqual(["", new Uint8Array()]);
});

it.each(["0", "0g", "AB", "aB", " 00", "00\n", "0x00", "00 00", "٠٠"])(
  "fromHex() refuses %j",
  (hex) => {
    expect(fromHex(hex)).toBeUndefined();
  },
);
