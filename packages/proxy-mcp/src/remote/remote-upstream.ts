/**
 * Remote upstream: an MCP server that is reached by an address, over Streamable HTTP or the HTTP+SSE
 * of before. For the proxy it is a server like any other: lines go in and come out, and their bytes
 * are those of the messages. Source: MCP 2025-11-25, "Transports", and 2024-11-05 for HTTP+SSE.
 */
import { PassThrough, Writable } from "node:stream";
import { ConsentError } from "@acp/core";
import { LINE_BYTES_MAX } from "../limits.js";
import type {
  ServerExit,
  ServerProcess,
  StartedUpstream,
  UpstreamLimits,
} from "../server-process.js";
import type { AuthorizationCaller, RemoteAuthorization } from "./authorization.js";
import { openRemoteSession } from "./remote-session.js";
import type { RemoteServer, RemoteSession } from "./remote-session.js";

/** A server that is reached by an address. */
export interface RemoteUpstream {
  /** What policies, people and logs call the server. */
  readonly name: string;
  /** Its MCP endpoint: https, or http on this machine. */
  readonly url: string;
  /** Sent with every request, such as `authorization`. Never shown, and never sent elsewhere. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Credentials that change while the server is used, beside the headers. Default: none. */
  readonly authorization?: RemoteAuthorization | undefined;
  /** What the server may take. */
  readonly limits?: UpstreamLimits;
}

/**
 * A server as the proxy starts it: each session has connections of its own.
 *
 * @param caller - Whose calls it gets.
 * @throws ConsentError `options_invalid` where `url` is none, or would send what is asked, and
 *   credentials, over a network that others can read.
 */
export function remoteUpstream(
  upstream: RemoteUpstream,
  caller?: AuthorizationCaller,
): StartedUpstream {
  const { name, url, limits = {}, authorization: given } = upstream;
  const authorization = caller === undefined ? given : (given?.as?.(caller) ?? given);
  const endpoint = URL.canParse(url) ? new URL(url) : undefined;
  const isSafe =
    endpoint?.protocol === "https:" ||
    (endpoint?.protocol === "http:" && LOOPBACK.test(endpoint.hostname));
  if (endpoint === undefined || !isSafe)
    throw new ConsentError(
      "options_invalid",
      `Cannot use the server "${name}": its address must begin with https://, or with http:// on this machine`,
    );
  return {
    name,
    limits,
    start: () =>
      Promise.resolve(startRemote({ ...upstream, url: endpoint, authorization }, limits)),
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

/** A session as a process: it ends when its input ends and nothing is under way. */
function startRemote(server: RemoteServer, limits: UpstreamLimits): ServerProcess {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let tellExit: (exit: ServerExit) => void = () => {};
  const exited = new Promise<ServerExit>((resolve) => {
    tellExit = resolve;
  });
  let isOver = false;
  const end = (exit: ServerExit): void => {
    if (isOver) return;
    isOver = true;
    stdin.destroy();
    stdout.end();
    stderr.end();
    tellExit(exit);
  };
  const session = openRemoteSession(server, {
    bytesMax: limits.messageBytesMax ?? LINE_BYTES_MAX,
    say: (line) => isOver || stdout.write(line),
    pause: () =>
      stdout.writableNeedDrain
        ? new Promise<void>((resolve) => stdout.once("drain", resolve).once("close", resolve))
        : undefined,
    log: (line) => void (isOver || stderr.write(`${line}\n`)),
    lost(reason) {
      end({ code: 1, signal: undefined, reason });
      session.abort(); // it would go on asking for the server's own messages
    },
  });
  const stdin = linesTo(session, () => stop());
  const stop = (): void => {
    void session.close().then(() => end({ code: 0, signal: undefined }));
  };
  return {
    stdin,
    stdout,
    stderr,
    exited,
    stop,
    kill() {
      session.abort();
      end({ code: undefined, signal: "SIGKILL" });
    },
  };
}

/** Takes bytes while there is room, and sends them line by line. @param onEnd - Nothing more comes, or is under way. */
function linesTo(session: RemoteSession, onEnd: () => void): Writable {
  let rest: Buffer[] = [];
  return new Writable({
    write(chunk: Buffer, _encoding, takeMore) {
      let from = 0;
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
        session.send(Buffer.concat([...rest, chunk.subarray(from, at)]));
        rest = [];
        from = at + 1;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
      const room = session.room();
      if (room === undefined) takeMore();
      else void room.then(() => takeMore());
    },
    final(done) {
      done();
      void session.settled().then(onEnd);
    },
  });
}
