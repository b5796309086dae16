/**
 * The uid sandbox in a world of its own: a network with an outside beyond a cable, whose listeners
 * say what got out. Every way out is first seen to work without rules, or with the rules as one
 * would write them first (S1 §2.2 as it stands).
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { hostNeed } from "@acp/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { createUidSandbox } from "../src/uid.js";

const UNSHARE = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
/** A shell buries those that it adopts, as Node does not. */
const INIT = ["sh", "-c", '"$@"; exit', "sh"];

const need = hostNeed("root, nft, a cable between two network namespaces, cc", () => {
  if (process.getuid?.() !== 0) return "not root";
  const script =
    "nft list tables && ip link add in0 type veth peer name out0 && cc --version && perl -e 1 && command -v newuidmap && command -v bash";
  const { status, stderr } = spawnSync("unshare", [...UNSHARE, "sh", "-c", script], {
    encoding: "utf8",
  });
  return status === 0 ? undefined : `one of them is missing: ${stderr.trim()}`;
});
const note = need.run ? "" : ` [${need.reason}]`;

interface Played {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

const played = new Map<string, Played>();
let world: ChildProcess | undefined;

beforeAll(async () => {
  if (!need.run) return;
  const programs = ["uid-world", "uid-manager", "uid-outside"].map((name) =>
    bundled(new URL(`fixtures/${name}.ts`, import.meta.url)),
  );
  const [program = ""] = await Promise.all(programs);
  const child = spawn("unshare", [...UNSHARE, "--", ...INIT, process.execPath, program], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  world = child;
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  for await (const line of createInterface({ input: child.stdout })) {
    const { name, ...one }: Played & { readonly name: string } = JSON.parse(line);
    played.set(name, one);
  }
  if (!played.has("leftovers")) throw new Error(`the world ended early: ${complaints}`);
});

afterAll(() => void world?.kill("SIGKILL")); // with all that runs in it

/** What came of a scenario. */
function outcome(name: string): Readonly<Record<string, unknown>> {
  const { result, error } = played.get(name) ?? { error: "it was not played" };
  if (result === undefined) throw new Error(`"${name}": ${error}`);
  return result;
}

const refusedAs = (text: string): unknown => ({
  code: "sandbox_unavailable",
  message: expect.stringContaining(text),
});
const WAYS = [
  "dns",
  "fastopen",
  "loopback-tcp",
  "loopback-udp",
  "mapped",
  "own-address",
  "tcp4",
  "tcp6",
  "udp4",
  "udp6",
];

describe.runIf(need.run)(`createUidSandbox()${note}`, () => {
  it("has something to hold: without rules every attempt arrives", () => {
    expect(outcome("free")).toEqual({ got: expect.arrayContaining(WAYS), pings: 5 });
  });

  it.each(["rules and a filter", "rules on uid and cgroup", "rules on a uid alone"])(
    "lets nothing out, held by %s",
    (what) => {
      expect(outcome(`held by ${what}`)).toMatchObject({ said: ["over"], got: [], pings: 0 });
    },
  );

  it("says so where the rules cannot name a cgroup", () => {
    expect(outcome("held by rules on a uid alone")["why"]).toContain(
      "there is no cgroup version 2",
    );
  });

  it("opens the name servers only when it is told to, and says so", () => {
    expect(outcome("name servers")).toEqual({
      level: "partial",
      dns: "open",
      item: "none",
      said: ["over"],
      got: ["dns"],
      pings: 0,
    });
  });

  it("lets nothing in", () => {
    expect(outcome("inbound")).toEqual({ freeArrived: true, isReady: true, said: ["ready"] });
  });

  it("refuses a user with subordinate uids, and holds one who gets them later", () => {
    const refused = refusedAs("usermod --del-subuids 300000-365535 acptest");
    expect(outcome("subordinate uids")).toEqual({
      isOver: true,
      naive: ["other"],
      held: [],
      refused,
    });
  });

  it("closes descriptors that the manager was started with", () => {
    const held = { isOver: true, got: [] };
    expect(outcome("inherited descriptors")).toEqual({
      naive: ["inherited"],
      helper: held,
      bare: held,
    });
  });

  it("refuses a user who may have a connection that is older than the rules", () => {
    expect(outcome("an older connection")).toEqual({
      naive: true,
      refused: refusedAs("run already"),
      tables: [],
    });
  });

  it.each(["flush", "delete", "weaken", "sleep"])(
    "ends the agent when another program takes its rules away: %s",
    (what) => {
      const ended = {
        exit: { signal: "SIGKILL" },
        notices: [
          expect.stringMatching(
            /^The agent was ended: (process \d+ \("nft"\)|another program) changed the rules/u,
          ),
        ],
        tables: [],
        leaked: 0, // the routes are still closed
      };
      expect(outcome("another program")[what]).toMatchObject(ended);
    },
  );

  it("is not disturbed by other tables", () => {
    expect(outcome("another program's own table")).toEqual({
      exit: { signal: "SIGTERM" },
      notices: [],
    });
  });

  it("ends with its manager, stays closed, and is cleaned up when nothing of the user runs", () => {
    const table = [expect.stringMatching(/^table inet acp_61041_/u)];
    expect(outcome("crash")).toEqual({
      isDead: true,
      left: table,
      code: 1,
      refused: refusedAs("run already"),
      stillLeft: table,
      exit: { code: 3 },
      after: [],
      leaked: [],
    });
  });

  it("keeps the port: the agent cannot take it, and nobody else can use it", () => {
    expect(outcome("port")).toEqual({
      isRefused: true,
      codes: [1, 1],
      said: ["squat-9"],
      afterwards: 1,
    });
  });

  it("holds whatever runs in the agent's cgroup, root too", () => {
    expect(outcome("cgroup")).toEqual({ moved: [], stayed: ["tcp", "udp"], isGone: true });
  });

  it("gives the agent its user, its environment, three descriptors and nothing else", () => {
    const [status, names, descriptors] = [outcome("life")["said"]].flat();
    expect(status).toBe(
      "Uid: 61045 61045 61045 61045;Groups:  ;CapInh: 0000000000000000;CapPrm: 0000000000000000;CapEff: 0000000000000000;" +
        "CapBnd: 0000000000000000;CapAmb: 0000000000000000;NoNewPrivs: 1;Seccomp: 2;",
    );
    expect(names).toBe("HOME LC_ALL PATH PORT PWD SHLVL _"); // the last three are the shell's
    expect(descriptors).toBe("0 1 2 3"); // the last one is the listing's
  });

  it("ends what the agent leaves behind, and passes exit codes and signals through", () => {
    expect(outcome("life")).toMatchObject({
      exit: { code: 7 },
      left: [],
      caught: [true, { code: 5 }],
      ended: { signal: "SIGTERM" },
    });
  });

  it("refuses where the agent could read or replace what must stay hidden, or not do its work", () => {
    expect(outcome("places")).toMatchObject({
      open: refusedAs('"/run/open" must stay hidden'),
      replaceable: refusedAs('can be replaced by that user through "/run/home"'),
      unwritable: refusedAs('"/srv/work" is not writable for that user'),
    });
  });

  it("keeps a workspace read-only where it was asked to, and hidden places as they are", () => {
    expect(outcome("places")).toMatchObject({
      said: [expect.stringContaining("Permission denied"), "code-1", "moved-1"],
      written: ["code-0"],
    });
  });

  it("refuses root, nobody, strangers, and a level that it does not have", () => {
    expect(outcome("users")).toMatchObject({
      root: { code: "options_invalid" },
      unknown: { code: "options_invalid" },
      none: refusedAs("a user of its own"),
      level: refusedAs('at level "full"'),
    });
  });

  it("probes what it would enforce", () => {
    expect(outcome("users")["probe"]).toMatchObject({
      sandbox: "uid",
      isAvailable: true,
      level: "uid",
      dns: "closed",
    });
  });

  it("loads the rules again when the guard ends the agent, and deletes them at the end", () => {
    const first = ["table inet acp_61040_ab"];
    const reasons = [expect.stringMatching(/changed the rules that hold the agent 0$/u)];
    expect(outcome("guard")).toEqual({ first, reasons, isBack: true, after: [] });
  });

  it("leaves nothing behind", () => {
    expect(outcome("leftovers")).toEqual({
      tables: [],
      routes: [],
      cgroups: [],
      sessions: [],
      running: [],
    });
  });
});

describe("createUidSandbox()", () => {
  it("is not available, and does not start, where the manager is not root", async () => {
    const asSomebody = vi.spyOn(process, "getuid").mockReturnValue(1000);
    try {
      const sandbox = createUidSandbox({ user: 61_000 });
      expect(await sandbox.probe()).toMatchObject({
        isAvailable: false,
        level: "none",
        reason: expect.stringContaining("only root can load the rules"),
      });
      const start = sandbox.spawn(["true"], { onConnection: () => {}, env: () => ({}) });
      await expect(start).rejects.toMatchObject({ code: "sandbox_unavailable" });
    } finally {
      asSomebody.mockRestore();
    }
  });
});
