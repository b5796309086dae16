/**
 * A home that stays: what an agent keeps there for its next start, what it cannot reach by it, and
 * where it is refused.
 */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConfinementOptions, LinuxSandbox } from "../src/parts.js";
import {
  createEnvSandbox,
  createLandlockSandbox,
  createNamespaceSandbox,
  createPreloadSandbox,
  createUidSandbox,
} from "../src/backends.js";
import { namespaces } from "./namespace-kit.js";
import { IS_ROOT, NEEDS, PLAIN_UID, runShell, startAgent, textOf } from "./supervised-kit.js";

const user = IS_ROOT ? { user: PLAIN_UID } : {};

let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-home-")));
  // As the home of ACP is: nobody but its owner comes in.
  chmodSync(scratch, 0o700);
  mkdirSync(join(scratch, "home"));
  writeFileSync(join(scratch, "key"), "private");
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const BACKENDS: readonly (readonly [
  string,
  (options: ConfinementOptions) => LinuxSandbox,
  { readonly run: boolean; readonly reason: string },
])[] = [
  ["namespace", createNamespaceSandbox, namespaces],
  ["landlock", createLandlockSandbox, NEEDS.landlock],
];

describe.each(BACKENDS)("a home in %s", (_name, create, need) => {
  const options = (): ConfinementOptions => ({
    ...user,
    home: join(scratch, "home"),
    hidden: [scratch],
  });

  it.skipIf(!need.run)(
    `stays for the next start, which no mode of its own prevents ${need.reason}`,
    async () => {
      const first = await runShell(
        create(options()),
        'pwd; echo kept > "$HOME/note"; chmod 000 "$HOME"',
      );
      expect(first.exit).toMatchObject({ code: 0 });
      const second = await runShell(create(options()), 'cat "$HOME/note"; cd "$HOME" && echo in');
      expect(second.output).toBe("kept\nin\n");
      expect(readFileSync(join(scratch, "home/note"), "utf8")).toBe("kept\n");
      expect(statSync(join(scratch, "home")).mode & 0o777).toBe(0o700);
    },
  );

  it.skipIf(!need.run)(`is no way to what is beside it ${need.reason}`, async () => {
    const script = `cat "$HOME/../key" ${join(scratch, "key")}; ln -s ${scratch} "$HOME/out"; cat "$HOME/out/key"; ls ${scratch}`;
    expect((await runShell(create(options()), script)).output).not.toMatch(/private|^home$/mu);
  });

  it.skipIf(!need.run)(`may be written beside further directories ${need.reason}`, async () => {
    const served = realpathSync(mkdtempSync(join(tmpdir(), "acp-served-")));
    chmodSync(served, 0o755);
    if (IS_ROOT) chownSync(served, PLAIN_UID, PLAIN_UID);
    const { output } = await runShell(
      create({ ...options(), writable: [served] }),
      `echo new > ${served}/file; cat ${served}/file`,
    );
    rmSync(served, { recursive: true });
    expect(output).toBe("new\n");
  });

  it.skipIf(!need.run)(
    `gives its standard error to the manager where that is asked for ${need.reason}`,
    async () => {
      const agent = await startAgent(
        create(options()),
        ["/bin/sh", "-c", "echo out; echo err >&2"],
        { stderr: "pipe" },
      );
      let said = "";
      agent.stderr?.on("data", (chunk: Buffer) => (said += String(chunk)));
      expect(await textOf(agent)).toBe("out\n");
      await agent.exited;
      expect(said).toBe("err\n");
    },
  );

  it.skipIf(!need.run)(
    `is refused where it is no directory, holds what is hidden, or is shown already ${need.reason}`,
    async () => {
      const refused = async (more: Partial<ConfinementOptions>, why: string): Promise<void> =>
        void (await expect(
          create({ ...options(), ...more }).spawn(["true"], NOTHING),
        ).rejects.toThrow(why));
      await refused({ home: join(scratch, "gone") }, "ENOENT");
      await refused({ home: join(scratch, "key") }, "it is not a directory");
      await refused({ home: scratch, hidden: [join(scratch, "home")] }, "which stays hidden");
      await refused({ home: "/etc" }, "it is more than a workspace");
      await refused({ home: "/usr" }, "it is more than a workspace");
      await refused(
        { hidden: [], workspace: { path: scratch, access: "read-write" } },
        "it would be the home",
      );
      await refused(
        { home: scratch, hidden: [], readable: [join(scratch, "home")] },
        "it would be the home",
      );
    },
  );

  it.skipIf(!need.run || !NEEDS.root.run)(
    `is refused where it is somebody else's ${need.reason} ${NEEDS.root.reason}`,
    async () => {
      chownSync(join(scratch, "home"), PLAIN_UID + 1, PLAIN_UID + 1);
      await expect(create(options()).spawn(["true"], NOTHING)).rejects.toThrow(
        "it belongs to user",
      );
      chownSync(join(scratch, "home"), 0, 0);
      writeFileSync(join(scratch, "home/roots"), "");
      await expect(create(options()).spawn(["true"], NOTHING)).rejects.toThrow(
        "it belongs to user",
      );
    },
  );

  it.skipIf(!need.run)(`may be named by a link of the operator's ${need.reason}`, async () => {
    symlinkSync(join(scratch, "home"), join(scratch, "link"));
    const { output } = await runShell(
      create({ ...options(), home: join(scratch, "link") }),
      'echo x > "$HOME/x"; cat "$HOME/x"',
    );
    expect(output).toBe("x\n");
  });
});

const NOTHING = { onConnection: () => undefined, env: () => ({}), stdio: "pipe" } as const;

describe("a home where there are no files of the agent's own", () => {
  it.each([
    ["env", createEnvSandbox],
    ["preload", createPreloadSandbox],
    ["uid", createUidSandbox],
  ] as const)("is refused by %s, or there is no such sandbox here", async (_name, create) => {
    const agent = create({ ...user, home: join(scratch, "home") }).spawn(["true"], NOTHING);
    await expect(agent).rejects.toThrow(
      /it has no files of its own|nobody can|Cannot (?:hold|start)/u,
    );
  });
});
