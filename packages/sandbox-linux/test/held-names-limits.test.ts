/**
 * Agents that use up what their user may watch: the next start fails, and never runs unwatched.
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { hostNeed } from "@acp/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { compiled } from "./held-names-kit.js";
import { namespaces } from "./namespace-kit.js";

vi.setConfig({ testTimeout: 120_000 });

const PROGRAM = await bundled(new URL("fixtures/watch-limits.ts", import.meta.url));
const PLAIN_UID = 61_016;
const root = hostNeed("root", () => (process.getuid?.() === 0 ? undefined : "not root"));
/**
 * A user namespace with the users of the host, whose limits root sets in it. It is somebody there
 * once the map is written, and has rights with the next program.
 */
const LIMITED = [
  "unshare",
  "--user",
  "sh",
  "-c",
  'read -r go; exec sh -c "$0" "$@"',
  `echo "$LIMIT" > "/proc/sys/user/$KIND" && exec setpriv --reuid=${PLAIN_UID} --regid=${PLAIN_UID} --clear-groups --inh-caps=-all -- "$@"`,
  "sh",
];

let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-limits-")));
  chmodSync(scratch, 0o755);
  mkdirSync(join(scratch, "work"));
  writeFileSync(join(scratch, "work/.envrc"), "before\n");
  for (const name of ["", "work", "work/.envrc"])
    if (root.run) chownSync(join(scratch, name), PLAIN_UID, PLAIN_UID);
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

async function play(kind: string, limit: number): Promise<readonly unknown[]> {
  const [program = "", ...args] = [...LIMITED, process.execPath, PROGRAM, join(scratch, "work")];
  const env = {
    PATH: process.env["PATH"],
    HOME: scratch,
    TMPDIR: scratch,
    XDG_RUNTIME_DIR: scratch,
    KIND: kind,
    LIMIT: String(limit),
  };
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const namespaceOf = (pid: number | undefined): string => readlinkSync(`/proc/${pid}/ns/user`);
  while (namespaceOf(child.pid) === namespaceOf(process.pid)) await sleep(5);
  for (const map of ["uid_map", "gid_map"])
    writeFileSync(`/proc/${child.pid}/${map}`, "0 0 65536\n");
  child.stdin.end("go\n");
  const said: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) said.push(JSON.parse(line));
  return said;
}

const FAILED = {
  code: "sandbox_failed",
  message: expect.stringMatching(/no inotify instance or watch left; .*max_user_instances/u),
};

describe.skipIf(!namespaces.run || !compiled.run || !root.run)(
  `names that cannot be watched ${namespaces.reason}${compiled.reason}${root.reason}`,
  () => {
    it("keep an agent from starting, and an agent's own instances count for its user outside", async () => {
      const [used, next, freed] = await play("max_inotify_instances", 4);
      expect(used).toBe(3); // the first process had one
      expect(next).toMatchObject(FAILED);
      expect(freed).toBe("started");
    });

    it("keep it from starting also where there are no watches", async () => {
      const [, next] = await play("max_inotify_watches", 0);
      expect(next).toMatchObject(FAILED);
    });
  },
);
