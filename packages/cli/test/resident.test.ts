/**
 * The resident gate: one process a home serves every client of `acp mcp --resident`, each as a
 * process of its own would, and its end breaks no client.
 */
import { chmod, lstat, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { createServer, connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { attachApprovers } from "@acp/channel-terminal";
import { describe, expect, it, vi } from "vitest";
import { ROOM_BYTES, createFrameReader, frameOf, readGreeting } from "../src/resident/wire.js";
import type { Frame } from "../src/resident/wire.js";
import { acp } from "./harness.js";
import { answering } from "./mcp-client.js";
import { residentWorld, startsOf, textOf } from "./resident-world.js";

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("acp mcp --resident", () => {
  it("is started by the first client, with nothing of its environment, and has private sockets", async () => {
    await using at = await residentWorld();
    const planted = join(at.path, "bin");
    await mkdir(planted);
    for (const name of ["acp", "node"]) {
      await writeFile(join(planted, name), `#!/bin/sh\ntouch ${at.path}/planted\n`);
      await chmod(join(planted, name), 0o755);
    }
    const env = {
      PATH: `${planted}:/usr/bin:/bin`,
      NODE_OPTIONS: "--max-old-space-size=300",
      LD_PRELOAD: "/nowhere/planted.so",
      TOKEN: "secret",
    };
    await using client = await at.client({ env });
    expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
    const variables = (await readFile(`/proc/${at.pid()}/environ`, "utf8")).split("\0");
    expect(
      variables
        .map((each) => each.split("=")[0])
        .filter(Boolean)
        .toSorted((a = "", b = "") => a.localeCompare(b)),
    ).toEqual(["HOME", "PATH"]);
    expect(variables).toContain("PATH=/usr/local/bin:/usr/bin:/bin");
    expect(await readdir(at.path)).not.toContain("planted");
    const limits = await readFile(`/proc/${at.pid()}/limits`, "utf8");
    expect(limits).toMatch(/^Max core file size\s+0\s+0\s/m);
    for (const name of ["agents", "control", "resident.log"])
      expect((await lstat(join(at.home, "run", name))).mode & 0o777).toBe(0o600);
    expect((await lstat(join(at.home, "run"))).mode & 0o777).toBe(0o700);
  });

  it("gives each client's server its own variables, directory, umask and configuration", async () => {
    await using at = await residentWorld();
    const other = join(at.path, "other");
    await mkdir(other);
    const config = join(at.path, "other.yml");
    const strict = join(at.path, "strict.yml");
    await writeFile(config, `version: "1"\ndefaults:\n  policy: ${strict}\n`, { mode: 0o600 });
    await writeFile(
      strict,
      'version: "1"\ndefault_action: deny\nrules:\n  - { id: who, match: { tool: who }, action: allow }\n',
      { mode: 0o600 },
    );
    await using one = await at.client({ env: { TOKEN: "one" }, server: ["first"] });
    await using two = await at.client({
      env: { TOKEN: "two", PATH: "/usr/bin" },
      cwd: other,
      args: ["--config", config],
      server: ["second"],
    });
    const [first, second] = await Promise.all([one.call("who"), two.call("who")]);
    expect(JSON.parse(textOf(first))).toEqual({
      PATH: process.env["PATH"],
      TOKEN: "one",
      variables: ["ACP_RESIDENT_SECONDS", "HOME", "PATH", "TOKEN"],
      rest: ["first"],
      cwd: at.home,
      umask: process.umask(),
    });
    expect(JSON.parse(textOf(second))).toMatchObject({
      PATH: "/usr/bin",
      TOKEN: "two",
      rest: ["second"],
      cwd: other,
    });
    expect(textOf(await one.call("act", { n: 1 }))).toBe("1");
    expect(textOf(await two.call("act", { n: 2 }))).not.toBe("2");
    expect(at.done()).toEqual(["1"]);
    expect(await startsOf(at.home)).toBe(1);
  });

  it("asks the approvers of the home, and tells no client of another's questions", async () => {
    await using at = await residentWorld();
    await using one = await at.client();
    await using two = await at.client();
    const answer = await answering(at.home, { decision: "approved" }, () =>
      one.call("ask", { n: 7 }),
    );
    expect(textOf(answer)).toBe("7");
    expect([...two.answers.keys()]).toEqual([0]);
    const socket = connect(join(at.home, "run", "agents"));
    const heard: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => heard.push(chunk));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    // Neither what approvers say nor what people's commands ask is understood there.
    socket.write(frameOf("ask", '{"ask":"status"}'));
    await closed;
    expect(Buffer.concat(heard).toString("latin1")).not.toContain("clients");
    expect(await at.logs()).toEqual(["audit.jsonl"]);
  });

  it("masks for each client the secrets that the vault has when it comes", async () => {
    await using at = await residentWorld();
    await at.acp(["init"]);
    await using first = await at.client({ env: { TOKEN: "tok-0123456789" } });
    expect(textOf(await first.call("who"))).toContain("tok-0123456789");
    const set = ["vault", "set", "TOKEN", "--server", "x", "--home", at.home];
    expect(await acp(set, { input: "tok-0123456789" })).toMatchObject({ code: 0 });
    await using second = await at.client({ env: { TOKEN: "tok-0123456789" } });
    expect(textOf(await second.call("who"))).not.toContain("tok-0123456789");
    expect(await startsOf(at.home)).toBe(1);
  });

  it("ends a client's servers with it", async () => {
    await using at = await residentWorld();
    await using client = await at.client();
    await client.call("act", { n: 1 });
    const children = async (): Promise<string> =>
      readFile(`/proc/${at.pid()}/task/${at.pid()}/children`, "utf8");
    expect((await children()).trim()).not.toBe("");
    client.child.kill("SIGKILL");
    await vi.waitFor(async () => expect((await children()).trim()).toBe(""), { timeout: 60_000 });
  });

  it("is never replaced by a gate alone: a client in a sandbox says what to run", async () => {
    await using at = await residentWorld();
    await using client = at.start({ env: { ACP_SANDBOX: "namespace" } });
    const { result, error } = await client.ask("initialize", { protocolVersion: "2025-06-18" });
    expect(error).toBeUndefined();
    expect(JSON.stringify(result)).toContain("acp resident serve");
    expect((await client.call("act", { n: 1 })).error).toMatchObject({
      data: { code: "resident_unavailable" },
    });
    expect(await at.logs()).toEqual([]);
    // Where one runs, it connects.
    await using _outside = await at.client();
    await vi.waitFor(async () => expect(textOf(await client.call("act", { n: 2 }))).toBe("2"), {
      timeout: 60_000,
    });
  });

  it("that is killed costs calls in work one error, and nothing is done twice", async () => {
    await using at = await residentWorld();
    await using client = await at.client();
    expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
    const slow = client.call("act", { n: 2, ms: 60_000 });
    await vi.waitFor(() => expect(at.done()).toEqual(["1", "2"]), { timeout: 60_000 });
    const before = at.pid();
    process.kill(before, "SIGKILL");
    expect((await slow).error?.data).toEqual({ code: "outcome_unknown", retryable: false });
    expect(textOf(await client.call("act", { n: 3 }))).toBe("3");
    expect(at.pid()).not.toBe(before);
    expect(at.done()).toEqual(["1", "2", "3"]);
    // The second handshake is nobody's answer.
    for (const answers of client.answers.values()) expect(answers).toHaveLength(1);
  });

  it.skipIf(process.platform !== "linux")(
    "(needs /proc) that is killed is followed by one whose servers start after the old ones are gone",
    async () => {
      await using at = await residentWorld();
      const server = fileURLToPath(new URL("fixtures/stubborn-server.mjs", import.meta.url));
      const seen = join(at.path, "seen");
      await using client = at.start({ server: null, args: ["--", process.execPath, server, seen] });
      const lines = async (): Promise<readonly string[]> =>
        (await readFile(seen, "utf8").catch(() => "")).split("\n").filter(Boolean);
      await client.ask("initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "raw", version: "1" },
      });
      await vi.waitFor(async () => expect(await lines()).toHaveLength(2), { timeout: 60_000 });
      process.kill(at.pid(), "SIGKILL");
      await vi.waitFor(async () => expect((await lines()).length).toBeGreaterThan(2), {
        timeout: 60_000,
      });
      // It says which of those before it, and of what they started, it found alive.
      expect((await lines()).filter((line) => line.startsWith("alive"))).toEqual([]);
    },
  );

  it("that ends again and again is left alone for a while, and its log is named", async () => {
    await using at = await residentWorld();
    await using client = await at.client();
    for (let n = 0; n < 3; n++) {
      const slow = client.call("act", { n, ms: 60_000 });
      await vi.waitFor(() => expect(at.done()).toHaveLength(n + 1), { timeout: 60_000 });
      process.kill(at.pid(), "SIGKILL");
      expect((await slow).error?.data?.code).toBe("outcome_unknown");
    }
    const { error } = await client.call("act", { n: 9 });
    expect(error).toMatchObject({ data: { code: "resident_unavailable", retryable: true } });
    expect(error?.message).toContain("resident.log");
    expect(await startsOf(at.home)).toBe(3);
  });

  it("that hangs is named with its remedy, and acp resident stop ends it", async () => {
    await using at = await residentWorld();
    await using first = await at.client();
    process.kill(at.pid(), "SIGSTOP");
    await using second = at.start({ env: { ACP_RESIDENT_SECONDS: "5" } });
    const { result } = await second.ask("initialize", { protocolVersion: "2025-06-18" });
    expect(JSON.stringify(result)).toContain("acp resident restart");
    expect((await at.acp(["resident", "status"])).code).toBe(1);
    const hung = at.pid();
    expect(await at.acp(["resident", "stop"])).toMatchObject({ code: 0 });
    await vi.waitFor(() => expect(isAlive(hung)).toBe(false), { timeout: 60_000 });
    await vi.waitFor(async () => expect(textOf(await second.call("act", { n: 1 }))).toBe("1"), {
      timeout: 60_000,
    });
    expect(textOf(await first.call("act", { n: 2 }))).toBe("2");
  });

  it("is shown and ended by people's commands; a client's next request starts another", async () => {
    await using at = await residentWorld();
    expect((await at.acp(["resident", "status"])).code).toBe(5);
    await using client = await at.client();
    const status = JSON.parse((await at.acp(["resident", "status", "--json"])).stdout);
    expect(status).toMatchObject({
      pid: at.pid(),
      home: at.home,
      clients: [{ pid: client.child.pid, cwd: at.home }],
    });
    expect(await at.acp(["resident", "stop"])).toMatchObject({ code: 0 });
    expect((await at.acp(["resident", "logs"])).stdout).toContain("Ended");
    expect(await startsOf(at.home)).toBe(1);
    expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
    expect(await startsOf(at.home)).toBe(2);
  });

  it("replaces the socket of a dead one, and is not what somebody else left there", async () => {
    await using at = await residentWorld();
    await mkdir(join(at.home, "run"), { mode: 0o700 });
    const path = join(at.home, "run", "agents");
    const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    // Everybody may connect: not ours.
    await chmod(path, 0o666);
    await using client = await at.client();
    expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
    await new Promise((resolve) => void server.close(resolve));
  });
});

/** Connects as no client does, and resolves with all frames when the connection has closed. */
function exchange(
  path: string,
  speak: (greeting: Frame) => readonly Buffer[],
  { hangsUp = false }: { readonly hangsUp?: boolean } = {},
): Promise<readonly Frame[]> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const frames: Frame[] = [];
    const reader = createFrameReader(
      (frame) => {
        frames.push(frame);
        if (frames.length !== 1) return;
        for (const bytes of speak(frame)) socket.write(bytes);
        if (hangsUp) socket.end();
      },
      () => socket.destroy(),
    );
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(frames));
  });
}

describe("the socket for agents", () => {
  it("refuses what is no hello, another build and another home, and gives a flood no room", async () => {
    await using at = await residentWorld();
    await using client = await at.client();
    const path = join(at.home, "run", "agents");
    const hello = (greeting: Frame, change: object): Buffer =>
      frameOf(
        "hello",
        JSON.stringify({
          protocol: [1, 1],
          build: readGreeting(greeting.body)?.build,
          argv: ["mcp", "--resident", "--home", at.home, "--", "/bin/cat"],
          cwd: "/",
          env: {},
          userHome: "/",
          pid: 1,
          ppid: 1,
          umask: 0,
          ...change,
        }),
      );
    const last = async (change: object): Promise<string> => {
      const frames = await exchange(path, (greeting) => [hello(greeting, change)]);
      return `${frames[1]?.kind} ${frames[1]?.body.toString()}`;
    };
    expect(await last({ umask: -1 })).toMatch(/^refused .*hello_invalid/);
    expect(await last({ protocol: [0, 0] })).toMatch(/^refused .*client_outdated/);
    expect(await last({ protocol: [9, 9] })).toMatch(/^refused .*resident_outdated/);
    expect(await last({ argv: ["mcp", "--home", "/"] })).toMatch(/^refused .*home_differs/);
    // Nothing but what is served: no other command, and nothing that somebody wanted alone.
    for (const argv of [
      ["pause", "--home", at.home],
      ["mcp", "--alone", "--home", at.home],
      ["proxy", "http", "--alone", "--home", at.home],
    ]) {
      const frames = await exchange(path, (greeting) => [hello(greeting, { argv })]);
      expect(frames.at(-1)).toMatchObject({ kind: "exit" });
      expect(frames.at(-1)?.body.toString()).not.toBe('{"code":0}');
    }
    // What is read in time gets new room, so that this ends with one side or the other.
    const flood = await exchange(
      path,
      (greeting) => [
        hello(greeting, {}),
        ...Array.from({ length: 80 }, () => frameOf("input", Buffer.alloc(ROOM_BYTES, 0x20))),
      ],
      { hangsUp: true },
    );
    expect(flood.map(({ kind }) => kind)).toContain("ready");
    expect(flood.map(({ kind }) => kind)).not.toContain("exit");
    expect(await exchange(path, () => [Buffer.from([0, 0, 0, 0, 0])])).toHaveLength(1);
    expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
  });

  it("is in no folder that others can enter", async () => {
    await using at = await residentWorld();
    await mkdir(join(at.home, "run"), { mode: 0o755 });
    await using client = at.start();
    const { result } = await client.ask("initialize", {});
    expect(JSON.stringify(result)).toContain("only this user can enter");
  });
});

describe("an approver of a resident", () => {
  it("sees the questions of every client at one socket", async () => {
    await using at = await residentWorld();
    await using one = await at.client();
    await using two = await at.client();
    const stop = new AbortController();
    await using approver = await attachApprovers({
      directory: join(at.home, "run"),
      signal: stop.signal,
    });
    await vi.waitFor(() => expect(approver.gates()).toBe(1), { timeout: 60_000 });
    void one.call("ask", { n: 1 }).catch(() => undefined);
    void two.call("ask", { n: 2 }).catch(() => undefined);
    await vi.waitFor(() => expect(approver.pending()).toHaveLength(2), { timeout: 60_000 });
    stop.abort();
  });
});
