/**
 * The end of `acp run --review` at a terminal: what was written is shown, and taken only by an
 * answer that nobody could have typed before.
 */
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { BIN, acp } from "./harness.js";
import { openPane, words } from "./pane.js";
import { needSandbox, runWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

/** A shell script under `acp run --review`. */
const reviewed = (home: string, script: string): string =>
  words(process.execPath, BIN, "run", "--home", home, "--review", "--", "sh", "-c", script);

describe.skipIf(!NAMESPACE.run)(
  `the end of acp run --review at a terminal ${NAMESPACE.reason}`,
  () => {
    it.each([
      ["all", ["a", "b"]],
      ["some", ["b"]],
      ["none", []],
      ["nothing", []],
    ])("takes what is answered: %s", async (answer, expected) => {
      await using world = await runWorld();
      const run = reviewed(world.home, "echo 1 > a; echo 2 > b; echo up; read early");
      await using pane = await openPane(run, world.work);
      // Said before the question, it is the command's to read.
      await pane.until(/^up$/m);
      await pane.type("all");
      const screen = await pane.until(/for later: $/m);
      const word = /Type "all ([0-9a-f]{4})"/u.exec(screen)?.[1] ?? "";
      expect(screen).toContain("A a\n");
      await pane.type(answer === "nothing" ? "all 0" : `${answer} ${word}`);
      if (answer === "some") {
        await pane.until(/A path, or Enter to end: $/m);
        await pane.type("b");
        await pane.until(/Another: $/m);
        await pane.type("");
      }
      await pane.until(/exit 0/);
      expect((await readdir(world.work)).sort()).toEqual(expected);
      const left = await acp(["review", "list", "--json"], { home: world.home });
      expect(left.code).toBe(["all", "none"].includes(answer) ? 5 : 0);
    });

    it("asks on the usual screen, whatever the command made of it", async () => {
      await using world = await runWorld();
      const run = reviewed(world.home, `echo 1 > a; printf "\\033[?1047h"; echo up; read now`);
      await using pane = await openPane(run, world.work);
      await pane.until(/^up$/m);
      expect(await pane.isOtherScreen()).toBe(true);
      await pane.type("");
      await pane.until(/for later: $/m);
      expect(await pane.isOtherScreen()).toBe(false);
      await pane.type("");
      await pane.until(/It stays: acp review show/u);
    });
  },
);
