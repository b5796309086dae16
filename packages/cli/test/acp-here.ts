/**
 * `acp` in this process, for what it prints and how it exits: a start of the built one takes longer
 * than nearly everything that a command does. What belongs to the process (signals, terminals,
 * servers, what is built) is harness.ts's.
 */
import { tmpdir } from "node:os";
import { Readable, Writable } from "node:stream";
import type { Io, OutputStream } from "../src/command.js";
import { main } from "../src/main.js";
import { environment } from "./environment.js";
import type { AcpOptions, Ended } from "./environment.js";

/** A stream of no terminal that keeps what is written to it. */
function kept(): { readonly stream: OutputStream; readonly text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY: false }),
    text: () => Buffer.concat(chunks).toString("utf8"),
  };
}

/** Runs `acp` to its end, as `acp()` of harness.ts does; nothing can stop it. */
export async function acpHere(args: readonly string[], options: AcpOptions = {}): Promise<Ended> {
  const env = environment(options);
  const [stdout, stderr] = [kept(), kept()];
  const { input = "" } = options;
  const io: Io = {
    stdin: Object.assign(Readable.from(input === "" ? [] : [Buffer.from(input)]), { isTTY: false }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    cwd: options.cwd ?? tmpdir(),
    userHome: env["HOME"] ?? tmpdir(),
    pid: process.pid,
    ppid: process.ppid,
    onStop: () => new AbortController().signal,
    onSignals: () => {},
  };
  const code = await main(args, io);
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
}
