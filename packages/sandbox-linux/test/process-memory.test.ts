/** Memory that each process may have, where the host lets nobody limit that of all. */
import { describe, expect, it } from "vitest";
import type { Socket } from "node:net";
import { createLandlockSandbox, createNamespaceSandbox } from "../src/backends.js";
import { hostNeed } from "@acp/testing";
import { nativeHelper } from "../src/native-helper.js";
import { namespaces, PATH, textOf } from "./namespace-kit.js";
import type { ConfinementOptions, LinuxSandbox } from "../src/parts.js";

const MIB = 2 ** 20;
const BYTES = 512 * MIB;
/**
 * What each process may have, as it is told, and whether it gets half of that, and more than that.
 */
const PROGRAM = `import resource, sys
print(resource.getrlimit(resource.RLIMIT_DATA)[0])
for mib in (256, 600):
    try: kept = bytearray(mib << 20); print(mib, "had")
    except MemoryError: print(mib, "refused")
    kept = None
    sys.stdout.flush()`;

const helper = await nativeHelper();
const landlock = hostNeed("Landlock", () =>
  helper.isAvailable && helper.landlockAbi >= 4 ? undefined : "this kernel has none",
);
const BACKENDS: readonly (readonly [
  string,
  typeof landlock,
  (options: ConfinementOptions) => LinuxSandbox,
])[] = [
  ["namespace", namespaces, createNamespaceSandbox],
  ["landlock", landlock, createLandlockSandbox],
];

describe.each(BACKENDS)("memory in %s", (_name, need, create) => {
  const user = process.getuid?.() === 0 ? { user: 61_010 } : {};
  const run = async (
    caps: ConfinementOptions["caps"],
  ): Promise<{ readonly output: readonly string[]; readonly reason: string }> => {
    const agent = await create({ ...user, ...(caps !== undefined && { caps }) }).spawn(
      ["python3", "-c", PROGRAM],
      {
        onConnection: (socket: Socket) => void socket.destroy(),
        env: ({ home }) => ({ PATH, HOME: home }),
        stdio: "pipe",
      },
    );
    agent.stdin?.end();
    const output = (await textOf(agent)).trim().split("\n");
    await agent.exited;
    return {
      output,
      reason: agent.report.items.find(({ aspect }) => aspect === "resource_caps")?.reason ?? "",
    };
  };

  it.skipIf(!need.run)(
    `is refused beyond a size that was named, and the report says of what it is ${need.reason}`,
    async () => {
      const { output, reason } = await run({ memoryBytes: BYTES, processMemoryBytes: BYTES });
      const isOfAll = reason.includes(`${BYTES} bytes of memory`);
      // A group's limit ends the process that goes beyond; an rlimit lets it go on without.
      const expected = isOfAll ? ["-1", "256 had"] : [`${BYTES}`, "256 had", "600 refused"];
      expect([output, reason]).toEqual([
        expected,
        expect.stringContaining(isOfAll ? "bytes of memory" : `memory per process: ${BYTES} bytes`),
      ]);
    },
  );

  it.skipIf(!need.run)(
    `is not limited in each process where nobody named a size ${need.reason}`,
    async () => {
      const { output, reason } = await run(undefined);
      expect(output).toEqual(["-1", "256 had", "600 had"]);
      expect(reason).not.toContain("memory per process");
    },
  );
});
