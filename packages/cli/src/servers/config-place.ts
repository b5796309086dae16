/**
 * Config place: where a configuration lies that is read while clients are connected. Who can write
 * there chooses the servers. Rules: spec/mcp-proxy.md §22.
 */
import { lstat, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Config } from "@acp/home";
import type { Invocation } from "../command.js";

/** What is known of a file and of who may write around it. */
export interface ConfigPlace {
  readonly file: string;
  readonly homeDir: string;
  /** Of the client. */
  readonly io: Pick<Invocation["io"], "cwd" | "env">;
  /** As it was until now. */
  readonly config: Pick<Config, "servers"> | undefined;
}

/** Where everybody may write, whatever the environment says. */
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"];

/**
 * Reads the file that was looked at, and looks again afterwards: what lies at its path may have
 * become another one meanwhile.
 *
 * @param read - Gets the real path.
 * @returns What was read, and why it must not count.
 */
export async function readInPlace<T>(
  place: ConfigPlace,
  read: (real: string) => Promise<T>,
): Promise<{ readonly found: T; readonly why: string | undefined }> {
  const before = await lookAt(place);
  const found = await read(before.real);
  const after = await lookAt(place);
  const moved = before.real === after.real ? undefined : "it was moved while it was read";
  return { found, why: before.why ?? after.why ?? moved };
}

interface Looked {
  readonly real: string;
  /** Why an agent may have written it. */
  readonly why?: string;
}

/**
 * The home is closed to every agent; elsewhere it is where the agent works that counts, and where
 * servers write.
 */
async function lookAt({ file, homeDir, io, config }: ConfigPlace): Promise<Looked> {
  let real = file;
  try {
    real = join(await realpath(dirname(file)), basename(file));
    if ((await lstat(real)).isSymbolicLink()) return { real, why: "it is a link" };
  } catch {
    return { real, why: "it cannot be looked at" };
  }
  if (isWithin(real, await realpath(homeDir))) return { real };
  const writes = (config?.servers ?? []).flatMap((server) =>
    "command" in server
      ? [...(server.write ?? []), ...(server.cwd === undefined ? [] : [server.cwd])]
      : [],
  );
  const own = io.env["TMPDIR"];
  const temporary = own === undefined || own === "" ? [] : [resolve(io.cwd, own)];
  for (const place of [io.cwd, ...temporary, tmpdir(), ...TEMPORARY, ...writes]) {
    const at = await realpath(place).catch(() => place);
    if (isWithin(real, at))
      return { real, why: `it lies in ${place}, where the agent or a server may write` };
  }
  return { real };
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}
