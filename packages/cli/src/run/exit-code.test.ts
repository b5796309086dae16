import { constants } from "node:os";
import { expect, it } from "vitest";
import { codeOfExit, codeOfSignal } from "./exit-code.js";

it.each([0, 1, 2, 125, 126, 127, 128, 255])("codeOfExit() is the agent's own code %i", (code) => {
  expect(codeOfExit({ code, signal: undefined })).toBe(code);
});

it.each(Object.entries(constants.signals))(
  "codeOfExit() of %s is 128 and its number",
  (signal, number) => {
    expect(codeOfExit({ code: undefined, signal })).toBe(128 + number);
  },
);

it("codeOfSignal() is never a success where the signal is unknown", () => {
  expect(codeOfSignal("SIGWHATEVER")).toBe(137);
});
