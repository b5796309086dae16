import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listEffects, type Effect } from "./effects.js";
import { effectsNeed } from "./needs.js";
import { observeEffects, type ObserveOptions } from "./observe.js";
import { makeEffectWorld, type EffectWorld } from "./world.js";

const need = effectsNeed();

describe.skipIf(!need.run)(
  `observeEffects()${need.run ? "" : ` (skipped: ${need.reason})`}`,
  () => {
    let world: EffectWorld;
    beforeAll(async () => {
      world = await makeEffectWorld();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    const effectsOf = async (
      command: string,
      options?: ObserveOptions,
    ): Promise<readonly Effect[]> => listEffects(await observeEffects(command, world, options));

    it.each([
      "true",
      "cat README.md",
      "ls -la",
      "git status",
      "git log --oneline",
      "sort a.txt | uniq -c",
      "wc -l .env",
      "cat",
      "date >/dev/null",
    ])("sees nothing in `%s`", async (command) => {
      expect(await effectsOf(command)).toEqual([]);
    });

    it("says which files are new, other or gone, and what they hold now", async () => {
      const { changed, exitCode } = await observeEffects(
        "printf x >new.txt; rm a.txt; echo >>b.txt; ln -s b.txt link; touch ~/mark /tmp/mark",
        world,
      );
      expect(exitCode).toBe(0);
      expect(changed.map(({ kind, path }) => `${kind} ${path}`).toSorted()).toEqual([
        "created /tmp/mark",
        "created /world/home/mark",
        "created /world/project/link",
        "created /world/project/new.txt",
        "deleted /world/project/a.txt",
        "modified /world/project/b.txt",
      ]);
      const digest = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
      expect(changed).toContainEqual({ kind: "created", path: "/world/project/new.txt", digest });
    });

    it("begins every run in the same world", async () => {
      expect(await effectsOf("cat new.txt a.txt >/dev/null")).toEqual([]);
    });

    it("lets nothing of the host be changed, and says that it was tried", async () => {
      const effects = await effectsOf("rm -rf /etc/hostname /world/project/src; touch /planted");
      expect(effects).toContainEqual({ effect: "changes", what: "deleted /world/project/src" });
      expect(
        effects.filter(({ effect }) => effect === "writes-outside").map(({ what }) => what),
      ).toEqual(expect.arrayContaining(["unlinkat /etc/hostname", "openat /planted"]));
    });

    it("says what was dialled, by address and by name", async () => {
      const dials = ["tcp/127.0.0.1/9", "udp/192.0.2.7/53", "tcp/planted.example/80"].map(
        (to) => `(: 3<>/dev/${to}) 2>&-`,
      );
      const dialled = (await effectsOf(`${dials.join("; ")}; true`)).map(({ what }) => what);
      expect(dialled).toEqual(
        expect.arrayContaining(["127.0.0.1:9", "192.0.2.7:53", "name planted.example"]),
      );
    });

    it.each([
      ["while :; do :; done", "busy"],
      ["sleep infinity", "waiting"],
      ["yes 'a line that is longer than what anybody reads'", "flooding"],
    ])("ends `%s`", async (command, end) => {
      expect(await effectsOf(command, { cpuSecondsMax: end === "busy" ? 1 : 60 })).toEqual([
        { effect: "does-not-end", what: end },
      ]);
    });

    it("runs a command as somebody whose home, by every account, is the world's", async () => {
      expect((await observeEffects("echo ~someone; id -un", world)).stdout).toBe(
        "/world/home\nsomeone\n",
      );
    });

    it("gives a command nothing to read, a text, or a terminal", async () => {
      const reads = 'read -r line && echo "$line"; [ -t 0 ] && echo terminal; true';
      expect((await observeEffects(reads, world)).stdout).toBe("");
      expect((await observeEffects(reads, world, { stdin: { piped: "words\n" } })).stdout).toBe(
        "words\n",
      );
      expect((await observeEffects(reads, world, { stdin: { typed: "words\n" } })).stdout).toMatch(
        /words\r\nterminal/,
      );
    });
  },
);
