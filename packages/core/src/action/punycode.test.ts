import { expect, it } from "vitest";
import { decodePunycode } from "./punycode.js";

it.each([
  ["bcher-kva", "bücher"],
  ["tda", "ü"],
  ["4dbcagdahymbxekheh6e0a7fei0b", "למההםפשוטלאמדבריםעברית"],
  ["-with-super-monkeys-pc58ag80a8qai00g7n9n", "安室奈美恵-with-super-monkeys"],
  ["ls8h", "💩"],
  ["ascii-", "ascii"],
  ["", ""],
])("decodePunycode(%j) is %j", (encoded, text) => {
  expect(decodePunycode(encoded)).toBe(text);
});

it.each([
  "b",
  "0",
  "99999a",
  "99999999",
  "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
  "ü",
  "A",
  "a-!",
])(
  "decodePunycode(%j) is undefined: it ends too early, leaves Unicode or has another digit",
  (encoded) => {
    expect(decodePunycode(encoded)).toBeUndefined();
  },
);
