/**
 * Hooks that the resident of their home answers: it decides as a hook alone would, and nothing that
 * happens to it lets a command through.
 */
import { chmod, mkdir, readFile, readdir, rm, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { describe, expect, it, vi } from "vitest";
import { buildOf, versionOf } from "../src/build-of.js";
import { createFrameReader, frameOf, greetingFrame } from "../src/resident/wire.js";
import type { Frame } from "../src/resident/wire.js";
import { BIN, startAcp } from "./harness.js";
import type { Ended } from "./harness.js";
import { EVENTS, decisionOf, hookWorld } from "./hook-world.js";
import type { HookWorld } from "./hook-world.js";

const SAFE = EVENTS["claude-code"]("git status");
const UNSAFE = EVENTS["claude-code"]("npm publish");
/** What a resident of the built library greets with. */
const greeting = (build?: string): Buffer => {
  const entry = join(dirname(BIN), "../dist/index.js");
  const version = versionOf(entry);
  return greetingFrame({ version, build: build ?? buildOf(entry), isCurrent: true });
};

/**
 * Who wrote an event: a hook alone cannot write in the log that a resident holds open, and takes
 * the next one.
 */
const loggedAlone = async (at: HookWorld): Promise<boolean> =>
  (await readdir(at.home)).includes("audit.2.jsonl");

/** What is no resident of ours, and what it heard. */
async function impostor(at: HookWorld, speak: (server: Server) => void): Promise<AsyncDisposable> {
  await mkdir(join(at.home, "run"), { mode: 0o700 });
  const server = createServer();
  speak(server);
  const path = join(at.home, "run", "agents");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  await chmod(path, 0o600);
  return {
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Answers what comes as a resident would, up to the event, and then with the given frames. */
function answerWith(socket: Socket, frames: readonly Buffer[]): void {
  const take = ({ kind }: Frame): void => {
    if (kind === "hello") socket.write(frameOf("ready"));
    else if (kind === "end") {
      for (const frame of frames) socket.write(frame);
      socket.end();
    }
  };
  const reader = createFrameReader(take, () => socket.destroy());
  socket.on("error", () => undefined).on("data", (chunk: Buffer) => reader.push(chunk));
  socket.write(greeting());
}

describe("a resident and hooks", () => {
  it("answers like a hook alone, byte for byte", async () => {
    await using at = await hookWorld();
    await using other = await hookWorld();
    await using _resident = await at.resident();
    const profile = join(at.path, "none.json");
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [SAFE, []],
      [UNSAFE, []],
      [{ ...SAFE, tool_name: "Read" }, []],
      [{ ...SAFE, hook_event_name: "PostToolUse", tool_response: {} }, []],
      [{ ...SAFE, hook_event_name: "Stop" }, []],
      [{ ...SAFE, tool_input: {} }, []],
      [SAFE, ["--profile", profile]],
      [SAFE, ["--profil", "x"]],
      [EVENTS["claude-code"]("cat ../../x"), ["--project", "/work"]],
    ];
    const ends = (ended: Ended) => [ended.code, ended.stdout, ended.stderr];
    for (const [event, args] of cases) {
      const here = await at.hook("claude-code", event, args);
      const there = await other.hook("claude-code", event, args, { ACP_ALONE: "1" });
      expect(ends(here)).toEqual(ends(there));
    }
    expect(await loggedAlone(at)).toBe(false);
    const kinds = async (world: HookWorld) =>
      (await world.log())
        .map(({ event_type, metadata }) => event_type + String(metadata["notice"] ?? ""))
        .filter((kind) => !/^log_opened|isol|uid|unsigned/.test(kind));
    expect(await kinds(at)).toEqual(await kinds(other));
  });

  it("judges each hook by its own directory, environment and profile", async () => {
    await using at = await hookWorld();
    await using _resident = await at.resident();
    const cat = { ...EVENTS["claude-code"]("cat ../notes.txt"), cwd: "/work/project/src" };
    expect(
      decisionOf(await at.hook("claude-code", cat, [], { CLAUDE_PROJECT_DIR: "/work/project" })),
    ).toBe("allow");
    expect(
      decisionOf(
        await at.hook("claude-code", cat, [], { CLAUDE_PROJECT_DIR: "/work/project/src" }),
      ),
    ).toBe("ask");
    expect(decisionOf(await at.hook("claude-code", SAFE, [], { SHELL: "/usr/bin/fish" }))).toBe(
      "ask",
    );
    expect(decisionOf(await at.hook("claude-code", SAFE))).toBe("allow");
    expect(await loggedAlone(at)).toBe(false);
  });

  it("is started by a hook that had to answer alone, with nothing of its environment, and goes with its socket", async () => {
    await using at = await hookWorld();
    const env = { HOME: homedir(), NODE_OPTIONS: "--max-old-space-size=300", PLANTED: "1" };
    expect(decisionOf(await at.hook("claude-code", SAFE, [], env))).toBe("allow");
    const path = join(at.home, "run", "agents");
    const log = (): Promise<string> => readFile(join(at.home, "run", "resident.log"), "utf8");
    await vi.waitFor(async () => expect(await log()).toContain("Serving"), {
      timeout: 120_000,
      interval: 50,
    });
    const pid = Number(/as process (\d+)/.exec(await log())?.[1]);
    expect(await readFile(`/proc/${pid}/environ`, "utf8")).toMatch(/^HOME=[^\0]*\0PATH=[^\0]*\0$/u);
    expect(decisionOf(await at.hook("claude-code", SAFE))).toBe("allow");
    await rm(path);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), {
      timeout: 60_000,
      interval: 100,
    });
  });

  it.each([
    ["ACP_ALONE", { ACP_ALONE: "1" }],
    ["a sandbox of ours", { ACP_SANDBOX: "namespace" }],
  ])("is not started by a hook with %s", async (_name, env) => {
    await using at = await hookWorld();
    expect(decisionOf(await at.hook("claude-code", SAFE, [], env))).toBe("allow");
    expect(await readdir(at.home)).not.toContain("run");
  });

  it("is one a home, however many start at once", async () => {
    await using at = await hookWorld();
    await using _first = await at.resident();
    const second = startAcp(["resident", "serve", "--home", at.home], { input: "" });
    expect((await second.ended).stderr).toContain("home_busy");
    expect(decisionOf(await at.hook("claude-code", SAFE))).toBe("allow");
    expect(await loggedAlone(at)).toBe(false);
  });

  it("that is killed while a person is asked leaves a block behind", async () => {
    await using at = await hookWorld();
    const resident = await at.resident();
    const stop = new AbortController();
    await using clients = await attachApprovers({
      directory: join(at.home, "run"),
      signal: stop.signal,
    });
    await using hook = at.startHook("codex", EVENTS.codex("npm publish"), ["--wait", "100"]);
    await vi.waitFor(() => expect(clients.pending()).toHaveLength(1), {
      timeout: 60_000,
      interval: 20,
    });
    await resident[Symbol.asyncDispose]();
    const { code, stdout, stderr } = await hook.ended;
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      expect.stringContaining("the resident ended without an answer"),
    ]);
    stop.abort();
  });

  it("that is told to end leaves a block behind, too", async () => {
    await using at = await hookWorld();
    await using resident = await at.resident();
    const stop = new AbortController();
    await using clients = await attachApprovers({
      directory: join(at.home, "run"),
      signal: stop.signal,
    });
    await using hook = at.startHook("gemini-cli", EVENTS["gemini-cli"]("npm publish"), [
      "--wait",
      "100",
    ]);
    await vi.waitFor(() => expect(clients.pending()).toHaveLength(1), {
      timeout: 60_000,
      interval: 20,
    });
    resident.child.kill("SIGTERM");
    expect((await resident.ended).code).toBe(0);
    expect((await hook.ended).code).toBe(2);
    stop.abort();
  });

  it("that is stopped is passed by: the hook answers alone", async () => {
    await using at = await hookWorld();
    await using resident = await at.resident();
    // Its log is open then.
    expect(decisionOf(await at.hook("claude-code", SAFE))).toBe("allow");
    resident.child.kill("SIGSTOP");
    expect(decisionOf(await at.hook("claude-code", UNSAFE, [], { ACP_HOOK_SECONDS: "40" }))).toBe(
      "ask",
    );
    expect(await loggedAlone(at)).toBe(true);
  });

  it("that is stopped while it answers does not keep a hook beyond its time: it blocks", async () => {
    await using at = await hookWorld();
    await using _impostor = await impostor(at, (server) =>
      server.on(
        "connection",
        (socket) =>
          void socket
            .on("error", () => undefined)
            .resume()
            .write(greeting()),
      ),
    );
    const { code, stdout, stderr } = await at.hook("claude-code", SAFE, [], {
      ACP_HOOK_SECONDS: "8",
    });
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      expect.stringContaining("longer than 8 seconds"),
    ]);
  });

  it("holds the question of a hook that is gone for the same command", async () => {
    await using at = await hookWorld();
    await using _resident = await at.resident();
    const stop = new AbortController();
    await using clients = await attachApprovers({
      directory: join(at.home, "run"),
      signal: stop.signal,
    });
    const hook = at.startHook("codex", EVENTS.codex("npm publish"), ["--wait", "100"]);
    await vi.waitFor(() => expect(clients.pending()).toHaveLength(1), {
      timeout: 60_000,
      interval: 20,
    });
    await hook[Symbol.asyncDispose]();
    // The question is held for the same command; the hook that is gone can collect nothing.
    await vi.waitFor(
      async () =>
        expect((await at.log()).map(({ event_type }) => event_type)).toContain("consent_deferred"),
      { timeout: 120_000 },
    );
    const [question] = clients.pending();
    if (question === undefined) throw new Error("the question is not open any more");
    await clients.answer(
      makeResponse(question.request, {
        decision: "approved",
        nowMs: Date.now(),
        channel: "terminal",
      }),
    );
    const again = await at.hook("codex", EVENTS.codex("npm publish"), ["--wait", "100"]);
    expect([again.code, decisionOf(again)]).toEqual([0, "none"]);
    stop.abort();
  });
});

describe("what is no resident of this build", () => {
  it.each([
    ["greets as another build", (say: (bytes: Buffer) => void) => say(greeting("1:2:3:4"))],
    [
      "greets as another protocol",
      (say: (bytes: Buffer) => void) =>
        say(Buffer.from(greeting().toString("latin1").replace("[1,3]", "[8,9]"), "latin1")),
    ],
    ["closes at once", (_say: (bytes: Buffer) => void, close: () => void) => close()],
  ])("and %s gets no event", async (_name, speak) => {
    await using at = await hookWorld();
    let heard = "";
    await using _impostor = await impostor(at, (server) =>
      server.on("connection", (socket) => {
        socket.on("data", (chunk) => (heard += String(chunk))).on("error", () => undefined);
        speak(
          (bytes) => void socket.write(bytes),
          () => socket.end(),
        );
      }),
    );
    expect(decisionOf(await at.hook("claude-code", UNSAFE))).toBe("ask");
    expect(heard).toBe("");
  });

  it.each([
    ["nothing", []],
    ["no frame", [Buffer.from("allow")]],
    ["an answer and no exit", [frameOf("output", "{}")]],
    ["no exit code", [frameOf("output", "{}"), frameOf("exit", "{}")]],
    ["a text for it", [frameOf("output", "{}"), frameOf("exit", '{"code":"0"}')]],
    ["that it leaves", [frameOf("output", "{}"), frameOf("leaving")]],
    ["that it is too late for a refusal", [frameOf("refused", '{"code":"x","message":"y"}')]],
  ])("and answers %s blocks the command", async (_name, frames) => {
    await using at = await hookWorld();
    await using _impostor = await impostor(at, (server) =>
      server.on("connection", (socket) => answerWith(socket, frames)),
    );
    const { code, stdout } = await at.hook("claude-code", SAFE);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it.each([
    ["a folder that others may enter", (home: string) => chmod(join(home, "run"), 0o755)],
    ["a socket that others may use", (home: string) => chmod(join(home, "run", "agents"), 0o666)],
    [
      "a link to another folder",
      async (home: string) => {
        await mkdir(join(home, "other"), { mode: 0o700 });
        await rm(join(home, "run"), { recursive: true });
        await symlink("other", join(home, "run"));
      },
    ],
  ])("because it is %s is not asked", async (_name, spoil) => {
    await using at = await hookWorld();
    let isAsked = false;
    await using _impostor = await impostor(at, (server) =>
      server.on("connection", () => (isAsked = true)),
    );
    await spoil(at.home);
    expect(decisionOf(await at.hook("claude-code", UNSAFE, [], { ACP_SANDBOX: "x" }))).toBe("ask");
    expect(isAsked).toBe(false);
  });
});
