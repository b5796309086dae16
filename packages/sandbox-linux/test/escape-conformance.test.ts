/** Every backend through the conformance suite, each in a world of its own (packages/testing/escape/world.sh): nothing here touches the machine. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NEEDS, openWorlds, PLAIN_USER, TIMEOUT_MS, type Worlds } from "./escape-worlds.js";

let worlds: Worlds;
beforeAll(async () => {
  if (NEEDS.world.run) worlds = await openWorlds();
}, TIMEOUT_MS);
afterAll(async () => worlds?.[Symbol.asyncDispose]());

describe.each([
  { backend: "namespace", uid: 0, need: NEEDS.root },
  { backend: "namespace", uid: PLAIN_USER, need: NEEDS.world },
  { backend: "uid", uid: 0, need: NEEDS.root },
  { backend: "landlock", uid: PLAIN_USER, need: NEEDS.root },
  { backend: "preload", uid: 0, need: NEEDS.root },
  { backend: "env", uid: PLAIN_USER, need: NEEDS.world },
])("$backend, from a manager with uid $uid", ({ backend, uid, need }) => {
  it(
    "passes sandboxConformance()",
    async ({ skip }) => {
      if (!need.run) skip(need.reason);
      const { cases, failed } = (await worlds.run("conformance-manager.ts", backend, uid)) as { cases: number; failed: readonly string[] };
      expect(failed).toEqual([]);
      expect(cases).toBeGreaterThan(15);
    },
    TIMEOUT_MS,
  );
});
