import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Io } from "../command.js";
import { homePath, ownHomePath } from "./home-source.js";
import type { HomeContext } from "./home-source.js";

/** Everything else of an Io is not looked at. */
const context = (env: Io["env"]): HomeContext => ({
  values: {},
  io: { env, userHome: "/nowhere", cwd: "/" } as unknown as Io,
});

describe("ownHomePath()", () => {
  it.each([{}, { ACP_SANDBOX: "" }])(
    "is the home, there or not, outside of a sandbox: %j",
    (env) => {
      expect(ownHomePath(context(env))).toBe("/nowhere/.acp");
    },
  );

  it("is the home inside of a sandbox that does not hide it", () => {
    const home = mkdtempSync(join(tmpdir(), "acp-home-"));
    onTestFinished(() => rmdirSync(home));
    expect(ownHomePath(context({ ACP_SANDBOX: "env", ACP_HOME: home }))).toBe(home);
  });

  it("is refused inside of a sandbox that hides it, saying what to start instead", () => {
    const inside = context({ ACP_SANDBOX: "namespace" });
    expect(() => ownHomePath(inside)).toThrow(
      expect.objectContaining({
        code: "home_invalid",
        message: expect.stringMatching(/inside sandbox "namespace".*acp-mcp-bridge/),
      }),
    );
    expect(homePath(inside)).toBe("/nowhere/.acp");
  });
});
