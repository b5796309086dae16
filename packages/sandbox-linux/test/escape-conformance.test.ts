/**
 * Every backend through the conformance suite, each in a world of its own
 * (packages/testing/escape/world.sh): nothing here touches the machine.
 */
import { afterAll, describe, expect, it } from "vitest";
import { NEEDS, openWorlds, OTHER_PLAIN_USER, TIMEOUT_MS, type Worlds } from "./escape-worlds.js";

let opened: Promise<Worlds> | undefined;
const worlds = (): Promise<Worlds> => (opened ??= openWorlds());
afterAll(async () => (await opened)?.[Symbol.asyncDispose]());

describe.each([
  { backend: "namespace", uid: 0, need: NEEDS.root },
  { backend: "namespace", uid: OTHER_PLAIN_USER, need: NEEDS.world },
  { backend: "uid", uid: 0, need: NEEDS.root },
  { backend: "landlock", uid: OTHER_PLAIN_USER, need: NEEDS.root },
  { backend: "preload", uid: 0, need: NEEDS.root },
  { backend: "env", uid: OTHER_PLAIN_USER, need: NEEDS.world },
])("$backend, from a manager with uid $uid", ({ backend, uid, need }) => {
  it(
    "passes sandboxConformance()",
    async ({ skip }) => {
      const { run, reason } = need();
      if (!run) skip(reason);
      const { cases, failed } = (await (
        await worlds()
      ).run("conformance-manager.ts", backend, uid)) as {
        cases: number;
        failed: readonly string[];
      };
      expect(failed).toEqual([]);
      expect(cases).toBeGreaterThan(15);
    },
    TIMEOUT_MS,
  );
});
