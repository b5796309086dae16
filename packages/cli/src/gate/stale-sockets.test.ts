import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { removeStaleSockets } from "./stale-sockets.js";

const HOUR_MS = 3_600_000;

/** A socket that its process left behind: it is killed, so that it cannot tidy up. */
function leaveSocket(path: string): void {
  spawnSync(process.execPath, [
    "-e",
    `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`,
  ]);
}

it("removeStaleSockets() removes old sockets that nobody listens on, and nothing else", async () => {
  const directory = await mkdtemp(join(tmpdir(), "acp-"));
  const live = createServer();
  try {
    await new Promise<void>((resolve) => live.listen(join(directory, "live.sock"), resolve));
    for (const name of ["old.sock", "young.sock"]) leaveSocket(join(directory, name));
    await writeFile(join(directory, "file.sock"), "");
    const hourAgo = new Date(Date.now() - HOUR_MS);
    for (const name of ["live.sock", "old.sock", "file.sock"])
      await utimes(join(directory, name), hourAgo, hourAgo);
    await removeStaleSockets(directory, Date.now());
    expect((await readdir(directory)).sort()).toEqual(["file.sock", "live.sock", "young.sock"]);
    await expect(removeStaleSockets(join(directory, "none"), Date.now())).resolves.toBeUndefined();
  } finally {
    live.close();
    await rm(directory, { recursive: true, force: true });
  }
});
