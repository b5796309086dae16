/** What a test hands to `acp`, in a process of its own or in this one, and what it gets back. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that is removed with its holder. */
export interface Scratch extends AsyncDisposable {
  readonly path: string;
}

/** Makes a short-lived directory; its path is short, because sockets lie in it. */
export async function scratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export interface AcpOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** In a session of its own, which has no terminal. */
  readonly isDetached?: boolean;
  /** Another installation's program. */
  readonly bin?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** An environment without the caller's own settings. */
export function environment(options: AcpOptions): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    ...(PATH !== undefined && { PATH }),
    ...(HOME !== undefined && { HOME }),
    ...(options.home !== undefined && { ACP_HOME: options.home }),
    // A test that wants a resident says so: it would outlive the others.
    ACP_ALONE: "1",
    // A busy machine is no reason to fail a test.
    ACP_HOOK_SECONDS: "600",
    ...options.env,
  };
}
