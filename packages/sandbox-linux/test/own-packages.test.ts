/**
 * Packages of the manager's own: read where they are, also in a hidden place, and never written.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createEnvSandbox,
  createLandlockSandbox,
  createNamespaceSandbox,
} from "../src/backends.js";
import type { HostNeed } from "@acp/testing";
import type { ConfinementOptions, LinuxSandbox } from "../src/parts.js";
import { namespaces } from "./namespace-kit.js";
import { IS_ROOT, NEEDS, PLAIN_UID, runShell } from "./supervised-kit.js";

const user = IS_ROOT ? { user: PLAIN_UID } : {};
const NOTHING = { onConnection: () => undefined, env: () => ({}), stdio: "pipe" } as const;

let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-packages-")));
  chmodSync(scratch, 0o700);
  for (const name of ["home", "tree"]) mkdirSync(join(scratch, name), { mode: 0o755 });
  writeFileSync(join(scratch, "key"), "private");
  writeFileSync(join(scratch, "tree/file"), "package");
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const options = (): ConfinementOptions => ({
  ...user,
  packages: join(scratch, "tree"),
  home: join(scratch, "home"),
  hidden: [scratch],
});
const BACKENDS: readonly (readonly [
  string,
  (options: ConfinementOptions) => LinuxSandbox,
  HostNeed,
])[] = [
  ["namespace", createNamespaceSandbox, namespaces],
  ["landlock", createLandlockSandbox, NEEDS.landlock],
];

describe.each(BACKENDS)("packages in %s", (name, create, { run, reason }) => {
  it.skipIf(!run)(
    `are read and not written, and are no way to what is beside them ${reason}`,
    async () => {
      const tree = join(scratch, "tree");
      if (IS_ROOT && name === "landlock") {
        await expect(create(options()).spawn(["true"], NOTHING)).rejects.toThrow(
          "may not enter the directories above packages of root's",
        );
        return;
      }
      const script = `cat ${tree}/file; echo x > ${tree}/file; echo x > ${tree}/new; rm ${tree}/file; chmod 777 ${tree}; cat ${tree}/../key; ls ${scratch}/home`;
      const { output } = await runShell(create(options()), script);
      expect(output).toMatch(/^package/u);
      expect(output).not.toMatch(/private/u);
      expect(readFileSync(join(tree, "file"), "utf8")).toBe("package");
    },
  );

  it.skipIf(!run)(
    `are refused where they hold what is hidden, or what is written ${reason}`,
    async () => {
      const refused = async (more: Partial<ConfinementOptions>, why: string): Promise<void> =>
        void (await expect(
          create({ ...options(), ...more }).spawn(["true"], NOTHING),
        ).rejects.toThrow(why));
      await refused({ packages: scratch }, "which stays hidden");
      await refused({ packages: join(scratch, "home") }, "which the agent is shown as well");
      await refused({ packages: join(scratch, "gone") }, "ENOENT");
      await refused({ packages: "/etc" }, "it is more than a workspace");
    },
  );
});

describe("packages elsewhere", () => {
  it("are refused by a sandbox that has no rules for files", async () => {
    const agent = createEnvSandbox({ ...user, packages: join(scratch, "tree") }).spawn(
      ["true"],
      NOTHING,
    );
    await expect(agent).rejects.toThrow("packages: it has no files of its own");
  });
});
