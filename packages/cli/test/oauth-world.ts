/**
 * A home with a server at an address that wants a sign-in, and a person at a terminal. In this
 * process: what is about processes is tested with few of them.
 */
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { makeHome } from "../src/home/make-home.js";
import { openHomeKeys } from "../src/gate/home-keys.js";
import type { HomeKeys } from "../src/gate/home-keys.js";
import type { Io } from "../src/command.js";
import { createPrinter } from "../src/printer.js";
import { main } from "../src/main.js";
import { grantIn } from "../src/servers/oauth/grant-entries.js";
import { serverAuthorization } from "../src/servers/oauth/server-authorization.js";
import type { ServerAuthorizationParts } from "../src/servers/oauth/server-authorization.js";
import type { Grant } from "@acp/proxy-mcp/oauth";
import type { RemoteAuthorization } from "@acp/proxy-mcp";
import { ALLOW_ALL, proxied } from "../../proxy-mcp/test/support/proxied.js";
import { INIT } from "../../proxy-mcp/test/support/remote-client.js";
import type { LineClient } from "../../proxy-mcp/test/support/line-client.js";
import { oauthDouble } from "../../proxy-mcp/test/support/oauth-double.js";
import type { OAuthDouble } from "../../proxy-mcp/test/support/oauth-double.js";
import { acpHere } from "./acp-here.js";
import { environment, scratch } from "./environment.js";
import type { Ended, Scratch } from "./environment.js";

export interface OAuthWorld extends Scratch {
  readonly home: string;
  /** `acp` with a person at a terminal, who opens every address that it prints. */
  person(args: readonly string[], double?: OAuthDouble): Promise<Ended>;
  /** Writes config.yml; lines below the server's `url`. */
  configure(url: string, more?: string): Promise<void>;
  keys(): Promise<HomeKeys>;
  /** What is in the vault. */
  grant(): Promise<Grant | undefined>;
  /** The server's token as a gate has it. */
  authorization(url: string, more?: Partial<ServerAuthorizationParts>): Promise<Authorized>;
}

export interface Authorized {
  readonly authorization: RemoteAuthorization;
  readonly told: readonly string[];
  readonly events: readonly string[];
}

export async function oauthWorld(): Promise<OAuthWorld> {
  const at = await scratch();
  const home = join(at.path, "home");
  await acpHere(["init"], { home });
  const opened = async () => makeHome(home);
  const keys = async (): Promise<HomeKeys> => {
    const io = personIo({ home }).io;
    const print = createPrinter({ stdout: io.stdout, stderr: io.stderr, env: io.env, json: false });
    const line = { values: {}, flags: new Set<never>(), operands: [], rest: [] };
    return openHomeKeys(await opened(), { ...line, io, print });
  };
  return {
    ...at,
    home,
    keys,
    async grant() {
      return grantIn((await (await keys()).soundVault?.()) ?? [], "web");
    },
    async configure(url, more = "") {
      const lines = `version: "1"\nproxy:\n  upstream_servers:\n    - name: web\n      url: "${url}"\n${more}`;
      await writeFile(join(home, "config.yml"), lines, { mode: 0o600 });
    },
    async person(args, double) {
      const { io, ended } = personIo({ home, double });
      return ended(await main([...args, "--home", home], io));
    },
    async authorization(url, more = {}) {
      const [told, events]: [string[], string[]] = [[], []];
      const authorization = serverAuthorization({
        server: { name: "web", url },
        home: await opened(),
        homeKeys: await keys(),
        log: {
          append: (list) => {
            events.push(...list.map(({ eventType }) => eventType));
            return Promise.resolve({ seq: 1, hash: "sha256:00" });
          },
        },
        notices: { tell: (_code, text) => void told.push(text) },
        signal: new AbortController().signal,
        ...more,
      });
      return { authorization, told, events };
    },
  };
}

interface PersonIo {
  readonly io: Io;
  ended(code: number): Ended;
}

function personIo({
  home,
  double,
}: {
  readonly home: string;
  readonly double?: OAuthDouble | undefined;
}): PersonIo {
  const env = environment({ home });
  const texts = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr"): Io["stdout"] =>
    Object.assign(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          const text = chunk.toString();
          texts[name] += text;
          const address = /browser on this machine: (\S+?)(?:"\}|\s|$)/u.exec(text)?.[1];
          if (address !== undefined) void double?.browse(address).catch(() => {});
          done();
        },
      }),
      { isTTY: false },
    );
  const io: Io = {
    stdin: Object.assign(Readable.from([]), { isTTY: true }),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env,
    cwd: tmpdir(),
    userHome: env["HOME"] ?? tmpdir(),
    pid: process.pid,
    ppid: process.ppid,
    onStop: () => new AbortController().signal,
    onSignals: () => {},
  };
  return { io, ended: (code) => ({ code, signal: null, ...texts }) };
}

/** A client of a proxy in front of the server, with the handshake behind it. */
export async function clientOf(
  url: string,
  authorization: RemoteAuthorization,
  isInitialized = true,
): Promise<AsyncDisposable & { readonly client: LineClient; readonly logs: readonly string[] }> {
  const upstreams = [{ name: "web", url, authorization }];
  const { client, proxy, logs } = proxied({ policy: ALLOW_ALL, upstreams });
  if (isInitialized) {
    await client.request("init", "initialize", INIT);
    client.send({ method: "notifications/initialized" });
  }
  return { client, logs, [Symbol.asyncDispose]: () => proxy.close() };
}

/** A world in which somebody has signed in. */
export async function signedInWorld(
  more = "",
): Promise<OAuthWorld & { readonly double: OAuthDouble }> {
  const double = await oauthDouble();
  const world = await oauthWorld();
  await world.configure(double.url, more);
  const { code, stderr } = await world.person(["mcp", "login", "web"], double);
  if (code !== 0) throw new Error(stderr);
  return {
    ...world,
    double,
    async [Symbol.asyncDispose]() {
      await double[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}
