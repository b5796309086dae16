import { afterEach, describe, expect, it, vi } from "vitest";
import { hostNeed } from "./host-needs.js";

const missing = (): string => "no such program";

describe("hostNeed()", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("lets a test run where the need is there, on a build server too", () => {
    for (const CI of ["", "true"]) {
      vi.stubEnv("CI", CI);
      expect(hostNeed("bubblewrap", () => undefined)).toEqual({ run: true, reason: "" });
    }
  });

  it.each(["", "0", "false"])(
    "gives the skip's reason where the need is missing and CI is %j",
    (CI) => {
      vi.stubEnv("CI", CI);
      expect(hostNeed("bubblewrap", missing)).toEqual({
        run: false,
        reason: "needs bubblewrap: no such program",
      });
    },
  );

  it.each(["true", "1"])("throws where the need is missing and CI is %j", (CI) => {
    vi.stubEnv("CI", CI);
    expect(() => hostNeed("bubblewrap", missing)).toThrow(
      "Cannot skip on a build server: needs bubblewrap: no such program",
    );
  });

  it("gives the skip's reason on a build server where the need is left out on purpose, and for no other need", () => {
    vi.stubEnv("CI", "true");
    vi.stubEnv("ACP_HOST_LACKS", "root,docker");
    expect(hostNeed("root, nft", () => "not root")).toEqual({
      run: false,
      reason: "needs root, nft: not root",
    });
    expect(() => hostNeed("bubblewrap", missing)).toThrow("Cannot skip on a build server");
    expect(() => hostNeed("rooted", missing)).toThrow("Cannot skip on a build server");
  });

  it("takes what a probe throws for the reason, one line of it", () => {
    vi.stubEnv("CI", "");
    const probe = (): never => {
      throw new Error("spawn bwrap ENOENT\n    at elsewhere");
    };
    expect(hostNeed("bubblewrap", probe).reason).toBe("needs bubblewrap: spawn bwrap ENOENT");
  });
});
