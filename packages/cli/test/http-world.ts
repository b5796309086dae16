/**
 * A home with a policy, a server on this machine that the HTTP proxy may reach, and the built `acp
 * proxy http` before it.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { attachApprovers } from "@acp/channel-terminal";
import type { ApproverClients, OpenQuestion } from "@acp/channel-terminal";
import { expect, onTestFinished } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { RESIDENT, acp, scratch, startAcp } from "./harness.js";
import type { Running, Scratch } from "./harness.js";

/** A home, and what it may reach. */
export interface HttpWorld extends Scratch {
  readonly home: string;
  /** The server's address. */
  readonly origin: string;
  readonly authority: string;
  /** `METHOD path body` of each request that reached it. */
  readonly reached: readonly string[];
}

/** Reads go on, writes and tunnels are asked about, the rest never happens. */
export const HTTP_POLICY = `version: "1"
default_action: deny
rules:
  - { id: reads, match: { kind: http, method: GET }, action: allow }
  - { id: writes, match: { kind: http, method: POST }, action: ask }
  - { id: tunnels, match: { kind: http, method: CONNECT }, action: ask }
`;

/** What a world differs in. */
export interface HttpWorldOptions {
  readonly policy?: string;
  /** Lines under `proxy:` in config.yml, besides the private host. */
  readonly proxy?: string;
  /** Where its server listens; left out: 127.0.0.1. */
  readonly address?: string;
}

/** Makes it. The server says who it is, and what it was asked. */
export async function httpWorld({
  policy = HTTP_POLICY,
  proxy = "",
  address = "127.0.0.1",
}: HttpWorldOptions = {}): Promise<HttpWorld> {
  const at = await scratch();
  const home = join(at.path, "h");
  const reached: string[] = [];
  const server = createServer((incoming, outgoing) => {
    let body = "";
    incoming.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    incoming.on("end", () => {
      const line = `${incoming.method} ${incoming.url} ${body}`.trim();
      reached.push(line);
      outgoing.end(`reached: ${line}\n`);
    });
  });
  const authority = `${address}:${await listen(server, address)}`;
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "policy.yml"), policy, { mode: 0o600 });
  await writeFile(
    join(home, "config.yml"),
    `version: "1"\nproxy:\n  private_hosts: ["${authority}"]\n${proxy}`,
    { mode: 0o600 },
  );
  return {
    ...at,
    home,
    authority,
    origin: `http://${authority}`,
    reached,
    async [Symbol.asyncDispose]() {
      if (existsSync(join(home, "run", "resident.log"))) await acp(["resident", "stop"], { home });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await at[Symbol.asyncDispose]();
    },
  };
}

/** Listens on a free port of this machine. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const place = server.address();
  if (typeof place !== "object" || place === null) throw new Error("it listens on no port");
  return place.port;
}

/** Variables of both forms of `acp proxy http`: a gate of its own, and the resident's. */
export const FORMS: readonly {
  readonly form: string;
  readonly env: Readonly<Record<string, string>>;
}[] = [{ form: "alone", env: {} }, ...(isDeep ? [{ form: "by the resident", env: RESIDENT }] : [])];

/** `acp proxy http`, listening. */
export interface RunningProxy extends Running {
  readonly url: string;
  readonly port: number;
  /** The variables that it prints. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts it on a free port. */
export async function startProxy(
  home: string,
  args: readonly string[] = [],
  { BIN: bin, ...env }: Readonly<Record<string, string>> = {},
): Promise<RunningProxy> {
  const running = startAcp(["proxy", "http", "--home", home, "--port", "0", ...args], {
    env,
    ...(bin !== undefined && { bin }),
  });
  onTestFinished(() => running[Symbol.asyncDispose]());
  await running.seen("stdout", /listening on .*\n[^]*fetch-patch|"url":/);
  const url = /http:\/\/127\.0\.0\.1:[0-9]+/.exec(running.stdout())?.[0] ?? "";
  const pairs = [...running.stdout().matchAll(/([A-Za-z_]+)='([^']*)'/g)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  return { ...running, url, port: Number(new URL(url).port), env: Object.fromEntries(pairs) };
}

/** Answers the next question of the home's gates through `acp approve --once`. */
export async function answerNext(home: string, words: readonly string[]): Promise<void> {
  // Who only looks for the question is in this process: a start of `acp pending` for each look
  // takes longer than all that is tested.
  await using looking = await attachHome(home);
  for (;;) {
    const { request } = await firstQuestion(looking);
    const { code, stderr } = await acp(["approve", "--once", request.id, ...words], { home });
    if (code === 0) return;
    // 5: it was over already.
    if (code !== 5) throw new Error(`the answer was refused: ${stderr}`);
  }
}

/** The first question that is open, or the next one that comes. */
export async function firstQuestion(clients: ApproverClients): Promise<OpenQuestion> {
  const [open] = clients.pending();
  if (open !== undefined) return open;
  for await (const change of clients.changes) if (change.type === "open") return change.question;
  throw new Error("no question came");
}

/** Somebody whom the home's gates can ask. */
export function attachHome(home: string): Promise<ApproverClients> {
  const signal = new AbortController().signal;
  return attachApprovers({ directory: join(home, "run"), signal });
}

/** How a program ended. */
export interface ProgramEnded {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a program of somebody else to its end. Its environment has the given variables, and what it
 * needs to start.
 */
export async function program(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ProgramEnded> {
  const [file = "", ...args] = command;
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(file, args, {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve)),
  ]);
  return { code, out, err };
}

/** Whether a program is there. */
export function has(command: string): boolean {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;
}

/**
 * Somebody whom the home's gate can ask, and who says nothing: answers come from `acp approve
 * --once`.
 */
export async function attachSilent(home: string): Promise<ApproverClients> {
  const silent = await attachHome(home);
  await expect.poll(() => silent.gates()).toBe(1);
  return silent;
}
