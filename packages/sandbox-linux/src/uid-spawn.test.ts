import { describe, expect, it } from "vitest";
import type { AgentUser, FirstStageFindings, StagePrivileges } from "./parts.js";
import { confirmAgent, parseSignal } from "./uid-spawn.js";

const USER: AgentUser = { uid: 61_000, gid: 61_000, name: "agent", home: "/" };
const HELD: StagePrivileges = {
  uid: 61_000,
  hasNoCapabilities: true,
  hasNoNewPrivileges: true,
  hasSeccompFilter: true,
};
const MARK = { pid: process.pid, start: "0" };

function findings(more: Partial<StagePrivileges>): FirstStageFindings {
  const privileges = { ...HELD, ...more };
  return { privileges, proxy: "reached", tcp: "x", udp: "x", pathSocket: "x", abstractSocket: "x" };
}

describe("confirmAgent()", () => {
  const expected = { user: USER, mark: MARK, hasFilter: true, cgroups: [] };

  it("lets pass what is as it was meant", () => {
    expect(() => confirmAgent(expected, findings({}))).not.toThrow();
    expect(() =>
      confirmAgent({ ...expected, hasFilter: false }, findings({ hasSeccompFilter: false })),
    ).not.toThrow();
  });

  it.each<[string, Partial<StagePrivileges>]>([
    ["is another user", { uid: 0 }],
    ["has capabilities", { hasNoCapabilities: false }],
    ["could get privileges", { hasNoNewPrivileges: false }],
    ["has no filter", { hasSeccompFilter: false }],
  ])("fails where the process %s", (_, more) => {
    expect(() => confirmAgent(expected, findings(more))).toThrow(
      expect.objectContaining({ code: "sandbox_failed" }),
    );
  });

  it("fails where the process is not in its cgroup", () => {
    const elsewhere = { ...expected, cgroups: ["/sys/fs/cgroup/acp-not-this-one"] };
    expect(() => confirmAgent(elsewhere, findings({}))).toThrow(
      expect.objectContaining({ code: "sandbox_failed" }),
    );
  });
});

describe("parseSignal()", () => {
  it("takes the names of signals, and nothing else", () => {
    expect(parseSignal("SIGTERM")).toBe("SIGTERM");
    for (const name of ["TERM", "15", "", "toString"])
      expect(() => parseSignal(name)).toThrow(expect.objectContaining({ code: "options_invalid" }));
  });
});
