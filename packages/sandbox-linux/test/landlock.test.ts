/**
 * What an agent under Landlock reaches, and what it does not; also the way that its report leaves
 * open. Many more attempts: test/escape.test.ts.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLandlockSandbox } from "../src/landlock.js";
import { helperDirectory } from "../src/helper-directory.js";
import { sessionsDirectory } from "../src/session.js";
import { lookFor, makeTurns, STARTS, startMany } from "./exchange-kit.js";
import {
  IS_ROOT,
  NEEDS,
  nodeScript,
  PLAIN_UID,
  runShell,
  startAgent,
  startManager,
  textOf,
} from "./supervised-kit.js";

let scratch: string;
const open: (Server | ReturnType<typeof createSocket>)[] = [];
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-landlock-")));
  chmodSync(scratch, 0o755);
});
afterEach(() => {
  for (const each of open.splice(0)) each.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** A directory of the agent's user with one file. */
function makeDirectory(name: string): string {
  const path = join(scratch, name);
  mkdirSync(path);
  writeFileSync(join(path, "file"), `in ${name}`);
  if (IS_ROOT) for (const each of [path, join(path, "file")]) chownSync(each, PLAIN_UID, PLAIN_UID);
  return path;
}

async function listen(
  place: { readonly port: number; readonly host: string } | { readonly path: string },
): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => undefined).end("hello"));
  open.push(server);
  await once(server.listen(place), "listening");
  return server;
}

function portOf(server: Pick<Server, "address">): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const user = IS_ROOT ? { user: PLAIN_UID } : {};

describe.skipIf(!NEEDS.landlock.run)(`createLandlockSandbox() ${NEEDS.landlock.reason}`, () => {
  it("shows the workspace and what is readable, and none of the host's other files", async () => {
    const [work, library, other] = ["work", "library", "other"].map(makeDirectory);
    const sandbox = createLandlockSandbox({
      ...user,
      workspace: { path: `${work}`, access: "read-write" },
      readable: [`${library}`],
      hidden: [`${other}`],
    });
    const script = [
      `pwd; cat ${work}/file ${library}/file; echo; echo new > made && mv made moved && mkdir d && rmdir d && ls; chmod 700 moved; echo $?`,
      `echo x > ${library}/new; echo x > "$FILES/acp"; cat ${other}/file; ls ${other} ${scratch} ${sessionsDirectory()} ${helperDirectory()} /tmp /home /root /var /run`,
      `cat "$FILES/../session.json" /etc/shadow /proc/1/environ /proc/$MANAGER/environ; echo x > ${sessionsDirectory()}/x; echo x > ${helperDirectory()}/x`,
      'echo private > "$TMPDIR/t" && cat "$TMPDIR/t" && echo private > "$HOME/t" && echo x > /dev/null && head -c1 "$FILES/first-stage.cjs" && echo',
    ].join("\n");
    const env = {
      env: ({ files, home }: { files: string; home: string }) => ({
        PATH: "/usr/bin:/bin",
        FILES: files,
        HOME: home,
        MANAGER: `${process.pid}`,
      }),
    };
    const { output, report } = await runShell(sandbox, script, env);
    const lines = output
      .split("\n")
      .filter((line) => !/Permission denied|cannot (?:create|open)/u.test(line));
    expect(lines).toEqual([
      `${work}`,
      "in workin library",
      "file",
      "moved",
      "0",
      "private",
      '"',
      "",
    ]);
    expect(readFileSync(join(`${work}`, "moved"), "utf8")).toBe("new\n");
    expect(
      [`${library}/new`, `${sessionsDirectory()}/x`, `${helperDirectory()}/x`].filter((path) =>
        existsSync(path),
      ),
    ).toEqual([]);
    expect(report.items.find(({ aspect }) => aspect === "files")).toMatchObject({
      enforcement: "partial",
    });
  });

  it("shows a read-only workspace read-only", async () => {
    const work = makeDirectory("work");
    const sandbox = createLandlockSandbox({
      ...user,
      workspace: { path: work, access: "read-only" },
    });
    const { output } = await runShell(
      sandbox,
      "cat file; echo; echo x > file; echo x > new; rm file; touch t; ls",
    );
    expect(output.split("\n").filter((line) => !line.includes("ermission denied"))).toEqual([
      "in work",
      "file",
      "",
    ]);
    expect(readFileSync(join(work, "file"), "utf8")).toBe("in work");
  });

  it("lets nothing of the network out but the proxy's port, of any host: that is the way it leaves open", async () => {
    const other = await listen({ port: 0, host: "127.0.0.1" });
    const path = join(scratch, "socket");
    await listen({ path });
    chmodSync(path, 0o777);
    const name = `acp-landlock-${process.pid}`;
    await listen({ path: `\0${name}` });
    const udp = createSocket("udp4");
    open.push(udp);
    let datagrams = 0;
    udp.on("message", () => (datagrams += 1));
    await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
    const script = nodeScript(`
      const net = require("net");
      const dial = (to) => new Promise((done) => net.connect(to).on("connect", () => done("open")).on("error", (e) => done(e.code)));
      const listen = () => new Promise((done) => net.createServer().listen(0, "127.0.0.1", () => done("open")).on("error", (e) => done(e.code)));
      const send = () => new Promise((done) => { const s = require("dgram").createSocket("udp4"); s.on("error", (e) => done(e.code)); s.send("x", ${udp.address().port}, "127.0.0.1", (e) => done(e ? e.code : "sent")); });
      const port = Number(process.env.PORT);
      (async () => console.log(JSON.stringify({
        proxy: await dial({ host: "127.0.0.1", port }), elsewhere: await dial({ host: "127.0.0.2", port }), other: await dial({ host: "127.0.0.1", port: ${portOf(other)} }),
        v6: await dial({ host: "::1", port }), path: await dial({ path: "${path}" }), abstract: await dial({ path: "\\0${name}" }), udp: await send(), listen: await listen(),
      })))().then(() => process.exit());`);
    let elsewhere = 0;
    const { output, report } = await runShell(createLandlockSandbox(), script, {
      env: ({ port }) => {
        void listen({ port, host: "127.0.0.2" }).then((server) =>
          server.on("connection", () => (elsewhere += 1)),
        );
        return { PATH: "/usr/bin:/bin", PORT: String(port) };
      },
    });
    expect(JSON.parse(output)).toMatchObject({
      proxy: "open",
      elsewhere: "open",
      other: "EACCES",
      v6: "EAFNOSUPPORT",
      path: "EAFNOSUPPORT",
      abstract: "EAFNOSUPPORT",
      udp: "EPERM",
    });
    expect(JSON.parse(output)["listen"]).toMatch(/^(?:EACCES|EPERM)$/u);
    expect([datagrams, elsewhere]).toEqual([0, 1]);
    expect(report.items.find(({ aspect }) => aspect === "tcp")).toMatchObject({
      enforcement: "partial",
      reason: expect.stringContaining("every other host"),
    });
  });

  it("never shows what its workspace is exchanged for while it starts", {
    timeout: 900_000,
  }, async () => {
    using turns = await makeTurns(scratch, IS_ROOT ? PLAIN_UID : undefined);
    const sandbox = createLandlockSandbox({
      ...user,
      hidden: [turns.home],
      workspace: { path: turns.folder, access: "read-write" },
    });
    expect(await startMany(sandbox, lookFor(turns))).toEqual({ started: STARTS, output: "" });
  });

  it("starts again, and leaves nothing, after an agent that closed its workspace and all that it has to its own user", async () => {
    const work = makeDirectory("work");
    const sandbox = createLandlockSandbox({
      ...user,
      workspace: { path: work, access: "read-write" },
    });
    const script =
      'mkdir -p "$HOME/a/b" "$TMPDIR/c"; touch "$HOME/a/b/file"; cat file; chmod 000 "$HOME/a/b" "$HOME/a" "$HOME" "$TMPDIR/c" "$TMPDIR" .';
    for (const turn of [1, 2]) {
      const agent = await startAgent(sandbox, ["/bin/sh", "-c", script]);
      expect([turn, await textOf(agent), await agent.exited]).toEqual([
        turn,
        "in work",
        { code: 0, signal: undefined },
      ]);
      expect(
        readdirSync(sessionsDirectory()).filter((id) => id.includes(`-${process.pid}-`)),
      ).toEqual([]);
    }
    chmodSync(work, 0o755);
  });

  it("lets nothing out at all where there is no network", async () => {
    const connections: unknown[] = [];
    const script = nodeScript(
      `require("net").connect(Number(process.env.PORT), "127.0.0.1").on("error", (e) => console.log(e.code));`,
    );
    const { output, report } = await runShell(
      createLandlockSandbox({ network: "none" }),
      `read line; echo "heard $line"; ${script}`,
      {
        onConnection: (socket) => void connections.push(socket),
      },
    );
    expect(output).toBe("heard \nEAFNOSUPPORT\n");
    expect(connections).toEqual([]);
    expect(report.items.find(({ aspect }) => aspect === "tcp")).toMatchObject({
      enforcement: "enforced",
    });
  });

  it("from a manager without rights: neither signals nor reads it, nor sets its limits", async () => {
    chmodSync(scratch, 0o1777);
    const look =
      "kill -0 $MANAGER || echo no signal; cat /proc/$MANAGER/environ || echo no environment; prlimit --pid $MANAGER --nofile=9:9 || echo no limits; kill -0 $PPID || echo no supervisor";
    const { said, output, child } = startManager(
      { sandbox: "landlock", argv: ["sh", "-c", look] },
      scratch,
    );
    const closed = once(child, "close");
    await said("exit");
    await closed;
    expect(output()).toBe("no signal\nno environment\nno limits\nno supervisor\n");
  });
});
