/** What the helper leaves its command: rights, limits, descriptors, files, network, system calls. */
import type { StdioOptions } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { makeSeccompFilter, seccompArch } from "../src/seccomp.js";
import {
  type Ended,
  callers,
  directory,
  finish,
  freshName,
  helper,
  isRoot,
  landlockAbi,
  need,
  ownDirectory,
  PLAIN,
  readSystem,
  run,
  sh,
  start,
  withScopes,
  withTcpRules,
} from "./confine-kit.js";

describe.runIf(need.run).each(callers)(
  `confine, started by %s${need.run ? "" : ` [${need.reason}]`}`,
  (_, prefix) => {
    it("ends as its command ends", async () => {
      expect(await sh("echo out; echo err >&2; exit 7", { prefix })).toEqual({
        code: 7,
        signal: null,
        out: "out\n",
        err: "err\n",
      });
      for (const signal of ["SIGKILL", "SIGSEGV", "SIGINT", "SIGTERM"]) {
        expect(await sh(`kill -${signal.slice(3)} $$`, { prefix })).toMatchObject({
          code: null,
          signal,
        });
      }
    });

    it("starts nothing where the command line is not understood, or something it names is not there", async () => {
      const bad: readonly (readonly string[])[] = [
        ["--unknown", "1"],
        ["--read", "/nowhere/at/all"],
        ["--read"],
        ["--connect", "80x"],
        ["--connect", "-1"],
        ["--uid", "61000"],
        ["--uid", "0", "--gid", "0"],
        ["--seccomp", "77"],
        ["--parent", "1"],
      ];
      for (const options of bad)
        expect([options, await run(["/bin/echo", "started"], { prefix, options })]).toMatchObject([
          options,
          { code: 125, out: "" },
        ]);
      const alone = spawnSync(helper, ["--files", "9"], { encoding: "utf8" });
      expect([alone.status, alone.stderr]).toEqual([
        125,
        "confine: there is no command after --\n",
      ]);
      expect(await run(["/nowhere/at/all"], { prefix })).toMatchObject({
        code: 125,
        out: "",
        err: expect.stringContaining("cannot run"),
      });
    });

    it("leaves no capability, no new privileges, no core dump and no more than the limits", async () => {
      const script =
        "grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs' /proc/self/status; grep -E 'core file|open files|processes' /proc/self/limits";
      const { out } = await sh(script, {
        prefix,
        options: ["--files", "77", "--processes", "5000"],
      });
      expect(out.split("\n").map((line) => line.trim().replaceAll(/\s+/g, " "))).toEqual([
        ...["CapInh", "CapPrm", "CapEff", "CapAmb"].map((name) => `${name}: 0000000000000000`),
        "NoNewPrivs: 1",
        "Max core file size 0 0 bytes",
        "Max processes 5000 5000 processes",
        "Max open files 77 77 files",
        "",
      ]);
    });

    it("passes on no descriptor but the standard streams and those to keep", async () => {
      const open = Array.from({ length: 9 }, () => openSync("/dev/null", "r"));
      const script = "cd /proc/self/fd; for fd in *; do [ -e $fd ] && echo $fd; done";
      const stdio: StdioOptions = ["ignore", "pipe", "pipe", ...open];
      const all = await run(["/bin/sh", "-c", script], { prefix, stdio, options: ["--keep", "3"] });
      // 10 is the shell's own copy of the directory, where it makes one.
      const inherited = all.out.trim().split("\n").map(Number);
      expect(inherited.filter((fd) => fd > 2 && fd < 12)).toEqual([3]);
      const some = await run(["/bin/sh", "-c", script], {
        prefix,
        stdio,
        options: ["--keep", "7", "--keep", "4"],
      });
      expect(
        some.out
          .trim()
          .split("\n")
          .map(Number)
          .filter((fd) => fd > 2 && fd < 12),
      ).toEqual([4, 7]);
    });

    it.runIf(landlockAbi > 0)("shows files by its rules only", async () => {
      const [own, other] = [ownDirectory(), ownDirectory()];
      writeFileSync(join(other, "secret"), "secret");
      chmodSync(join(other, "secret"), 0o666);
      chmodSync(own, 0o777);
      chmodSync(other, 0o777);
      const options = [...readSystem, "--write", own, "--device", "/dev/null"];
      const script = [
        `cat ${other}/secret; ls ${other}; echo x > ${other}/new; echo x >> ${other}/secret; mkdir ${other}/d; rm ${other}/secret; ln ${other}/secret ${own}/l`,
        `cat /dev/zero; echo x > ${directory}/new`,
        `echo fine > ${own}/a && mv ${own}/a ${own}/b && mkdir ${own}/c && cat ${own}/b > /dev/null && cat ${own}/b`,
      ].join("\n");
      const { out } = await sh(script, { prefix, options });
      expect(out).toBe("fine\n");
      expect(readFileSync(join(other, "secret"), "utf8")).toBe("secret");
      expect(existsSync(join(other, "new")) || existsSync(join(other, "d"))).toBe(false);
      // The same without rules: everything in it works, so it could have gone wrong.
      const free = await sh(
        `cat ${other}/secret && echo x > ${other}/new && rm ${other}/new && mkdir ${other}/d && rmdir ${other}/d`,
        {
          prefix,
        },
      );
      expect(free).toMatchObject({ code: 0, out: "secret" });
    });

    it.runIf(withTcpRules.run)("lets TCP out to the one port only, and nothing in", async () => {
      const [allowed, refused] = [
        createServer((socket) => socket.end()),
        createServer((socket) => socket.end()),
      ];
      for (const server of [allowed, refused])
        await once(server.listen(0, "127.0.0.1"), "listening");
      const portOf = (server: typeof allowed): number => (server.address() as AddressInfo).port;
      const script = `
      const net = require("net");
      const dial = (port) => new Promise((done) => net.connect(port, "127.0.0.1").on("connect", () => done("open")).on("error", (e) => done(e.code)));
      const listen = (port) => new Promise((done) => net.createServer().listen(port, "127.0.0.1", () => done("open")).on("error", (e) => done(e.code)));
      (async () => { console.log(await dial(${portOf(allowed)}), await dial(${portOf(refused)}), await listen(0), await listen(${portOf(allowed)})); process.exit(); })();`;
      const dialling = [process.execPath, "-e", script];
      expect(
        (await run(dialling, { prefix, options: ["--connect", `${portOf(allowed)}`] })).out,
      ).toBe("open EACCES EACCES EACCES\n");
      expect((await run(dialling, { prefix, options: ["--connect", "0"] })).out).toBe(
        "EACCES EACCES EACCES EACCES\n",
      );
      expect((await run(dialling, { prefix })).out).toBe("open open open EADDRINUSE\n");
      for (const server of [allowed, refused]) server.close();
    });

    it.runIf(withScopes.run)(
      "keeps signals and abstract sockets of others out of reach",
      async () => {
        const name = `acp-confine-${process.pid}-${Math.random()}`;
        const server = createServer((socket) => socket.end());
        await once(server.listen(`\0${name}`), "listening");
        const outside = spawn("/bin/sh", ["-c", "read wait"], {
          stdio: ["pipe", "ignore", "ignore"],
          ...(isRoot && prefix.length > 0 ? { uid: PLAIN, gid: PLAIN } : {}),
        });
        const script = `
      let kill = "sent"; try { process.kill(${outside.pid}, 0); } catch (e) { kill = e.code; }
      require("net").connect("\\0${name}").on("connect", () => done("open")).on("error", (e) => done(e.code));
      const done = (how) => { console.log(kill, how); process.exit(); };`;
        expect(
          (await run([process.execPath, "-e", script], { prefix, options: ["--connect", "0"] }))
            .out,
        ).toBe("EPERM EPERM\n");
        expect((await run([process.execPath, "-e", script], { prefix })).out).toBe("sent open\n");
        outside.stdin.end();
        server.close();
      },
    );

    const arch = seccompArch();
    it.runIf(arch !== undefined)(
      "runs its command under the filter, whole or not at all",
      async () => {
        const filter = makeSeccompFilter({
          arch: arch ?? "x64",
          network: "none",
          unixSockets: "none",
        });
        const path = freshName("filter");
        const script = ["/bin/grep", "Seccomp:", "/proc/self/status"];
        const withFilter = async (bytes: Uint8Array): Promise<Ended> => {
          writeFileSync(path, bytes);
          return run(script, {
            prefix,
            options: ["--seccomp", "3"],
            stdio: ["ignore", "pipe", "pipe", openSync(path, "r")],
          });
        };
        expect(await withFilter(filter)).toMatchObject({ code: 0, out: "Seccomp:\t2\n" });
        for (const bytes of [
          new Uint8Array(),
          filter.subarray(0, 12),
          filter.subarray(0, filter.length - 8),
        ]) {
          expect(await withFilter(bytes)).toMatchObject({ code: 125, out: "" });
        }
      },
    );
  },
);

describe.runIf(need.run && isRoot)(
  `confine --uid, started by root${isRoot ? "" : " (skipped: only root can become another user)"}`,
  () => {
    it("becomes the user with no group, no capability and no way back, and keeps the supervisor out of its reach", async () => {
      const options = ["--uid", `${PLAIN}`, "--gid", `${PLAIN}`];
      const script =
        "id -u; id -g; id -G; grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)|Uid|Gid' /proc/self/status; kill -0 $PPID || echo no signal; cat /etc/shadow || echo no shadow";
      const { out } = await sh(script, { options, prefix: ["setpriv", "--groups", "4,24", "--"] });
      const ids = `${PLAIN} ${PLAIN} ${PLAIN} ${PLAIN}`;
      expect(out.replaceAll("\t", " ").split("\n")).toEqual([
        `${PLAIN}`,
        `${PLAIN}`,
        `${PLAIN}`,
        `Uid: ${ids}`,
        `Gid: ${ids}`,
        ...["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map(
          (name) => `${name}: 0000000000000000`,
        ),
        "no signal",
        "no shadow",
        "",
      ]);
    });

    it("dies with the supervisor, whatever the change of user did to that", async () => {
      const child = start(["/bin/sh", "-c", "echo ready; exec sleep 1000"], {
        options: ["--uid", `${PLAIN}`, "--gid", `${PLAIN}`],
      });
      const end = finish(child);
      await once(child.stdout ?? process.stdout, "data");
      child.kill("SIGKILL");
      expect(await end).toMatchObject({ signal: "SIGKILL" });
    });
  },
);

describe.runIf(need.run)("the sources of the helpers", () => {
  it.each(["confine.c", "init.c"])("%s compiles without a warning", (name) => {
    const source = fileURLToPath(new URL(`../native/${name}`, import.meta.url));
    const { status, stderr } = spawnSync(
      "cc",
      ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", source],
      {
        encoding: "utf8",
      },
    );
    expect([status, stderr]).toEqual([0, ""]);
  });
});
