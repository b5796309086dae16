import type { ConsentGate } from "@acp/core";
import { expect, it } from "vitest";
import { createGateOfKey } from "./gate-of-key.js";

const fakeGate = (): ConsentGate => Object.create(null) as ConsentGate;

it("gives no gate to a key that works no more, not even one that was opened for it", async () => {
  const [main, own] = [fakeGate(), fakeGate()];
  const keys = new Map<string, { path: string | undefined }>([
    ["ada", { path: undefined }],
    ["bob", { path: "/bob.yml" }],
  ]);
  let onOpen = (): void => {};
  const gateOf = createGateOfKey({
    gate: main,
    gateWith: (path) => {
      onOpen();
      return path === "/bob.yml" ? Promise.resolve(own) : Promise.reject(new Error("another"));
    },
    policyOf: (key) => keys.get(key),
  });
  expect(await gateOf("ada")).toBe(main);
  expect(await gateOf("nobody")).toBeUndefined();
  onOpen = () => void keys.delete("bob");
  expect(await gateOf("bob")).toBeUndefined();
  keys.set("bob", { path: "/bob.yml" });
  expect(await gateOf("bob")).toBe(own);
});
