import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isKnown, remember, type Trial } from "./known-trials.js";

let scratch: string;
let trial: Required<Trial>;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-known-")));
  const program = join(scratch, "program");
  writeFileSync(program, "1");
  trial = { words: ["namespaces", "own"], programs: [program], base: join(scratch, "known") };
});
afterEach(() => rmSync(scratch, { recursive: true }));

describe("remember()", () => {
  it("keeps what worked, for these words and this very program", async () => {
    expect(isKnown(trial)).toBe(false);
    await remember(trial);
    expect(isKnown(trial)).toBe(true);
    expect(isKnown({ ...trial, words: ["namespaces", "rooted"] })).toBe(false);
    const [program = ""] = trial.programs;
    chmodSync(program, 0o700); // what changes nothing but the times counts as well
    expect(isKnown(trial)).toBe(false);
    await remember(trial);
    rmSync(program);
    expect(isKnown(trial)).toBe(false);
  });

  it("keeps no more than some, and the newest of them", async () => {
    for (let index = 0; index < 70; index += 1) await remember({ ...trial, words: [`${index}`] });
    expect(readdirSync(trial.base).length).toBeLessThanOrEqual(32);
    expect(isKnown({ ...trial, words: ["69"] })).toBe(true);
  });

  it("keeps nothing in a place that others can write", async () => {
    await remember(trial);
    chmodSync(trial.base, 0o777);
    const other = { ...trial, words: ["other"] };
    await remember(other);
    expect(isKnown(other)).toBe(false);
  });
});
