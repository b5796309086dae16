/**
 * The whole way of an answer, on real sockets: the page's own model, the inbox's HTTP, the approve
 * socket behind a relay that can be cut, a gate with a log on disk. Nothing is simulated but the
 * agent, and the browser around the page's modules.
 */
import { mkdir } from "node:fs/promises";
import { type Server, createServer as createHttpServer } from "node:http";
import { type Socket, createConnection, createServer } from "node:net";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import { attachApprovers, createTerminalChannel } from "@acp/channel-terminal";
import { createInbox, memoryPasskeys, toNodeHandler } from "@acp/channel-web";
import {
  type Clock,
  type ConsentGate,
  type Verdict,
  createConsentGate,
  systemClock,
  toolAction,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { followOutcomes } from "../src/outcomes/logged-outcomes.js";
import { type PageModel, openPageModel } from "./page-model.js";
import { scratch } from "./harness.js";

/** Waits end a while sooner than in life; what they wait for is real. */
const fastClock: Clock = {
  ...systemClock,
  sleep: (ms, options) => systemClock.sleep(ms / 20, options),
};

/** What the agent's call does. */
export type Deed = "works" | "throws";

/** What really happened to one question. */
export interface Truth {
  verdict: Verdict | "threw" | undefined;
  performed: boolean;
}

export interface AnswersWorld extends AsyncDisposable {
  readonly page: PageModel;
  /** By the number in the question's arguments. */
  readonly truths: readonly Truth[];
  /** The number of the question with this id. */
  numberOf(id: string): number;
  /** Ids of the questions that the gate has open. */
  readonly open: ReadonlySet<string>;
  cutSockets(): void;
  cutHttp(): void;
  closeGate(): Promise<void>;
}

/** Hands on between the clients and the gate, until it is cut. */
async function openRelay(
  from: string,
  to: string,
): Promise<{ cut(): void; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection(to);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => (sockets.delete(one), other.destroy()));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(from, resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    cut,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://localhost:${typeof address === "object" && address !== null ? address.port : 0}`;
}

function wantAll(gate: ConsentGate, deeds: readonly Deed[], truths: readonly Truth[]): void {
  for (const [number, truth] of truths.entries()) {
    const perform = async (): Promise<string> => {
      truth.performed = true;
      if (deeds[number] === "throws") throw new TypeError("it broke");
      return "done";
    };
    gate.run(toolAction("files", "write", { number }), perform, { agent: { id: "agent" } }).then(
      ({ verdict }) => (truth.verdict = verdict),
      () => (truth.verdict = "threw"),
    );
  }
}

/** Opens it, with one open question for each deed, all of them on the page. */
export async function openAnswersWorld(deeds: readonly Deed[]): Promise<AnswersWorld> {
  const home = await scratch();
  const [run, own] = [join(home.path, "run"), join(home.path, "own")];
  for (const directory of [run, own]) await mkdir(directory, { mode: 0o700 });
  const audit = await openAuditLog({ path: join(home.path, "audit.jsonl") });
  const channel = createTerminalChannel({ terminal: false, socketPath: join(own, "g.sock") });
  await channel.ready;
  const relay = await openRelay(join(run, "1.sock"), join(own, "g.sock"));
  const numbers = new Map<string, number>();
  const open = new Set<string>();
  const gate = createConsentGate({
    policy: parsePolicy({
      version: "1",
      rules: [{ match: { tool: "*" }, action: "ask", level: "low" }],
    }),
    channel: {
      name: channel.name,
      async deliver(request, session) {
        const { number } = request.action.parameters;
        if (typeof number === "number") numbers.set(request.id, number);
        open.add(request.id);
        void session.ended.then(() => open.delete(request.id));
        await channel.deliver(request, session);
      },
    },
    audit,
    promptLimit: "none",
  });
  const stop = new AbortController();
  const clients = await attachApprovers({ directory: run, signal: stop.signal, clock: fastClock });
  const outcomes = await followOutcomes(home.path);
  const http = createHttpServer();
  const origin = await listen(http);
  const inbox = createInbox({
    origin,
    people: [{ approver: "local" }],
    passkeys: memoryPasskeys(),
    outcomes: (ids) => outcomes.find(ids),
    clock: fastClock,
  });
  http.on("request", toNodeHandler(inbox.handler));
  inbox.attach(clients, { channel: "terminal" });
  const page = await openPageModel(origin, inbox.signInCode("local"));
  const truths = deeds.map((): Truth => ({ verdict: undefined, performed: false }));
  wantAll(gate, deeds, truths);
  await page.until(() => page.store.count() === deeds.length);
  let closing: Promise<void> | undefined;
  const closeGate = (): Promise<void> => (closing ??= gate.close().then(() => channel.close()));
  return {
    page,
    truths,
    numberOf: (id) => numbers.get(id) ?? -1,
    open,
    cutSockets: relay.cut,
    cutHttp: () => http.closeAllConnections(),
    closeGate,
    async [Symbol.asyncDispose]() {
      page.close();
      stop.abort();
      await clients.close();
      await closeGate();
      await relay.close();
      await inbox.close();
      http.close();
      http.closeAllConnections();
      await outcomes[Symbol.asyncDispose]();
      await audit[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
