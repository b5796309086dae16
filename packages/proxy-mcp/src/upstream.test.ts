import { text } from "node:stream/consumers";
import { PassThrough } from "node:stream";
import { systemClock } from "@acp/core";
import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { createLoopTurns } from "./loop-turns.js";
import { createMasks } from "./masks.js";
import type { Known, Masks } from "./masks.js";
import { startCommand } from "./server-process.js";
import type { ServerProcess, StartedUpstream } from "./server-process.js";
import { startUpstream } from "./upstream.js";
import type { Upstream } from "./upstream.js";

interface Heard {
  readonly upstream: Upstream;
  readonly lines: readonly string[];
  readonly ends: readonly string[];
  readonly said: readonly string[];
  /** Settles when a line has come. */
  line(): Promise<void>;
}

function hear(config: StartedUpstream, masks: Masks = createMasks()): Heard {
  const [lines, ends, said]: string[][] = [[], [], []];
  const waiting: (() => void)[] = [];
  const upstream = startUpstream(config, {
    clock: systemClock,
    masks,
    turns: createLoopTurns(),
    awaits: () => false,
    onLine: (line) => {
      lines?.push(line.toString());
      for (const tell of waiting.splice(0)) tell();
    },
    onOversize: () => {},
    onEnd: ({ reason }) => ends?.push(reason),
    onPressure: () => {},
    log: (line) => said?.push(line),
  });
  return {
    upstream,
    lines: lines ?? [],
    ends: ends ?? [],
    said: said ?? [],
    line: () => new Promise((resolve) => waiting.push(resolve)),
  };
}

/** A real process that somebody else starts, when told to. */
function startable(script: string): { readonly config: StartedUpstream; readonly go: () => void } {
  let go: () => void = () => {};
  const told = new Promise<void>((resolve) => {
    go = resolve;
  });
  const start = async (): Promise<ServerProcess> => {
    await told;
    return await startCommand({
      name: "s",
      command: ["/bin/sh", "-c", script],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
    }).process;
  };
  return { config: { name: "s", start }, go };
}

function until(isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => void (isSo() ? resolve() : setImmediate(look));
    look();
  });
}

describe("a server that its caller starts", () => {
  it("takes what is released from when it is started on, and nothing of before", async () => {
    const { config, go } = startable("cat");
    const learnt: unknown[] = [];
    const start = async (): Promise<ServerProcess> => ({
      ...(await config.start()),
      learn: (release) => void learnt.push(release),
    });
    const [before, early, late, after] = ["a", "b", "c", "d"].map((name) => ({
      masker: () => createMasker([new Secret({ name, value: `value-of-${name}` })]),
    }));
    const masks = createMasks();
    masks.learn(before as Known);
    const heard = hear({ ...config, start }, masks);
    masks.learn(early as Known);
    heard.upstream.send(Buffer.from("{}\n"));
    const line = heard.line();
    go();
    await line;
    masks.learn(late as Known);
    await heard.upstream.close();
    masks.learn(after as Known);
    expect(learnt).toEqual([early, late]);
  });

  it("gets what it was sent before it ran, in order, and its stderr is logged", async () => {
    const { config, go } = startable("echo up >&2; cat");
    const { upstream, lines, said } = hear(config);
    for (let each = 0; each < 2_000; each += 1) upstream.send(Buffer.from(`{"n":${each}}\n`));
    go();
    await upstream.close();
    expect(lines.map((line) => JSON.parse(line).n)).toEqual(
      Array.from({ length: 2_000 }, (_, each) => each),
    );
    expect(said).toEqual(["[s] up"]);
  });

  it("is told of as lost where it does not start, or ends", async () => {
    const refused = hear({ name: "s", start: () => Promise.reject(new Error("no sandbox")) });
    await refused.upstream.close();
    const lost = hear({ name: "s", start: () => Promise.reject(new Error("no sandbox")) });
    await new Promise((resolve) => setImmediate(resolve));
    expect([refused.ends, lost.ends]).toEqual([[], ['Cannot start server "s": no sandbox']]);
    const { config, go } = startable("echo '{}'; exit 3");
    const ended = hear(config);
    const line = ended.line();
    go();
    await line;
    await until(() => ended.ends.length > 0);
    expect(ended.ends).toEqual(['Server "s" exited with code 3']);
  });

  it("says nothing while it is paused, also where that came before it ran", async () => {
    const { config, go } = startable("echo '{\"n\":1}'; echo spoke >&2; cat >/dev/null");
    const { upstream, lines, line, said } = hear(config);
    upstream.pause(true);
    const came = line();
    go();
    await until(() => said.length > 0);
    expect(lines).toEqual([]);
    upstream.pause(false);
    await came;
    expect(lines).toEqual(['{"n":1}\n']);
    await upstream.close();
  });

  it("is stopped and killed where it does not go by itself", async () => {
    const done: string[] = [];
    let end: () => void = () => {};
    const exited = new Promise<{ readonly code: undefined; readonly signal: string }>((resolve) => {
      end = () => resolve({ code: undefined, signal: "SIGKILL" });
    });
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const kill = (): void => {
      done.push("kill");
      stdout.end();
      stderr.end();
      end();
    };
    const { upstream } = hear({
      name: "s",
      start: () =>
        Promise.resolve({ stdin, stdout, stderr, exited, stop: () => done.push("stop"), kill }),
    });
    await upstream.close();
    expect([done, await text(stdin)]).toEqual([["stop", "kill"], ""]);
  });
});
