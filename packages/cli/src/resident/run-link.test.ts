import { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { createRunClient } from "./run-client.js";
import { createRunLink } from "./run-link.js";
import type { RunLink } from "./run-link.js";
import { PROTOCOLS, createFrameReader } from "./wire.js";
import type { Frame, Kind } from "./wire.js";

const HELLO = {
  protocol: PROTOCOLS,
  version: "1.0.0",
  build: "b",
  argv: ["run", "--", "true"],
  cwd: "/",
  env: {},
  userHome: "/",
  pid: 1,
  ppid: 1,
  umask: 0o22,
};

/** A connection of the client, as the resident has it. */
interface Session {
  /** Kinds and bodies of what the client said. */
  readonly said: readonly (readonly [Kind, string])[];
  say(kind: Kind, body?: string): void;
  end(): void;
}

interface World {
  readonly link: RunLink;
  readonly sessions: readonly Session[];
  readonly told: string[];
  /** Passes time. */
  passes(ms: number): void;
  /** The session with this number, once there is one that has said that. */
  session(count: number, kind?: Kind): Promise<Session>;
}

interface WorldOptions {
  /** The newest protocol of the resident. */
  readonly newest?: number;
  /** Why there is none. */
  readonly why?: string;
  readonly answerMsMax?: number;
}

/** A client whose resident does what a test says. */
function world({ newest = PROTOCOLS[1], why, ...more }: WorldOptions = {}): World {
  const sessions: Session[] = [];
  const told: string[] = [];
  let nowMs = 0;
  const link = createRunLink({
    nowMs: () => nowMs,
    ...more,
    hello: HELLO,
    reach: () => Promise.resolve("none"),
    run: (state) => Promise.resolve(state),
    notice: (bytes) => void told.push(String(bytes)),
    say: (line) => void told.push(line),
    connect() {
      if (why !== undefined) return Promise.reject(new Error(why));
      const said: (readonly [Kind, string])[] = [];
      const reader = createFrameReader(
        ({ kind, body }) => void said.push([kind, String(body)]),
        () => undefined,
      );
      const socket = new Duplex({
        read: () => undefined,
        write(chunk: Buffer, _encoding, done) {
          reader.push(chunk);
          done();
        },
      });
      let take: (frame: Frame) => void = () => undefined;
      sessions.push({
        said,
        say: (kind, body = "") => take({ kind, body: Buffer.from(body) }),
        end: () => void socket.destroy(),
      });
      const greeting = {
        protocol: [1, newest] as const,
        version: "",
        build: "",
        isCurrent: true,
        pid: 2,
      };
      return Promise.resolve({
        socket: socket as never,
        greeting,
        onFrames: (next) => void (take = next),
        raw: () => Buffer.alloc(0),
      });
    },
  });
  return {
    link,
    sessions,
    told,
    passes: (ms) => void (nowMs += ms),
    async session(count, kind = "hello") {
      for (;;) {
        const found = sessions[count - 1];
        if (found?.said.some(([said]) => said === kind) === true) return found;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** Brings a session to where its command may begin. */
async function go(at: World, count: number): Promise<Session> {
  const session = await at.session(count);
  session.say("ready");
  await at.session(count, "run");
  session.say("doors", '{"key":"k","doors":[{"name":"agent","port":0}]}');
  session.say("go");
  return session;
}

const saidOf = ({ said }: Session, kind: Kind): readonly string[] =>
  said.flatMap(([each, body]) => (each === kind ? [body] : []));

describe("createRunLink()", () => {
  it("says what is held, and lets the command begin when it hears that", async () => {
    const at = world();
    const begun = at.link.begin();
    const session = await go(at, 1);
    await begun;
    expect(saidOf(session, "run")).toEqual(["held"]);
    expect(saidOf(session, "opened")).toEqual(['{"ports":[0]}']);
  });

  it("does not begin with a resident that knows no runs, or where there is none", async () => {
    await expect(world({ newest: 2 }).link.begin()).rejects.toThrow("acp resident restart");
    await expect(world({ why: "none here" }).link.begin()).rejects.toThrow("none here");
  });

  it("does not begin where its gate does not open, with that error, and may begin again", async () => {
    const at = world();
    const begun = at.link.begin();
    const session = await at.session(1);
    session.say("ready");
    session.say("exit", '{"code":125,"error":{"code":"key_locked","message":"it is locked"}}');
    await expect(begun).rejects.toMatchObject({ code: "key_locked", message: "it is locked" });
    const again = at.link.begin();
    await go(at, 2);
    await again;
    expect(at.told).toEqual([]);
  });

  it("keeps a note until the log has it, over sessions, and asks and tells nothing twice", async () => {
    const at = world();
    const begun = at.link.begin();
    const first = await go(at, 1);
    await begun;
    let isNoted = false;
    const noted = at.link.note("left_behind", "a").then(() => (isNoted = true));
    expect(saidOf(first, "note")).toEqual(['{"n":1,"code":"left_behind","text":"a"}']);
    first.end();
    const second = await at.session(2);
    second.say("notice", "told again");
    await go(at, 2);
    second.say("notice", "new");
    expect(saidOf(second, "run")).toEqual(["begun"]);
    expect(saidOf(second, "note")).toEqual(saidOf(first, "note"));
    expect(isNoted).toBe(false);
    second.say("noted", '{"n":1}');
    await noted;
    expect(at.told).toEqual(["new"]);
  });

  it("rejects a note that the log does not take, and all of them where there will be no session", async () => {
    const at = world();
    const begun = at.link.begin();
    const session = await go(at, 1);
    await begun;
    const noted = at.link.note("review", "a");
    session.say("noted", '{"n":1,"code":"audit_failed","message":"the disk is full"}');
    await expect(noted).rejects.toMatchObject({
      code: "audit_failed",
      message: "the disk is full",
    });
    const waiting = at.link.note("review", "b");
    session.say("exit", '{"code":1,"error":{"code":"key_locked","message":"locked"}}');
    await expect(waiting).rejects.toMatchObject({ code: "key_locked" });
    await expect(at.link.note("review", "c")).rejects.toMatchObject({ code: "key_locked" });
    at.passes(1_000);
    const later = at.link.note("review", "d");
    const next = await go(at, 2);
    next.say("noted", '{"n":4}');
    await later;
  });

  it("does not wait for ever for a resident that says nothing", async () => {
    const at = world({ answerMsMax: 1 });
    const begun = at.link.begin();
    await go(at, 1);
    await begun;
    await expect(at.link.note("review", "a")).rejects.toThrow("acp resident restart");
    await expect(at.link.end()).rejects.toThrow("acp resident restart");
  });

  it("says once why there is no session, however often it is tried", async () => {
    const at = world();
    const begun = at.link.begin();
    (await go(at, 1)).say("exit", '{"code":1,"error":{"code":"key_locked","message":"locked"}}');
    await begun;
    for (const count of [2, 3]) {
      at.passes(1_000);
      const entered = at.link.queue.enter("agent");
      (await at.session(count)).say("refused", '{"code":"too_many_clients","message":"full"}');
      await expect(entered).resolves.toMatchObject({ code: "resident_unavailable" });
    }
    expect(at.told).toEqual([
      "locked [key_locked]",
      "The resident gate refuses this client: full [home_busy]",
    ]);
  });

  it("has ended when a resident says so, also the one after that which died", async () => {
    const at = world();
    const begun = at.link.begin();
    const first = await go(at, 1);
    await begun;
    let hasEnded = false;
    const ended = at.link.end().then(() => (hasEnded = true));
    expect(saidOf(first, "end")).toEqual([""]);
    first.end();
    const second = await go(at, 2);
    expect(hasEnded).toBe(false);
    expect(saidOf(second, "run")).toEqual(["ended"]);
    expect(saidOf(second, "end")).toEqual([""]);
    second.say("ended");
    await ended;
  });

  it("waits for the next resident after one was told to end, until somebody needs it", async () => {
    const at = world();
    const begun = at.link.begin();
    const session = await go(at, 1);
    await begun;
    session.say("leaving");
    expect(at.sessions).toHaveLength(1);
    const noted = at.link.note("review", "a");
    const next = await go(at, 2);
    next.say("noted", '{"n":1}');
    await noted;
  });

  it("gives up for a while after three losses within a minute, and refuses what waits", async () => {
    const at = world();
    const begun = at.link.begin();
    (await go(at, 1)).end();
    await begun;
    (await go(at, 2)).end();
    (await go(at, 3)).end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(at.told).toEqual([expect.stringContaining("ended 3 times within a minute")]);
    await expect(at.link.queue.enter("agent")).resolves.toMatchObject({
      code: "resident_unavailable",
    });
  });

  it("answers hold, and ends its session with a signal", async () => {
    const at = world();
    const begun = at.link.begin();
    const session = await go(at, 1);
    await begun;
    session.say("hold");
    expect(saidOf(session, "held")).toEqual([""]);
    const closed = at.link.close();
    expect(saidOf(session, "signal")).toEqual(["SIGTERM"]);
    session.say("exit", '{"code":0}');
    await closed;
    await expect(at.link.note("review", "a")).rejects.toMatchObject({ code: "home_busy" });
  });
});

describe("createRunClient()", () => {
  const client = (): {
    readonly said: string[];
    readonly run: ReturnType<typeof createRunClient>;
  } => {
    const said: string[] = [];
    const socket = {
      destroyed: false,
      once: () => undefined,
      write: (frame: Buffer) => said.push(String(frame.subarray(5))),
    };
    return { said, run: createRunClient(socket as never) };
  };
  const note = (n: number): Frame => ({
    kind: "note",
    body: Buffer.from(JSON.stringify({ n, code: "review", text: "t" })),
  });

  it("takes no note before there is a gate, and 64 at most that are not answered", async () => {
    const { run, said } = client();
    expect(run.take(note(1))).toBe(false);
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    run.onNote(() => over);
    for (let n = 1; n <= 64; n++) expect(run.take(note(n))).toBe(true);
    expect(run.take(note(65))).toBe(false);
    end();
    await over;
    await new Promise((resolve) => setImmediate(resolve));
    expect(said).toHaveLength(64);
    expect(run.take(note(66))).toBe(true);
  });

  it("says why a note is not in the log", async () => {
    const { run, said } = client();
    run.onNote(() => Promise.reject(new Error("no room")));
    run.take(note(7));
    await new Promise((resolve) => setImmediate(resolve));
    expect(said).toEqual(['{"n":7,"code":"internal_error","message":"no room"}']);
  });

  it("takes one run", () => {
    const { run } = client();
    const frame: Frame = { kind: "run", body: Buffer.from("{}") };
    expect(run.take(frame)).toBe(false);
    expect(run.take(frame)).toBe(false);
  });
});
