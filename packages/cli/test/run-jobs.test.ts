/**
 * `acp run` as a job of a shell at a terminal: keys and signals do what they do without it, nothing
 * that the agent does to its own group reaches anybody else, and the terminal is as it was, however
 * the run ends.
 */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BIN } from "./harness.js";
import { openPane, words } from "./pane.js";
import type { Pane } from "./pane.js";
import { needSandbox, runWorld } from "./run-world.js";
import type { RunWorld } from "./run-world.js";

const NAMESPACE = needSandbox("namespace");

/** A world whose `run` stands for `acp run --sandbox namespace --`. */
async function worldWithRun(): Promise<
  { readonly world: RunWorld; readonly run: string } & AsyncDisposable
> {
  const world = await runWorld();
  const run = join(world.path, "run");
  const command = words(
    process.execPath,
    BIN,
    "run",
    "--alone",
    "--home",
    world.home,
    "--sandbox",
    "namespace",
    "--",
  );
  await writeFile(run, `#!/bin/sh\nexec ${command} "$@"\n`);
  await chmod(run, 0o755);
  return { world, run, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** A shell with jobs, whose prompt is `$ `. */
async function openShell(world: RunWorld): Promise<Pane> {
  const pane = await openPane(
    "PS1='ready$ ' PS2= HISTFILE= bash --norc --noprofile -i",
    world.work,
  );
  await pane.until(/^ready\$ ?$/mu);
  return pane;
}

/** The first number that a text says after a word. */
async function numberAfter(pane: Pane, word: string): Promise<number> {
  const screen = await pane.until(new RegExp(`^${word} \\d+`, "mu"));
  return Number(new RegExp(`^${word} (\\d+)`, "mu").exec(screen)?.[1]);
}

/** Says what it gets, and goes on. */
const LISTENER = `
import os, signal, sys, time
for name in ("SIGINT", "SIGQUIT", "SIGCONT", "SIGWINCH"):
    signal.signal(getattr(signal, name), lambda number, _: os.write(1, ("got %d %d\\n" % (number, os.get_terminal_size().columns)).encode()))
os.write(1, b"up\\n")
while True:
    line = sys.stdin.readline()
    if line == "": break
    os.write(1, b"line " + line.encode())
os.write(1, b"end of input\\n")
`;

describe.skipIf(!NAMESPACE.run)(`acp run as a job of a shell ${NAMESPACE.reason}`, () => {
  it("is stopped by Ctrl-Z, continued by fg, and gets every other key as the agent's terminal makes it", async () => {
    await using at = await worldWithRun();
    await at.world.write("listener.py", LISTENER);
    await using pane = await openShell(at.world);
    await pane.type(`${at.run} python3 listener.py; echo "first exit $?"`);
    await pane.until(/^up$/mu);
    await pane.press("C-c");
    await pane.until(/^(?:\^C)?got 2 /mu);
    await pane.press("C-\\");
    await pane.until(/^(?:\^\\)?got 3 /mu);
    await pane.press("C-z");
    await pane.until(/Stopped[^]*ready\$ ?\n*$/u);
    await pane.type(
      "stty -a | tr ';' '\\n' | grep -wo -e icanon -e echo -e isig -e opost | tr '\\n' ' '; echo modes",
    );
    await pane.until(/^(?:isig icanon echo opost|opost isig icanon echo) modes$/mu);
    await pane.type("fg");
    await pane.until(/^got 18 /mu);
    await pane.type("hello");
    await pane.until(/^line hello$/mu);
    await pane.press("C-d");
    await pane.until(/^end of input$/mu);
    await pane.type('echo "last exit $?"');
    await pane.until(/^last exit 0$/mu);
  });

  it("is continued by fg after a person has configured Git while it was stopped", async () => {
    await using at = await worldWithRun();
    await at.world.write("listener.py", LISTENER);
    await using pane = await openShell(at.world);
    await pane.type("git init -q . && chown -R --reference=. .git && echo made");
    await pane.until(/^made$/mu);
    await pane.type(`${at.run} python3 listener.py; echo "first exit $?"`);
    await pane.until(/^up$/mu);
    await pane.press("C-z");
    await pane.until(/Stopped[^]*ready\$ ?\n*$/u);
    await pane.type(
      "git config --file .git/config branch.main.merge refs/heads/x && echo configured",
    );
    await pane.until(/^configured$/mu);
    await pane.type("fg");
    // What is said while the agent has the terminal leaves the cursor in the middle of a line.
    await pane.until(/^ *got 18 /mu);
    await pane.until(/was replaced outside while the command ran/u);
    await pane.type("hello");
    await pane.until(/^ *line hello$/mu);
    await pane.press("C-d");
    await pane.until(/^ *end of input$/mu);
  });

  it("goes on in the background, and stops there when the agent reads", async () => {
    await using at = await worldWithRun();
    await using pane = await openShell(at.world);
    await pane.type(`${at.run} sh -c 'echo begun; read line; echo "read $line"' &`);
    await pane.until(/^begun$/mu);
    await pane.press("Enter");
    await pane.until(/Stopped/u);
    await pane.type("fg");
    await pane.until(/^\S*run sh -c /mu);
    await pane.type("typed");
    await pane.until(/^read typed$/mu);
    await pane.until(/ready\$ ?\n*$/u);
  });

  it("passes the size of the window on", async () => {
    await using at = await worldWithRun();
    await at.world.write("listener.py", LISTENER);
    await using pane = await openPane(`${at.run} python3 listener.py`, at.world.work);
    await pane.until(/^up$/mu);
    await pane.resize(97, 30);
    await pane.until(/^got 28 97$/mu);
  });

  it("leaves the terminal to a pager at the end of a pipe, and a file to the agent's output", async () => {
    await using at = await worldWithRun();
    await using pane = await openShell(at.world);
    await pane.type(`${at.run} seq 1 2000 | less; echo "pager ended"`);
    await pane.until(/^:$/mu);
    await pane.press("G");
    await pane.until(/^2000$/mu);
    await pane.press("q");
    await pane.until(/^pager ended$/mu);
    await pane.type(
      `${at.run} sh -c 'test -t 1 || echo no terminal; read line; echo "$line"' > out; cat out`,
    );
    await pane.type("into the file");
    await pane.until(/^no terminal\ninto the file$/mu);
    await pane.type(
      `${at.run} sh -c 'echo waits >/dev/tty; read line </dev/tty; echo "asked for $line"' | cat`,
    );
    await pane.until(/^waits$/mu);
    await pane.type("it");
    // The end of the line is shown by the agent's terminal, the answer by cat: either may come
    // first.
    await pane.until(/asked for it$/mu);
  });

  it("leaves the modes of the terminal to whoever has set them at the end of a pipe", async () => {
    await using at = await worldWithRun();
    await using pane = await openShell(at.world);
    const reader = `sleep 2; stty -icanon </dev/tty; cat; stty -a </dev/tty | grep -o -- '-*icanon'; stty icanon </dev/tty; echo "reader ended"`;
    await pane.type(`${at.run} sleep 4 | (${reader})`);
    expect(await pane.until(/^reader ended$/mu)).toMatch(/^-icanon$/mu);
  });

  it.each(["INT", "HUP", "TERM", "KILL", "STOP", "TSTP"])(
    "keeps the agent's SIG%s to its own group, and to all that it may signal, inside",
    async (name) => {
      await using at = await worldWithRun();
      await using pane = await openShell(at.world);
      const attack = `echo "agent $$"; trap "" HUP INT TERM; kill -${name} -1; kill -${name} 0; echo survived`;
      // The partner and the shell would say nothing more.
      const manager = `sh -c 'echo "manager $$" >&2; exec "$@"' sh ${at.run}`;
      await pane.type(
        `${manager} bash -c '${attack}' | (trap 'echo hit' INT HUP TERM; cat; echo "partner at its end"); echo "jobs: $(jobs)."`,
      );
      const pid = await numberAfter(pane, "manager");
      await pane.until(/^agent \d+$/mu);
      if (name === "STOP" || name === "TSTP") {
        // An agent that stops itself stops nobody: a person's key does, and sees that.
        const agent = await onlyChild(await onlyChild(await onlyChild(pid, "bwrap")));
        await expect.poll(() => stateOf(agent), { timeout: 30_000 }).toBe("T");
        expect(await stateOf(pid)).not.toBe("T");
        await pane.press("C-z");
        await pane.until(/Stopped/u);
        await pane.type("kill -9 %1");
      } else {
        await pane.until(/^partner at its end$/mu);
        expect(await pane.until(/^jobs: \.$/mu)).not.toMatch(/^hit$/mu);
      }
      await pane.until(/ready\$ ?\n*$/u);
    },
  );
});

/** How a run may end, as something done to it from outside. */
const ENDS = [
  ["the agent exits", "exit 3", undefined],
  ["the agent is killed from inside", "kill -9 $$", undefined],
  ["the agent is killed", "echo at 1; sleep 1000", "agent"],
  ["the first process of its namespace is killed", "echo at 1; sleep 1000", "init"],
  ["bubblewrap is killed", "echo at 1; sleep 1000", "bubblewrap"],
  ["acp is told to end", "echo at 1; sleep 1000", "manager"],
] as const;

describe.skipIf(!NAMESPACE.run)(`the terminal after acp run ${NAMESPACE.reason}`, () => {
  it.each(ENDS)("is as it was where %s", async (_, script, target) => {
    await using at = await worldWithRun();
    // Not a shell that puts modes back itself.
    const command = `stty -g > before; sh -c 'echo "manager $$"; exec "$@"' sh ${at.run} sh -c '${script}'; echo "code $?"; stty -g > after; cmp before after && echo same`;
    await using pane = await openPane(
      `dash -c ${words(command.replaceAll("'", `'\\''`))}`,
      at.world.work,
    );
    const manager = await numberAfter(pane, "manager");
    if (target !== undefined) {
      await pane.until(/^at /mu);
      const bubblewrap = await onlyChild(manager, "bwrap");
      const init = await onlyChild(bubblewrap);
      const pids = { manager, bubblewrap, init, agent: await onlyChild(init) };
      process.kill(pids[target], target === "manager" ? "SIGTERM" : "SIGKILL");
    }
    const screen = await pane.until(/^code \d+$[^]*(?:same|differ)/mu);
    expect(screen).toMatch(/^same$/mu);
  });
});

/** `T`: it was stopped. */
async function stateOf(pid: number): Promise<string | undefined> {
  return (await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""))
    .replace(/^.*\) /su, "")
    .at(0);
}

/** The child of a process, of this name where there are several. */
async function onlyChild(pid: number, name?: string): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8"))
    .trim()
    .split(" ")
    .map(Number);
  for (const child of children) {
    if (name === undefined || (await readFile(`/proc/${child}/comm`, "utf8")).trim() === name)
      return child;
  }
  throw new Error(`process ${pid} has no child ${name ?? ""}`);
}
