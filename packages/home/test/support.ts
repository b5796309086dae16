/** What the tests of this package share. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A private directory that is gone after the test. */
export async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "acp-home-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
