/**
 * What an agent notices of being stopped while a held file is replaced, and agents that make
 * themselves hard to stop.
 */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compiled, outside, pathOf, python, useRepository } from "./held-names-kit.js";
import { namespaces } from "./namespace-kit.js";

useRepository();

describe.skipIf(!namespaces.run || !compiled.run)(
  `an agent that is stopped for it ${namespaces.reason}${compiled.reason}`,
  () => {
    it("sees none of its processes stopped, and what it had stopped stays so", async () => {
      const at = await python(`
import os, signal, time
stopped = os.fork()
if stopped == 0: time.sleep(600)
os.kill(stopped, signal.SIGSTOP)
os.waitpid(stopped, os.WUNTRACED)
child = os.fork()
if child == 0:
    while True: time.sleep(0.01)
def state(pid): return open("/proc/%d/stat" % pid).read().split()[2]
count = 0
while True:
    if os.waitpid(child, os.WNOHANG | os.WUNTRACED)[0] != 0: print("child", flush=True)
    print("tick", count, state(stopped), state(child), flush=True)
    count += 1
    time.sleep(0.1)
`);
      await at.printed("tick 2");
      for (let round = 1; round <= 5; round++) {
        await outside(`git config branch.main.merge refs/heads/${round}`);
        expect(await at.changed(round)).toBe(true);
      }
      await at.printed(`tick ${at.output().split("\n").length + 2}`);
      expect(at.output()).not.toContain("child");
      expect(at.output()).toMatch(/^(?:tick \d+ T [SR]\n)+$/u);
      await at.agent.close();
    });

    it("goes on from below: no parent ever sees a child stopped", async () => {
      const at = await python(`
import os, time
children = []
for _ in range(300):
    child = os.fork()
    if child == 0:
        while True: time.sleep(1)
    children.append(child)
print("up", flush=True)
seen = 0
while True: # without a pause, so that it looks as soon as it goes on
    for child in children:
        if os.waitpid(child, os.WNOHANG | os.WUNTRACED)[0] != 0: seen += 1
    if os.path.exists("ask"): print("saw", seen, flush=True); break
time.sleep(600)
`);
      await at.printed("up");
      for (let round = 1; round <= 3; round++) {
        await outside(`git config branch.main.merge refs/heads/${round}`);
        expect(await at.changed(round)).toBe(true);
      }
      await outside("touch ask");
      await at.printed("saw");
      expect(at.output()).toContain("saw 0\n");
      await at.agent.close();
    });

    it("is stopped also where it waits for a child that is about to become a program", async () => {
      // The child of vfork() waits in open(2) for somebody outside, and its parent for the child.
      const at = await python(`
import os, time
os.mkfifo("pipe")
print("up", flush=True)
child = os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, "pipe", os.O_RDONLY, 0)])
print("spawned", os.waitpid(child, 0)[1], flush=True)
time.sleep(600)
`);
      await at.printed("up");
      // Opened and not written to: whoever reads may have ended by then, which is SIGPIPE.
      await outside("sleep 0.3; git config branch.main.merge refs/heads/x; sleep 0.1; : > pipe");
      expect(await at.changed(1)).toBe(true);
      await at.printed("spawned 0");
      expect(at.agent.failure?.()).toBeUndefined();
      await at.agent.close();
    });

    it.each([
      [
        "starts processes all the time",
        "import subprocess\nprint('up', flush=True)\nwhile True: subprocess.run(['/bin/true'])",
      ],
      [
        "floods the folder with events",
        `import os
print("up", flush=True)
for _ in range(2): os.fork()
n = str(os.getpid())
while True:
    for i in range(1000): os.close(os.open(".git/%s-%d" % (n, i), os.O_CREAT | os.O_WRONLY))
    for i in range(1000): os.unlink(".git/%s-%d" % (n, i))`,
      ],
      [
        "continues its processes all the time",
        `import os, signal
print("up", flush=True)
for _ in range(3): os.fork()
while True:
    try: os.kill(-1, signal.SIGCONT)
    except OSError: pass`,
      ],
      [
        "never lets a child of vfork() go on",
        `import ctypes
libc = ctypes.CDLL(None)
print("up", flush=True)
if libc.vfork() == 0:
    while True: pass`,
      ],
    ])("is stopped or ended where it %s", async (_name, script) => {
      const at = await python(script);
      await at.printed("up");
      for (let round = 1; round <= 3 && !at.isOver(); round++) {
        const before = at.changes.length;
        await outside(`git config branch.main.merge refs/heads/${round}`);
        if (!(await at.changed(before + 1)))
          expect(at.agent.failure?.()).toMatchObject({ code: "sandbox_failed" });
      }
      await at.agent.close();
      expect(existsSync(pathOf(".git/config.lock"))).toBe(false);
    });
  },
);
