/** A private directory for sockets, gone at the end. Short, because a socket's path is. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryHome extends AsyncDisposable {
  readonly path: string;
  readonly run: string;
  readonly socketPath: string;
}

export async function temporaryHome(): Promise<TemporaryHome> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  const run = join(path, "run");
  return {
    path,
    run,
    socketPath: join(run, "1.sock"),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
