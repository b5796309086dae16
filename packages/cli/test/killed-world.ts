/**
 * A home with a real `acp mcp` that can be killed and started again, a real `acp inbox`, and the
 * page's own model before it. What ran is what the MCP server wrote into a file; nothing is
 * simulated but the agent, and the browser around the page's modules.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readAuditLog } from "@acp/audit";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { type Running, acp, scratch, startAcp } from "./harness.js";
import { type PageModel, openPageModel } from "./page-model.js";

const SERVER = fileURLToPath(new URL("fixtures/acting-server.mjs", import.meta.url));
const POLICY = `version: "1"
rules:
  - match: { tool: act }
    action: ask
    level: low
`;
const CONFIG = `version: "1"
defaults:
  prompt_limit: none
`;
const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
};

/** What one call does: how long until it is answered. */
export interface Act {
  readonly ms: number;
}

/** What the logs say became of one question. */
export type Fate =
  | "open"
  | "denied"
  | "expired"
  | "cancelled"
  | "waiting"
  | "started"
  | "ran"
  | "failed"
  | "not run"
  | "unknown";

export interface KilledWorld extends AsyncDisposable {
  readonly home: string;
  readonly page: PageModel;
  /** Number of the call that a question is about. */
  numberOf(id: string): number;
  /**
   * Waits until the log has this many more lines, or all that was asked is answered or `isOver`;
   * then kills the gate.
   */
  killAfter(lines: number, isOver: () => boolean): Promise<void>;
  kill(): Promise<void>;
  /** The agent gives all of its calls up: a yes to one is kept for its retry. */
  leave(): Promise<void>;
  /** Approves all of them; each yes holds for so long. */
  approve(validMs: number): Promise<void>;
  /** Starts the gate anew; the agent repeats its calls where it is told to. */
  restart(repeats: boolean): Promise<void>;
  fates(): Promise<ReadonlyMap<string, Fate>>;
  /** Numbers of the calls that came to the server, in order. */
  ran(): Promise<readonly number[]>;
}

async function startGate(home: string, file: string): Promise<Running> {
  const gate = startAcp(["mcp", "--", process.execPath, SERVER, file], { home });
  const send = (id: number | undefined, method: string, params: object): void =>
    void gate.child.stdin?.write(
      `${JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params })}\n`,
    );
  gate.child.stdin?.on("error", () => undefined);
  send(0, "initialize", INITIALIZE);
  await gate.seen("stdout", '"serverInfo"');
  send(undefined, "notifications/initialized", {});
  return gate;
}

function call({ child }: Running, number: number, act: Act | undefined): void {
  const params = { name: "act", arguments: { number, ...act } };
  child.stdin?.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: number + 1, method: "tools/call", params })}\n`,
  );
}

const answersOf = (gate: Running): number => gate.stdout().split("\n").length - 2;

/**
 * Calls all of them. The first one until it stands on the page: before the inbox has joined the
 * gate there is nobody to ask, and it is denied.
 */
async function askAll(gate: Running, page: PageModel, acts: readonly Act[]): Promise<void> {
  for (let tries = 1; page.store.count() === 0; tries += 1) {
    call(gate, 0, acts[0]);
    await page.until(() => page.store.count() === 1 || answersOf(gate) === tries);
  }
  for (const [number, act] of acts.entries()) if (number > 0) call(gate, number, act);
  await page.until(() => page.store.count() === acts.length);
}

const COMPLETED: Readonly<Record<string, Fate>> = {
  performed: "ran",
  failed: "failed",
  cancelled: "ran",
  not_performed: "not run",
};
const NEXT: Readonly<Record<string, Fate>> = {
  consent_requested: "open",
  consent_approved: "waiting",
  consent_denied: "denied",
  consent_expired: "expired",
  consent_cancelled: "cancelled",
  consent_not_collected: "not run",
  tool_call_forwarded: "started",
  outcome_unknown: "unknown",
};

async function readFates(log: string): Promise<ReadonlyMap<string, Fate>> {
  const fates = new Map<string, Fate>();
  for await (const { eventType, requestId, metadata } of readAuditLog(log)) {
    if (requestId === "") continue;
    const next =
      eventType === "tool_call_completed"
        ? COMPLETED[String(metadata["outcome"])]
        : NEXT[eventType];
    if (next !== undefined) fates.set(requestId, next);
  }
  return fates;
}

/** What the log has of one type. */
async function countIn(log: string, eventType: string): Promise<number> {
  let count = 0;
  for await (const _event of readAuditLog(log, { filter: { eventType } })) count++;
  return count;
}

const linesOf = async (file: string): Promise<number> =>
  (await readFile(file, "utf8").catch(() => "")).split("\n").length - 1;

/** Opens it, with one open question for each act, all of them on the page. */
export async function openKilledWorld(acts: readonly Act[]): Promise<KilledWorld> {
  const at = await scratch();
  const [home, file] = [join(at.path, "h"), join(at.path, "ran")];
  const log = join(home, "audit.jsonl");
  await acp(["init"], { home });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  await writeFile(join(home, "config.yml"), CONFIG, { mode: 0o600 });
  const inbox = startAcp(["inbox", "--port", "0", "--json"], { home });
  await inbox.seen("stdout", /"code".*\n/);
  const { url, code } = JSON.parse(inbox.stdout().split("\n")[0] ?? "") as {
    url: string;
    code: string;
  };
  const page = await openPageModel(url, code);
  let gate = await startGate(home, file);
  const numbers = new Map<string, number>();
  await askAll(gate, page, acts);
  for (const { request } of page.store.open())
    numbers.set(request.id, Number(request.action.parameters["number"]));
  const [linesBefore, answersBefore] = [await linesOf(log), answersOf(gate)];
  const kill = async (): Promise<void> => {
    gate.child.kill("SIGKILL");
    await gate.ended;
  };
  return {
    home,
    page,
    kill,
    async leave() {
      for (const [number] of acts.entries())
        gate.child.stdin?.write(
          `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: number + 1 } })}\n`,
        );
      while ((await countIn(log, "consent_deferred")) < acts.length) await wait(20);
    },
    async approve(validMs) {
      const stop = new AbortController();
      await using clients = await attachApprovers({
        directory: join(home, "run"),
        signal: stop.signal,
      });
      while (clients.pending().length < acts.length) await wait(20);
      for (const { request } of clients.pending()) {
        const nowMs = Date.now();
        const receipt = await clients.answer(
          makeResponse(request, {
            decision: "approved",
            nowMs,
            validUntilMs: nowMs + validMs,
            channel: "test",
          }),
        );
        if (receipt.status !== "final") throw new Error(JSON.stringify(receipt));
      }
      stop.abort();
    },
    numberOf: (id) => numbers.get(id) ?? -1,
    async killAfter(lines, isOver) {
      const isAllAnswered = (): boolean => answersOf(gate) === answersBefore + acts.length;
      while ((await linesOf(log)) < linesBefore + lines && !isAllAnswered() && !isOver())
        await wait(2);
      await kill();
    },
    async restart(repeats) {
      gate = await startGate(home, file);
      if (repeats) for (const [number, act] of acts.entries()) call(gate, number, act);
    },
    fates: () => readFates(log),
    ran: async () =>
      (await readFile(file, "utf8").catch(() => ""))
        .split("\n")
        .filter((line) => line !== "")
        .map(Number),
    async [Symbol.asyncDispose]() {
      page.close();
      await gate[Symbol.asyncDispose]();
      await inbox[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}
