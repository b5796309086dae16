/**
 * The namespace sandbox under managers that are killed, that are somebody else, that have a
 * terminal, or that have no user namespaces.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hostNeed } from "@acp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import type { NamespaceJob } from "./fixtures/namespace-manager.js";
import { namespaces } from "./namespace-kit.js";

const MANAGER = await bundled(new URL("fixtures/namespace-manager.ts", import.meta.url));
const isRoot = process.getuid?.() === 0;
const PLAIN_UID = 61_004;
/** As nobody of the host, without any rights in it. */
const AS_PLAIN = isRoot
  ? [
      "setpriv",
      `--reuid=${PLAIN_UID}`,
      `--regid=${PLAIN_UID}`,
      "--clear-groups",
      "--inh-caps=-all",
      "--",
    ]
  : [];

let scratch: string;
const started: ChildProcess[] = [];
beforeEach(async () => {
  scratch = await realpath(await mkdtemp(join(tmpdir(), "acp-managers-")));
  await chmod(scratch, 0o777 | 0o1000); // managers of several users
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await rm(scratch, { recursive: true, force: true });
});

interface Manager {
  readonly child: ChildProcess;
  /** What the agent printed. */
  output(): string;
  /** What the manager said, with this key. */
  said(key: string): Promise<Readonly<Record<string, unknown>>>;
}

function startManager(
  job: NamespaceJob,
  {
    prefix = [],
    stdio = [],
    node = process.execPath,
  }: { prefix?: readonly string[]; stdio?: readonly (number | "ignore")[]; node?: string } = {},
): Manager {
  const [program = "", ...args] = [...prefix, node, MANAGER, JSON.stringify(job)];
  const env = {
    PATH: process.env["PATH"],
    TMPDIR: scratch,
    XDG_RUNTIME_DIR: scratch,
    HOME: scratch,
  };
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe", ...stdio] });
  started.push(child);
  const text = { output: "", said: "" };
  child.stdout?.on("data", (chunk) => (text.output += String(chunk)));
  child.stderr?.on("data", (chunk) => (text.said += String(chunk)));
  const ended = once(child, "close");
  const find = (key: string): Readonly<Record<string, unknown>> | undefined =>
    text.said
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find((line) => key in line);
  return {
    child,
    output: () => text.output,
    said: async (key) => {
      let over = false;
      void ended.then(() => (over = true));
      for (;;) {
        const found = find(key);
        if (found !== undefined) return found;
        if (over) throw new Error(`The manager ended without "${key}": ${text.said}`);
        await sleep(10);
      }
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

/** Pids of processes whose command line holds a text. */
function naming(text: string): readonly string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return (
        /^\d+$/u.test(name) &&
        name !== String(process.pid) &&
        readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text)
      );
    } catch {
      return false;
    }
  });
}

describe.skipIf(!namespaces.run)(`managers of the namespace sandbox ${namespaces.reason}`, () => {
  it("killed with -9: everything inside dies at once, and the next start cleans up", async () => {
    const mark = `6${process.pid}`;
    const job: NamespaceJob = {
      argv: [
        "bash",
        "-c",
        `trap '' TERM HUP INT; setsid sleep ${mark} & setsid bash -c 'sleep ${mark}' & wait`,
      ],
    };
    const { child, said } = startManager(job, { prefix: AS_PLAIN });
    await said("pid");
    await until(() => naming(mark).length >= 4);
    const sessions = join(scratch, "acp-sandbox");
    expect(readdirSync(sessions)).toHaveLength(1);
    child.kill("SIGKILL");
    await once(child, "close");
    await until(() => naming(mark).length === 0); // the test's own patience is the bound
    expect(readdirSync(sessions)).toHaveLength(1);
    const next = startManager({ argv: ["true"] }, { prefix: AS_PLAIN });
    expect(await next.said("exit")).toEqual({ exit: { code: 0 } });
    expect(readdirSync(sessions)).toEqual([]);
  });

  it("nobody special: the level is full, and the agent is the same user", async () => {
    const { said, output } = startManager({ argv: ["id", "-u"] }, { prefix: AS_PLAIN });
    expect(await said("level")).toMatchObject({ level: "full" });
    expect(await said("exit")).toEqual({ exit: { code: 0 } });
    expect(output()).toBe(`${isRoot ? PLAIN_UID : process.getuid?.()}\n`);
  });

  it("nobody special: throws options_invalid for another user", async () => {
    const { said } = startManager(
      { argv: ["true"], options: { user: 61_005 } },
      { prefix: AS_PLAIN },
    );
    expect(await said("failed")).toMatchObject({ failed: expect.stringContaining("only root") });
  });

  it("run by a node that is nowhere in the system: it is shown, and nothing beside it", async () => {
    const own = join(scratch, "somewhere/bin/node");
    await mkdir(join(scratch, "somewhere/bin"), { recursive: true });
    await copyFile(process.execPath, own);
    await writeFile(join(scratch, "somewhere/bin/secret"), "");
    const script = `${own} -p 1+1; ls ${scratch}/somewhere/bin; ls ${scratch}/somewhere; ls ${scratch}`;
    const { said, output } = startManager(
      { argv: ["sh", "-c", script] },
      { prefix: AS_PLAIN, node: own },
    );
    await said("exit");
    expect(output()).toBe("2\nnode\nbin\nsomewhere\n");
  });

  it("with descriptors of others: none of them reaches the agent", async () => {
    await writeFile(join(scratch, "secret"), "of the manager's parent");
    const secret = openSync(join(scratch, "secret"), "r");
    const job: NamespaceJob = {
      argv: ["sh", "-c", "for fd in /proc/self/fd/*; do [ -e $fd ] && echo ${fd##*/}; done"],
    };
    // Node closes those below 16 by itself; a POSIX shell can close none of the others.
    const stdio = Array.from({ length: 60 }, (_, at) =>
      at === 40 || at === 59 ? secret : "ignore",
    );
    const { said, output } = startManager(job, { stdio });
    await said("exit");
    closeSync(secret);
    expect(
      output()
        .trim()
        .split("\n")
        .map(Number)
        .filter((fd) => fd > 2),
    ).toEqual([]);
  });
});

const root = hostNeed("root", () => (isRoot ? undefined : "not root"));

describe.skipIf(!namespaces.run || !root.run)(
  `a root manager where user namespaces are forbidden ${root.reason}${namespaces.reason}`,
  () => {
    /**
     * Root of a user namespace in which no further one can be made. Its first line of input lets it
     * go on.
     */
    const script = 'read go && echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
    const prefix = ["unshare", "-U", "--keep-caps", "sh", "-c", script, "sh"];
    const startForbidden = async (job: NamespaceJob): Promise<Manager> => {
      const manager = startManager(job, { prefix });
      const { pid } = manager.child;
      // it is then where it shall be, with all rights there
      await until(() => readFileSync(`/proc/${pid}/comm`, "utf8") === "sh\n");
      for (const map of ["uid_map", "gid_map"]) writeFileSync(`/proc/${pid}/${map}`, "0 0 65536\n");
      manager.child.stdin?.end("go\n");
      return manager;
    };

    it("makes the other namespaces itself, and the agent is still nobody special", async () => {
      const look = [
        "id -u; id -G; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; cat /etc/passwd | wc -l",
        "unshare -U true && echo made; unshare -n true && echo made; umount /usr && echo unmounted; cat /proc/1/environ /etc/shadow && echo read",
        "touch /tmp/x /home/agent/x /dev/shm/x && echo wrote own; for each in / /etc /run /usr /proc/sys/kernel/hostname; do [ -w $each ] && echo writable $each; done",
        "kill -9 1; setpriv --reuid=0 id -u; curl -s -m 5 http://127.0.0.1:$PORT/; echo curl $?",
      ];
      const { said, output } = await startForbidden({
        argv: ["sh", "-c", look.join("; ")],
        options: { user: PLAIN_UID },
      });
      expect(await said("level")).toMatchObject({
        level: "full",
        reason: expect.stringContaining("without a user namespace"),
      });
      await said("exit");
      const text = output();
      expect(text.split("\n").slice(0, 2)).toEqual([String(PLAIN_UID), String(PLAIN_UID)]);
      expect(text.match(/^Cap\w+:\t0+$/gmu)).toHaveLength(5);
      expect(text).toMatch(/^NoNewPrivs:\t1$/mu);
      expect(text).toMatch(/^Seccomp:\t2$/mu);
      expect(text).toContain("wrote own");
      expect(text).not.toMatch(/^(?:made|unmounted|read|writable.*|0)$/mu);
      expect(text).toMatch(/curl \d+/u);
    });
  },
);

const terminal = hostNeed(
  "script (util-linux)",
  () => void execFileSync("script", ["--version"], { stdio: "pipe" }),
);

describe.skipIf(!namespaces.run || !terminal.run)(
  `an agent at a terminal ${terminal.reason}${namespaces.reason}`,
  () => {
    it("keeps the terminal: Ctrl-C reaches the agent, which may go on", async () => {
      const program = [
        "import os, signal, sys, time",
        "signal.signal(2, lambda *_: (os.write(1, b'agent interrupted'), os._exit(9)))",
        "os.write(1, b'tty ' + str(os.isatty(0)).encode())",
        "time.sleep(600)",
      ].join("\n");
      const job: NamespaceJob = { argv: ["python3", "-c", program], stdio: "inherit" };
      const line = [process.execPath, MANAGER, JSON.stringify(job)]
        .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
        .join(" ");
      const child = spawn("script", ["-qfc", line, "/dev/null"], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      started.push(child);
      let [text, isSent] = ["", false];
      child.stdout.on("data", (chunk) => {
        text += String(chunk);
        if (isSent || !text.includes("tty True")) return;
        isSent = true;
        child.stdin.write("\u0003");
      });
      await once(child, "close");
      expect(text).toContain("agent interrupted");
      expect(text).toContain('{"exit":{"code":9}}');
    });
  },
);
