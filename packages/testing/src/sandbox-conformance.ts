/**
 * Conformance of a Sandbox: what it says of itself, how it starts and ends an agent, and what it
 * hands to it. Whether it holds what it claims is the escape kit's question. Source:
 * spec/sandbox.md.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import {
  isConsentError,
  type Sandbox,
  type SandboxAspect,
  type SandboxedProcess,
  type SandboxReport,
  type SandboxSpawnOptions,
} from "@acp/core";
import type { ConformanceCase } from "./conformance.js";

/** A sandbox that can start on this host, and what the suite needs with it. */
export interface SandboxFixture extends AsyncDisposable {
  /** The sandbox to test; its `probe()` says what it claims. */
  readonly sandbox: Sandbox<Socket>;
  /** A directory of the test's own, for files that are shown to the agent. */
  readonly directory: string;
}

/** Options of {@link sandboxConformance}. */
export interface SandboxConformanceOptions {
  /** Path of node inside the sandbox; this process's own unless given. */
  readonly node?: string;
  /** The agent's `PATH`; `/usr/local/bin:/usr/bin:/bin` unless given. */
  readonly path?: string;
  /**
   * True if the sandbox holds one agent at a time, as one made of a system user does; false unless
   * given.
   */
  readonly isForOne?: boolean;
  /** How long the sandbox may take for anything, in milliseconds; 30,000 unless given. */
  readonly patienceMs?: number;
}

interface Under extends Required<SandboxConformanceOptions> {
  readonly sandbox: Sandbox<Socket>;
  readonly directory: string;
}

type Check = (under: Under) => Promise<void>;

const ASPECTS: Readonly<Record<SandboxAspect, true>> = {
  tcp: true,
  udp: true,
  icmp: true,
  raw: true,
  ipv6: true,
  dns: true,
  path_sockets: true,
  abstract_sockets: true,
  vsock: true,
  io_uring: true,
  child_processes: true,
  static_binaries: true,
  files: true,
  signals: true,
  resource_caps: true,
};
const NETWORK: readonly SandboxAspect[] = [
  "tcp",
  "udp",
  "icmp",
  "raw",
  "ipv6",
  "dns",
  "vsock",
  "io_uring",
];

/** Says something to the proxy, and waits for its answer. */
const SAY =
  "const say = (text) => require('node:net').connect(Number(process.env.PORT), '127.0.0.1').end(text);";
const FOR_EVER = "setInterval(() => {}, 1000);";

/** An agent that runs, and what it has said to the proxy: one text a connection. */
interface Started {
  readonly agent: SandboxedProcess;
  readonly heard: string[];
}

async function start(
  under: Under,
  code: string,
  options: Partial<SandboxSpawnOptions<Socket>> = {},
): Promise<Started> {
  const heard: string[] = [];
  const agent = await under.sandbox.spawn([under.node, "-e", `${SAY}${code}`], {
    onConnection: (socket) => {
      text(socket).then(
        (said) => heard.push(said),
        () => undefined,
      );
      socket.end();
    },
    env: ({ port, files }) => ({ PATH: under.path, PORT: String(port), FILES: files }),
    ...options,
  });
  return { agent, heard };
}

async function within<T>({ patienceMs }: Under, what: string, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  try {
    const late = sleep(patienceMs, undefined, { signal: done.signal }).then(() => {
      throw new assert.AssertionError({ message: `${what} took longer than ${patienceMs} ms` });
    });
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}

async function hears(under: Under, { heard }: Started): Promise<string> {
  const wait = async (): Promise<string> => {
    for (;;) {
      const [first] = heard;
      if (first !== undefined) return first;
      await sleep(10);
    }
  };
  return within(under, "a word of the agent", wait());
}

/** Runs an agent to its end and gives its first word. */
async function run(
  under: Under,
  code: string,
  options?: Partial<SandboxSpawnOptions<Socket>>,
): Promise<string> {
  const started = await start(under, code, options);
  const word = await hears(under, started);
  await within(under, "the agent's end", started.agent.exited);
  await started.agent.close();
  return word;
}

function assertReport(report: SandboxReport): void {
  assert.deepEqual(
    report.items.map(({ aspect }) => aspect).toSorted(),
    Object.keys(ASPECTS).toSorted(),
    "every aspect has one item",
  );
  const lines = [report, ...report.items].flatMap(({ reason, fix }) => [
    reason,
    ...(fix === undefined ? [] : [fix]),
  ]);
  for (const line of lines) assert.match(line, /^[^\n]+$/, "a reason is one line");
  const weak = report.items.filter(
    ({ aspect, enforcement }) => NETWORK.includes(aspect) && enforcement !== "enforced",
  );
  if (report.level === "full") assert.deepEqual(weak, [], "full leaves no way to the network");
  if (!report.isAvailable) assert.equal(report.level, "none", "what cannot start has no level");
  if (report.dns === "open")
    assert.notEqual(report.items.find(({ aspect }) => aspect === "dns")?.enforcement, "enforced");
}

async function assertRefused(
  under: Under,
  code: string,
  starting: Promise<SandboxedProcess>,
): Promise<void> {
  const agent = await within(
    under,
    "a refusal",
    starting.catch((error: unknown) => {
      assert.ok(isConsentError(error), `rejected with ${String(error)}`);
      assert.equal(error.code, code);
    }),
  );
  await agent?.close();
  assert.equal(agent, undefined, "an agent was started");
}

const CHECKS: Readonly<Record<string, Check>> = {
  "name is one that the audit log takes": async ({ sandbox }) =>
    assert.match(sandbox.name, /^[a-z][a-z0-9-]*$/),
  "probe() has one line for every aspect, and a level that they bear out": async ({ sandbox }) => {
    const report = await sandbox.probe();
    assert.ok(report.isAvailable, report.reason);
    assertReport(report);
  },
  "probe() says the same twice": async ({ sandbox }) =>
    assert.deepEqual(await sandbox.probe(), await sandbox.probe()),
  "spawn() reports what is in force for the agent, no weaker than probe() said": async (under) => {
    const { agent } = await start(under, "");
    const probed = await under.sandbox.probe();
    assertReport(agent.report);
    assert.equal(agent.report.level, probed.level);
    await agent.close();
  },
  "spawn() gives the exit code": async (under) => {
    const { agent } = await start(under, "process.exit(7)");
    assert.deepEqual(await within(under, "the agent's end", agent.exited), {
      code: 7,
      signal: undefined,
    });
    await agent.close();
  },
  "spawn() takes the agent's connections, and both sides are heard": async (under) => {
    const onConnection = (socket: Socket): void =>
      void socket.on("error", () => undefined).pipe(socket);
    const code =
      "const s = require('node:net').connect(Number(process.env.PORT), '127.0.0.1', () => s.write('echo'));";
    const { agent } = await start(
      under,
      `${code} s.on('data', (d) => process.exit(String(d) === 'echo' ? 9 : 1))`,
      { onConnection },
    );
    assert.deepEqual(await within(under, "the agent's end", agent.exited), {
      code: 9,
      signal: undefined,
    });
    await agent.close();
  },
  "spawn() keeps the connections of two agents apart": async (under) => {
    if (under.isForOne) return;
    const [first, second] = await Promise.all([
      start(under, "say('first')"),
      start(under, "say('second')"),
    ]);
    assert.deepEqual([await hears(under, first), await hears(under, second)], ["first", "second"]);
    await Promise.all([first.agent.close(), second.agent.close()]);
    assert.deepEqual([first.heard, second.heard], [["first"], ["second"]]);
  },
  "spawn() passes the environment that it was given and nothing of the manager's": async (
    under,
  ) => {
    process.env["ACP_CONFORMANCE_SECRET"] = "leaked";
    try {
      const env: unknown = JSON.parse(await run(under, "say(JSON.stringify(process.env))"));
      assert.ok(typeof env === "object" && env !== null);
      assert.equal(Object.hasOwn(env, "PORT"), true, "what was given is missing");
      assert.equal(
        JSON.stringify(env).includes("leaked"),
        false,
        "the manager's own environment is passed on",
      );
    } finally {
      delete process.env["ACP_CONFORMANCE_SECRET"];
    }
  },
  "spawn() shows files, which the agent cannot change where files are held at all": async (
    under,
  ) => {
    const file = join(under.directory, "shown");
    await writeFile(file, "as it was", { mode: 0o644 });
    const code = `const fs = require('node:fs'), f = process.env.FILES + '/name.txt';
      const was = fs.readFileSync(f, 'utf8'); let ended = 'refused';
      try { fs.appendFileSync(f, '!'); ended = 'changed'; } catch {}
      say(was + ', ' + ended)`;
    const said = await run(under, code, { files: { "name.txt": file } });
    const holdsFiles = (await under.sandbox.probe()).items.some(
      ({ aspect, enforcement }) => aspect === "files" && enforcement !== "none",
    );
    if (holdsFiles) assert.equal(said, "as it was, refused");
    else assert.match(said, /^as it was, /);
  },
  "spawn() refuses an empty command": async (under) => {
    await assertRefused(
      under,
      "options_invalid",
      under.sandbox.spawn([], { onConnection: () => undefined, env: () => ({}) }),
    );
  },
  "spawn() never starts anything below the required level": async (under) => {
    const { level } = await under.sandbox.probe();
    if (level === "full") return;
    await assertRefused(
      under,
      "sandbox_unavailable",
      start(under, FOR_EVER, { requiredLevel: "full" }).then(({ agent }) => agent),
    );
  },
  "spawn() with a program that is not there ends, with a refusal or a code": async (under) => {
    const starting = under.sandbox.spawn(["/nowhere/at/all"], {
      onConnection: () => undefined,
      env: () => ({ PATH: under.path }),
    });
    const agent = await within(under, "the start", starting).catch((error: unknown) => {
      assert.ok(isConsentError(error, "sandbox_failed"), String(error));
    });
    if (agent === undefined) return;
    assert.notDeepEqual(await within(under, "the agent's end", agent.exited), {
      code: 0,
      signal: undefined,
    });
    await agent.close();
  },
  "kill() sends a signal to the agent": async (under) => {
    const started = await start(under, `say('ready');${FOR_EVER}`);
    await hears(under, started);
    started.agent.kill("SIGTERM");
    assert.deepEqual(await within(under, "the agent's end", started.agent.exited), {
      code: undefined,
      signal: "SIGTERM",
    });
    await started.agent.close();
  },
  "close() ends the agent and everything that it started, and may be called again": async (
    under,
  ) => {
    const child =
      "setInterval(() => require('node:net').connect(Number(process.env.PORT), '127.0.0.1').on('error', () => {}).end('child'), 20)";
    const started = await start(
      under,
      `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: 'ignore' }).unref();${FOR_EVER}`,
    );
    assert.equal(await hears(under, started), "child");
    await within(under, "close()", Promise.all([started.agent.close(), started.agent.close()]));
    await within(under, "the agent's end", started.agent.exited);
    const words = started.heard.length;
    await sleep(200);
    assert.equal(started.heard.length, words, "somebody still talks to the proxy");
  },
  "an agent's end is the end of what it started": async (under) => {
    const child =
      "setInterval(() => require('node:net').connect(Number(process.env.PORT), '127.0.0.1').on('error', () => {}).end('child'), 20)";
    const spawned = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { detached: true, stdio: 'ignore' })`;
    const started = await start(
      under,
      `${spawned}.unref(); process.on('SIGTERM', () => process.exit(3)); ${FOR_EVER}`,
    );
    await hears(under, started);
    started.agent.kill("SIGTERM");
    assert.deepEqual(await within(under, "the agent's end", started.agent.exited), {
      code: 3,
      signal: undefined,
    });
    const words = started.heard.length;
    await sleep(200);
    assert.ok(started.heard.length <= words + 1, "a child outlived the agent");
    await started.agent.close();
  },
  "the signal of spawn() ends the agent": async (under) => {
    const controller = new AbortController();
    const started = await start(under, `say('ready');${FOR_EVER}`, { signal: controller.signal });
    await hears(under, started);
    controller.abort();
    await within(under, "the agent's end", started.agent.exited);
    await started.agent.close();
  },
  "a signal that was given before lets no agent live": async (under) => {
    const started = await start(under, `say('ready');${FOR_EVER}`, {
      signal: AbortSignal.abort(),
    }).catch((error: unknown) => {
      assert.ok(isConsentError(error) || error instanceof Error, String(error));
    });
    if (started === undefined) return;
    await within(under, "the agent's end", started.agent.exited);
    await started.agent.close();
  },
};

/**
 * The conformance suite for sandboxes.
 *
 * @param makeSandbox - Makes a fresh sandbox for each case.
 */
export function sandboxConformance(
  makeSandbox: () => Promise<SandboxFixture>,
  {
    node = process.execPath,
    path = "/usr/local/bin:/usr/bin:/bin",
    isForOne = false,
    patienceMs = 30_000,
  }: SandboxConformanceOptions = {},
): readonly ConformanceCase[] {
  return Object.entries(CHECKS).map(([name, check]) => ({
    name,
    async run() {
      await using fixture = await makeSandbox();
      await check({
        sandbox: fixture.sandbox,
        directory: fixture.directory,
        node,
        path,
        isForOne,
        patienceMs,
      });
    },
  }));
}
