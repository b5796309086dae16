/** How what the helper started ends: with its command, by a signal, with its parent; all of it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callers, directory, finish, helper, isRoot, need, sh, start } from "./confine-kit.js";

describe.runIf(need.run).each(callers)(
  `confine, started by %s, ends${need.run ? "" : ` [${need.reason}]`}`,
  (_, prefix) => {
    it("keeps no stream open: what the command closes is closed", async () => {
      const child = start(["/bin/sh", "-c", "exec >&- 2>&-; read line; exit 6"], {
        prefix,
        stdio: ["pipe", "pipe", "ignore"],
      });
      child.stdout?.resume();
      await once(child.stdout ?? child, "end");
      expect(child.exitCode).toBeNull();
      child.stdin?.end("go on\n");
      expect(await once(child, "exit")).toEqual([6, null]);
    });

    const seesAll = isRoot && prefix.length === 0;
    it.skipIf(seesAll)(
      `is closed to the command's eyes, though it is the same user${seesAll ? ", skipped: root sees everything" : ""}`,
      async () => {
        expect(
          (
            await sh(
              "cat /proc/$$/environ > /dev/null && echo own; cat /proc/$PPID/environ || echo closed",
              { prefix },
            )
          ).out,
        ).toBe("own\nclosed\n");
      },
    );

    // Whoever is left holds the streams: `finish` waits for the last of them.
    const LEFT_BEHIND =
      "setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 100; done' & (setsid setsid sleep 1000 &) ; echo ready";

    it("ends what its command left behind, with it", async () => {
      expect(await sh(`${LEFT_BEHIND}; exit 3`, { prefix })).toMatchObject({
        code: 3,
        out: "ready\n",
      });
    });

    it("ends everything on SIGTERM, and takes no other signal for its own", async () => {
      const child = start(
        ["/bin/sh", "-c", `trap "" HUP INT QUIT TSTP; ${LEFT_BEHIND}; sleep 1000`],
        { prefix },
      );
      const end = finish(child);
      await once(child.stdout ?? process.stdout, "data");
      for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTSTP", "SIGUSR1"] as const)
        child.kill(signal);
      expect(child.exitCode ?? child.signalCode).toBeNull();
      child.kill("SIGTERM");
      expect(await end).toMatchObject({ code: null, signal: "SIGKILL" });
    });

    it("ends everything when its parent is killed", async () => {
      const parent = spawn(
        "/bin/sh",
        [
          "-c",
          `${[...prefix, helper].join(" ")} -- /bin/sh -c '${LEFT_BEHIND.replaceAll("'", `'"'"'`)}; sleep 1000'; :`,
        ],
        {
          stdio: ["ignore", "pipe", "ignore"],
        },
      );
      const end = finish(parent);
      await once(parent.stdout ?? process.stdout, "data");
      parent.kill("SIGKILL");
      expect(await end).toMatchObject({ signal: "SIGKILL" });
    });

    it("catches what forks and exits without end", async () => {
      const runner = join(directory, "runner");
      const source =
        "#include <unistd.h>\nint main(void) { for (long n = 3000000; n > 0; n--) { setsid(); if (fork() != 0) _exit(0); } return 0; }\n";
      expect(spawnSync("cc", ["-O2", "-x", "c", "-o", runner, "-"], { input: source }).status).toBe(
        0,
      );
      chmodSync(runner, 0o755);
      expect(
        await sh(`for n in 1 2 3 4; do ${runner} & done; sleep 0.1`, { prefix }),
      ).toMatchObject({ code: 0 });
    });
  },
);
