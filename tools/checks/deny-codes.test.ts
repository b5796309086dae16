import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { denyCodes } from "./deny-codes.js";
import { sample } from "./sample.js";

const table = (meaning: string): string =>
  `export const DENY_CODES: Record<string, unknown> = { paused: { meaning: "${meaning}", remedy: "Wait | go", retryable: true } };`;

it("deny codes refuses a page that is missing or says something else, and writes it on update", async () => {
  const root = sample({ "packages/core/src/deny-codes.ts": table("All questions are paused.") });
  mkdirSync(join(root, "docs/reference"), { recursive: true });
  const problem =
    "docs/reference/deny-codes.md: does not say what packages/core/src/deny-codes.ts says";
  expect(await denyCodes.run({ root, update: false })).toEqual({ problems: [problem] });
  expect(await denyCodes.run({ root, update: true })).toEqual({ problems: [] });
  expect(await denyCodes.run({ root, update: false })).toEqual({ problems: [] });
  expect(readFileSync(join(root, "docs/reference/deny-codes.md"), "utf8")).toContain(
    "| `paused` | All questions are paused. | Wait \\| go | yes |",
  );
});
