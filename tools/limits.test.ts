import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { gitFiles, root } from "./workspace.mjs";

/** The text of a call whose opening bracket ends at `from`, to its closing one. */
function callIn(text: string, from: number): string {
  let open = 1;
  let end = from;
  for (; open > 0 && end < text.length; end++)
    open += "([{".includes(text[end] ?? "") ? 1 : ")]}".includes(text[end] ?? "") ? -1 : 0;
  return text.slice(from, end);
}

/** Limits that a machine that stalls would meet: one for a file, or Vitest's own of one second. */
function limitsIn(text: string): readonly string[] {
  const own = [...text.matchAll(/\bvi\.setConfig\(\{[^}]*timeout/gi)].map(([limit]) => limit);
  const waits = [...text.matchAll(/\bvi\.wait(?:For|Until)\(/g)]
    .map(({ 0: call, index }) => callIn(text, index + call.length))
    .filter((call) => !/timeout|patience/i.test(call));
  return [...own, ...waits];
}

it("no test has a limit in seconds that a stalled machine meets", () => {
  const limited = gitFiles()
    .filter((file) => /^(?:packages|examples)\/.*\.ts$/.test(file))
    .filter((file) => limitsIn(readFileSync(join(root, file), "utf8")).length > 0);
  expect(limited).toEqual([]);
});

it.each([
  "vi.setConfig({ testTimeout: 60_000 });",
  "await vi.waitFor(() => expect(a).toBe(1));",
  "await vi.waitUntil(\n  isDone,\n);",
])("%s is such a limit", (text) => expect(limitsIn(text)).toHaveLength(1));

it.each([
  "await vi.waitFor(() => expect(a).toBe(1), { timeout: 120_000 });",
  "await vi.waitFor(look, patience);",
])("%s is none", (text) => expect(limitsIn(text)).toEqual([]));
