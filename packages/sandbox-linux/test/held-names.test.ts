/**
 * Files that are held while an agent runs, and that a person outside replaces: whatever the agent
 * tries meanwhile, either it goes on and has changed nothing that the outside sees, or it has been
 * ended.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  compiled,
  git,
  outside,
  own,
  pathOf,
  python,
  read,
  useRepository,
} from "./held-names-kit.js";
import { namespaces } from "./namespace-kit.js";

useRepository();

/** Says every tenth of a second that it runs, and what becomes of its writing. */
const TICK = `
import os, time
count = 0
while True:
    try:
        os.close(os.open(".git/config", os.O_WRONLY | os.O_APPEND))
        print("opened", flush=True)
    except OSError as error: print("tick", count, error.errno, flush=True)
    count += 1
    time.sleep(0.1)
`;

/** As fast as it can; what of it is not refused tells so by what the file has in it then. */
const hammer = (act: string): string => `
import mmap, os
open("mine", "w").write("[core]\\n\\tfsmonitor = ./evil\\n")
print("up", flush=True)
for _ in range(3): os.fork()
while True:
    try:
        if os.stat(".git/config").st_size == 0: continue
${act.replaceAll(/^/gmu, "        ")}
    except (OSError, ValueError): pass
`;
const EVIL = 'b"[core]\\n\\tfsmonitor = ./evil\\n"';
const PLAIN = 'b"[remote \\"evil\\"]\\n\\turl = https://evil.example/x\\n"';
const HAMMERS: readonly (readonly [name: string, act: string])[] = [
  [
    "appends a program",
    `f = os.open(".git/config", os.O_WRONLY | os.O_APPEND); os.write(f, ${EVIL}); os.close(f)`,
  ],
  [
    "appends what names no program",
    `f = os.open(".git/config", os.O_WRONLY | os.O_APPEND); os.write(f, ${PLAIN}); os.close(f)`,
  ],
  [
    "keeps it open for writing",
    `f = os.open(".git/config", os.O_WRONLY | os.O_APPEND)\nwhile True: os.write(f, ${EVIL})`,
  ],
  [
    "opens it anew by a descriptor",
    `f = os.open(".git/config", os.O_RDONLY)\ntry: os.write(os.open("/proc/self/fd/%d" % f, os.O_WRONLY | os.O_APPEND), ${EVIL})\nfinally: os.close(f)`,
  ],
  ["renames over it", `open("mine", "wb").write(${EVIL}); os.rename("mine", ".git/config")`],
  [
    "gives it a second name",
    `os.link(".git/config", ".git/objects/second")\nwhile True: open(".git/objects/second", "ab").write(${EVIL})`,
  ],
  [
    "maps it",
    `f = os.open(".git/config", os.O_RDWR); m = mmap.mmap(f, 0); os.close(f)\nwhile True: m[0:5] = b"#evil"`,
  ],
  [
    "writes the file that is renamed over it",
    `f = os.open(".git/config.lock", os.O_WRONLY | os.O_APPEND); os.write(f, ${PLAIN}); os.close(f)`,
  ],
];

/** More with ACP_DEEP. */
const ROUNDS = process.env["ACP_DEEP"] === "1" ? 50 : 8;

describe.skipIf(!namespaces.run || !compiled.run)(
  `a held file that is replaced outside ${namespaces.reason}${compiled.reason}`,
  () => {
    it("is held again, and the agent goes on", async () => {
      const at = await python(TICK);
      await at.printed("tick 2");
      for (let round = 1; round <= 5; round++) {
        await outside(`git config branch.main.merge refs/heads/${round}`);
        expect(await at.changed(round)).toBe(true);
        expect(at.changes.at(-1)).toMatchObject({ place: pathOf(".git/config"), state: "held" });
        expect(git("config", "branch.main.merge")).toBe(`refs/heads/${round}\n`);
      }
      const seen = at.output().split("\n").length;
      await at.printed(`tick ${seen + 2}`);
      expect(at.output()).not.toContain("opened");
      expect(readdirSync(pathOf(".git")).sort()).toEqual([
        "HEAD",
        "branches",
        "config",
        "description",
        "hooks",
        "info",
        "objects",
        "refs",
      ]);
      await at.agent.close();
    });

    it.each(HAMMERS)("is not changed by an agent that goes on and %s", async (_name, act) => {
      let at = await python(hammer(act));
      await at.printed("up");
      for (let round = 0; round < ROUNDS; round++) {
        if (at.isOver()) {
          writeFileSync(pathOf(".git/config"), "[core]\n\trepositoryformatversion = 0\n");
          own();
          at = await python(hammer(act));
          await at.printed("up");
        }
        const before = at.changes.length;
        const isDone = await outside(`git config branch.main.merge refs/heads/${round}`).then(
          () => true,
          () => false, // the agent has its lock, or has spoiled the file
        );
        if (!isDone) continue;
        if (await at.changed(before + 1)) {
          const text = read(".git/config");
          await sleep(50);
          if (at.isOver()) continue;
          expect(text).not.toContain("evil");
          expect(read(".git/config")).toBe(text);
        } else if (at.isOver())
          expect(at.agent.failure?.()).toMatchObject({ code: "sandbox_failed" });
      }
      await at.agent.close();
    });

    it("is held again where the new one names no program, and ends the agent where it does", async () => {
      const at = await python(TICK);
      await at.printed("tick 2");
      await outside("sed -i 's/bare = false/bare = false\\n\\teol = lf/' .git/config");
      expect(await at.changed(1)).toBe(true);
      await outside("git config core.pager less");
      await at.agent.exited;
      expect(at.agent.failure?.()?.message).toContain(
        'config": the agent may have written the new one before it was stopped',
      );
    });

    it.each([
      ["a rename", "sed -i s/before/after/ .npmrc"],
      ["an editor", "mv .npmrc .npmrc~; echo after > .npmrc; rm .npmrc~"],
    ])(
      "ends the agent where it is no configuration of Git's, and is replaced by %s",
      async (_name, script) => {
        const at = await python(TICK);
        await at.printed("tick 2");
        await outside(script);
        await at.agent.exited;
        expect(at.agent.failure?.()).toMatchObject({
          code: "sandbox_failed",
          message: expect.stringContaining(".npmrc"),
        });
      },
    );

    it("is held again where it says what it said, however it came", async () => {
      const at = await python(TICK);
      await at.printed("tick 2");
      await outside("cp .npmrc new; mv new .npmrc");
      expect(await at.changed(1)).toBe(true);
      await outside("mv .envrc .envrc~; cp .envrc~ .envrc; rm .envrc~");
      expect(await at.changed(2)).toBe(true);
      expect(at.changes.map(({ place, state }) => [place, state])).toEqual([
        [pathOf(".npmrc"), "held"],
        [pathOf(".envrc"), "held"],
      ]);
      await at.agent.close();
    });

    it("is written in place by a person as before", async () => {
      const at = await python(TICK);
      await at.printed("tick 2");
      await outside(
        "echo after > .npmrc; echo '# x' >> .git/config; touch b.txt; git config --list",
      );
      await at.printed("tick 9");
      expect(at.changes).toEqual([]);
      await at.agent.close();
    });

    it("is free once it is removed, and no event of it stops the agent any more", async () => {
      const at = await python(`
import os, time
while os.path.exists(".npmrc"): time.sleep(0.01)
print("gone", flush=True)
open(".npmrc", "w").write("mine")
os.rename(".npmrc", "x"); os.rename("x", ".npmrc")
print("made", flush=True)
time.sleep(600)
`);
      await sleep(200);
      await outside("rm .npmrc");
      await at.printed("made");
      expect(at.changes).toEqual([{ place: pathOf(".npmrc"), state: "gone", key: "" }]);
      await at.agent.close();
    });

    it.each([
      ["a folder", "mv .vscode x; mkdir .vscode"],
      ["the folder that it is in", "mv .git x; cp -r x .git"],
      [
        "a file that was made where nobody watches",
        "cp .git/config .git/info/x; git config --file .git/info/x branch.main.merge x; mv .git/info/x .git/config",
      ],
      ["a link", "ln -s /etc/passwd l; mv l .npmrc"],
      ["a second name", "echo before > two; ln two three; mv three .npmrc"],
    ])("ends the agent where there is %s", async (_name, script) => {
      const at = await python(TICK);
      await at.printed("tick 2");
      await outside(script);
      await at.agent.exited;
      expect(at.agent.failure?.()).toMatchObject({ code: "sandbox_failed" });
    });

    it("is held again also before the agent begins", async () => {
      const at = await python(TICK, () => outside("git config branch.main.merge refs/heads/x"));
      await at.printed("tick 2");
      expect(await at.changed(1)).toBe(true);
      expect(at.output()).not.toContain("opened");
      await at.agent.close();
    });
  },
);
