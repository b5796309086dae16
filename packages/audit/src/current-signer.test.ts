import { expect, it } from "vitest";
import { currentSigner } from "./current-signer.js";
import { generateNoteKey } from "./note.js";

const first = generateNoteKey("log");
const second = generateNoteKey("log");
const other = generateNoteKey("another");

it("signs with the key of now, and stays with the last one that can follow it", () => {
  let key = first.signerKey;
  const signer = currentSigner(() => key);
  expect(signer().verifierKey).toBe(first.verifierKey);
  key = second.signerKey;
  expect(signer().verifierKey).toBe(second.verifierKey);
  for (key of [other.signerKey, "", "PRIVATE+KEY+x"])
    expect(signer().verifierKey).toBe(second.verifierKey);
  key = first.signerKey;
  expect(signer().verifierKey).toBe(first.verifierKey);
});

it("refuses a first key that is none", () => {
  expect(() => currentSigner("PRIVATE+KEY+x")).toThrowError(/key/u);
});
