/** Agents of the env sandbox run in test/supervised.test.ts. */
import { describe, expect, it } from "vitest";
import { createEnvSandbox } from "./env.js";
import type { NativeHelper } from "./native-helper.js";

const agent = { onConnection: (): void => undefined, env: () => ({}) };
const noHelper = (): Promise<NativeHelper> =>
  Promise.resolve({ isAvailable: false, reason: "there is no C compiler", fix: "Install one" });

describe("createEnvSandbox()", () => {
  it("has level none, with the helper and without, and is refused where any level is asked for", async () => {
    const sandbox = createEnvSandbox({}, noHelper);
    expect(await sandbox.probe()).toMatchObject({ isAvailable: true, level: "none", dns: "open" });
    for (const requiredLevel of ["advisory", "partial", "uid", "full"] as const) {
      await expect(sandbox.spawn(["/bin/true"], { ...agent, requiredLevel })).rejects.toMatchObject(
        { code: "sandbox_unavailable" },
      );
    }
  });

  it("throws options_invalid for a user or a workspace that cannot be had", async () => {
    await expect(createEnvSandbox({ user: 0 }, noHelper).probe()).rejects.toMatchObject({
      code: "options_invalid",
    });
    const nowhere = createEnvSandbox(
      { workspace: { path: "/nowhere", access: "read-only" } },
      noHelper,
    );
    await expect(nowhere.spawn(["/bin/true"], agent)).rejects.toMatchObject({
      code: "options_invalid",
    });
  });
});
