/** Runs the story in a folder that goes away with it. `--interactive`: you are the person. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runStory } from "./story.js";

const folder = await mkdtemp(join(tmpdir(), "acp-"));
try {
  const { isLogWhole } = await runStory({
    folder,
    say: (line) => console.log(line),
    isInteractive: process.argv.includes("--interactive"),
  });
  process.exitCode = isLogWhole ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
