/**
 * What people run: `acp mcp` is served by the resident of its home unless somebody chose otherwise,
 * a gate of its own beside it shares what people decided, and the commands that change a home act
 * on a resident that runs.
 */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { BIN, RESIDENT, acp, scratch, startAcp } from "./harness.js";
import type { Running } from "./harness.js";
import { answering } from "./mcp-client.js";
import { openPane, words } from "./pane.js";
import { INITIALIZE, residentWorld, startsOf, textOf } from "./resident-world.js";
import type { Answer, ResidentWorld } from "./resident-world.js";

const ALONE = { args: ["--alone"] } as const;
const SERVER = fileURLToPath(new URL("fixtures/journal-server.mjs", import.meta.url));
const OFFERS = `version: "1"
default_action: deny
rules:
  - { id: acts, match: { tool: act }, action: allow }
  - { id: asks, match: { tool: ask }, action: ask, offers: [{ covers: tool, ttl: 600, uses: 50 }] }
`;
const HELLO = { jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE };

const said = (answer: Answer): string => textOf(answer);
const approvers = async (at: ResidentWorld): Promise<unknown> =>
  JSON.parse((await at.acp(["resident", "status", "--json"])).stdout).approvers;

/** `acp mcp` as a client starts it, after it said hello. */
function startMcp(at: ResidentWorld, options: readonly string[]): Running {
  const running = startAcp(["mcp", "--home", at.home, ...options], {
    env: RESIDENT,
    isDetached: true,
  });
  running.child.stdin?.write(`${JSON.stringify(HELLO)}\n`);
  return running;
}

describe("acp mcp by default", () => {
  it("ends with exit 0 when its client closes, and on a signal", async () => {
    await using at = await residentWorld();
    for (const end of [
      ({ child }: Running) => child.stdin?.end(),
      ({ child }: Running) => child.kill("SIGTERM"),
    ]) {
      await using running = startMcp(at, ["--", process.execPath, SERVER, at.journal]);
      await running.seen("stdout", '"serverInfo"');
      end(running);
      expect(await running.ended).toMatchObject({ code: 0, signal: null });
    }
    expect(await startsOf(at.home)).toBe(1);
    expect(JSON.parse((await at.acp(["audit", "verify", "--json"])).stdout).ok).toBe(true);
  });

  it("fails with its only server, and with a configuration that does not load, as a gate of its own does", async () => {
    await using at = await residentWorld();
    await using ends = startMcp(at, ["--", process.execPath, "-e", "process.exit(3)"]);
    expect((await ends.ended).code).toBe(EXIT_CODES.failed.code);
    const config = join(at.path, "none.yml");
    await writeFile(config, 'version: "1"\nproxxy: {}\n', { mode: 0o600 });
    await using wrong = startMcp(at, ["--config", config, "--", "x"]);
    await wrong.seen("stdout", "config_invalid");
    wrong.child.stdin?.end();
    const { code, stderr } = await wrong.ended;
    expect([code, stderr]).toEqual([
      EXIT_CODES.invalid.code,
      expect.stringContaining("none.yml:2:1: "),
    ]);
  });

  it("names --alone where it may not start a resident, and --alone has a gate of its own there", async () => {
    await using at = await residentWorld();
    const env = { ACP_SANDBOX: "namespace" };
    await using held = await at.client({ env });
    const answer = await held.call("act", { n: 1 });
    expect(answer.error?.message).toMatch(/run this outside: acp resident serve .*acp mcp --alone/);
    await using alone = await at.client({ env, ...ALONE });
    expect(said(await alone.call("act", { n: 2 }))).toBe("2");
    expect(await readdir(join(at.home, "run"))).not.toContain("agents");
  });

  it("is served with --tty where there is no terminal, says so, and takes no two forms at once", async () => {
    await using at = await residentWorld();
    await using tty = startMcp(at, ["--tty", "--", process.execPath, SERVER, at.journal]);
    await tty.seen("stdout", '"serverInfo"');
    await tty.seen("stderr", "nobody is asked on this terminal");
    expect(await approvers(at)).toBe(0);
    tty.child.stdin?.end();
    expect(await tty.ended).toMatchObject({ code: 0 });
    const both = await acp(["mcp", "--alone", "--resident", "--home", at.home, "--", "x"]);
    expect(both).toMatchObject({
      code: EXIT_CODES.usage.code,
      stderr: expect.stringContaining("--alone"),
    });
    // The thin client is not reached, and nobody chose a gate of its own.
    const late = await acp(["--json", "mcp", "--home", at.home, "--", "x"], { env: RESIDENT });
    expect(late).toMatchObject({
      code: EXIT_CODES.usage.code,
      stderr: expect.stringContaining("with mcp as its first word"),
    });
  });
});

describe("a gate of its own beside the resident", () => {
  const pair = async () => {
    const at = await residentWorld(OFFERS);
    return { at, served: await at.client(), alone: await at.client(ALONE) };
  };

  it("has a log of its own, and a grant, its end, and pauses bind both before their next decision", async () => {
    const { at, served, alone } = await pair();
    await using _at = at;
    await using _served = served;
    await using _alone = alone;
    const grantId = (request: { readonly offers?: readonly { readonly id: string }[] }) =>
      request.offers?.[0]?.id;
    await answering(
      at.home,
      (request) => {
        const offer = grantId(request);
        return { decision: "approved", ...(offer !== undefined && { grantId: offer }) };
      },
      async () => expect(said(await served.call("ask", { n: 1 }))).toBe("1"),
    );
    // Nobody is there any more: only the grant lets these through.
    expect(said(await alone.call("ask", { n: 2 }))).toBe("2");
    expect(said(await served.call("ask", { n: 3 }))).toBe("3");
    const both = async (name: string, n: number): Promise<readonly string[]> => [
      said(await served.call(name, { n })),
      said(await alone.call(name, { n })),
    ];
    const paused = "Not executed (agent_paused)";
    await at.acp(["pause", "--agent", "mcp-client"]);
    for (const text of await both("act", 4)) expect(text).toContain(paused);
    await at.acp(["pause", "--agent", "mcp-client", "--off"]);
    expect(await both("act", 5)).toEqual(["5", "5"]);
    expect((await at.acp(["grants", "revoke", "--all"])).code).toBe(0);
    for (const text of await both("ask", 6)) expect(text).toContain("Not executed");
    await at.acp(["pause"]);
    for (const text of await both("ask", 7)) expect(text).toContain("Not executed (paused)");
    expect(at.done()).toEqual(["1", "2", "3", "5", "5"]);
    expect(await at.logs()).toEqual(["audit.2.jsonl", "audit.3.jsonl", "audit.jsonl"]);
    expect(JSON.parse((await at.acp(["audit", "verify", "--json"])).stdout).ok).toBe(true);
  });
});

describe("an inbox", () => {
  it("starts the resident, is there for an agent's first question, and keeps it", async () => {
    await using at = await residentWorld();
    await using inbox = startAcp(["inbox", "--port", "0", "--home", at.home], {
      env: RESIDENT,
    });
    await inbox.seen("stdout", "sign in at");
    await vi.waitFor(async () => expect(await approvers(at)).toBe(1), {
      timeout: 120_000,
      interval: 100,
    });
    await using client = await at.client();
    const asked = client.call("ask", { n: 1 });
    const open = async (): Promise<string> => {
      const { pending } = JSON.parse((await at.acp(["pending", "--json"])).stdout);
      expect(pending).toHaveLength(1);
      return String(pending[0].id);
    };
    const id = await vi.waitFor(open, { timeout: 120_000, interval: 100 });
    expect((await at.acp(["approve", "--once", id, "--approve"])).code).toBe(0);
    expect(said(await asked)).toBe("1");
    expect(await startsOf(at.home)).toBe(1);
  });

  it("goes on where it may start none, and says why", async () => {
    await using at = await residentWorld();
    await using inbox = startAcp(["inbox", "--port", "0", "--home", at.home], {
      env: { ...RESIDENT, ACP_SANDBOX: "namespace" },
    });
    await inbox.seen("stdout", "sign in at");
    expect(inbox.stderr()).toMatch(/There is no resident gate of .*are still joined/);
  });
});

describe("acp approve", () => {
  it("starts the resident, is there for an agent's first question, and stays when it ends", async () => {
    await using at = await residentWorld();
    // As people run it: tests start clients of residents only where they say so.
    const command = `env -u ACP_ALONE ${words(process.execPath, BIN, "approve", "--home", at.home)}`;
    await using pane = await openPane(command, at.path);
    await pane.until(/Ctrl-C ends it/);
    await using client = await at.client();
    const asked = client.call("ask", { n: 1 });
    await pane.until(/ask[\s\S]*\n>/);
    await pane.answer("a");
    expect(said(await asked)).toBe("1");
    expect(await startsOf(at.home)).toBe(1);
    process.kill(at.pid(), "SIGKILL");
    // Nobody asks for it; the next one does, and the same person is there.
    const again = client.call("ask", { n: 2 });
    await pane.until(/"n": 2[\s\S]*\n>/);
    await pane.answer("a");
    expect(said(await again)).toBe("2");
    await pane.press("C-c");
    await pane.until(/exit 0/);
  });
});

describe("a resident that runs", () => {
  it("goes on in the same log when config.yml is edited", async () => {
    await using at = await residentWorld();
    await using one = await at.client();
    expect(said(await one.call("act", { n: 1 }))).toBe("1");
    one.child.stdin?.end();
    await one.ended;
    const config = 'version: "1"\ndefaults: { timeout_seconds: 7 }\n';
    await writeFile(join(at.home, "config.yml"), config, { mode: 0o600 });
    await using two = await at.client();
    expect(said(await two.call("act", { n: 2 }))).toBe("2");
    expect(await at.logs()).toEqual(["audit.jsonl"]);
    expect(await startsOf(at.home)).toBe(1);
  });

  it("heeds what commands change, and is named by those that need the home for themselves", async () => {
    await using at = await residentWorld();
    const secrets = await scratch();
    await using _secrets = secrets;
    const typed = join(secrets.path, "words");
    await writeFile(typed, "correct horse battery\n", { mode: 0o600 });
    await at.acp(["init"]);
    await using client = await at.client();
    const pid = at.pid();
    expect(said(await client.call("act", { n: 1 }))).toBe("1");
    expect((await at.acp(["keys", "rotate"])).code).toBe(0);
    expect(said(await client.call("act", { n: 2 }))).toBe("2");
    expect(client.stderr()).toContain("The keys were rotated");
    const archive = join(secrets.path, "home.acp");
    const env = { ACP_PASSPHRASE_FILE: typed };
    expect((await acp(["backup", archive, "--home", at.home], { env })).code).toBe(0);
    for (const command of [
      ["move", join(at.path, "elsewhere")],
      ["restore", archive, "--yes"],
    ]) {
      const { code, stderr } = await acp([...command, "--home", at.home], { env });
      expect(code).not.toBe(0);
      expect(stderr).toContain(String(pid));
      expect(stderr).toContain("acp resident stop");
    }
    const policy = join(at.home, "policy.yml");
    const text = await readFile(policy, "utf8");
    await writeFile(policy, text.replaceAll("action: allow", "action: deny"));
    await vi.waitFor(
      async () => expect(said(await client.call("act", { n: 3 }))).toContain("policy_denied"),
      { timeout: 120_000, interval: 100 },
    );
    expect((await at.acp(["doctor"])).code).toBe(0);
    expect(JSON.parse((await at.acp(["audit", "verify", "--json"])).stdout).ok).toBe(true);
    expect(at.pid()).toBe(pid);
  });
});
