import { describe, expect, it } from "vitest";
import type { SandboxAspect } from "@acp/core";
import { makeUidReport, makeUnavailableReport } from "./uid-report.js";
import type { UidFacts } from "./uid-report.js";

const WHOLE: UidFacts = {
  noFilter: undefined,
  noCgroup: undefined,
  dns: "closed",
  unixSockets: "none",
};
const NO_FILTER = { reason: "there is no C compiler", fix: "install one" };
const NETWORK: readonly SandboxAspect[] = [
  "tcp",
  "udp",
  "icmp",
  "raw",
  "ipv6",
  "child_processes",
  "static_binaries",
];

function enforcement(facts: UidFacts, aspect: SandboxAspect): string | undefined {
  return makeUidReport(facts).items.find((item) => item.aspect === aspect)?.enforcement;
}

describe("makeUidReport()", () => {
  it("has every aspect once, whatever there is", () => {
    const aspects = makeUidReport(WHOLE).items.map(({ aspect }) => aspect);
    expect(aspects.length).toBe(15);
    expect(new Set(aspects).size).toBe(15);
    for (const facts of [
      WHOLE,
      { ...WHOLE, noFilter: NO_FILTER },
      { ...WHOLE, dns: "system" as const },
    ]) {
      expect(makeUidReport(facts).items.map(({ aspect }) => aspect)).toEqual(aspects);
    }
  });

  it("has level uid while the network is held, with the filter or without", () => {
    for (const facts of [
      WHOLE,
      { ...WHOLE, noFilter: NO_FILTER },
      { ...WHOLE, noCgroup: "none" },
      { ...WHOLE, unixSockets: "private" as const },
    ]) {
      expect(makeUidReport(facts)).toMatchObject({ isAvailable: true, level: "uid" });
      for (const aspect of NETWORK) expect(enforcement(facts, aspect)).toBe("enforced");
    }
  });

  it("says what the filter would have held when there is none, and how to get it", () => {
    const facts = { ...WHOLE, noFilter: NO_FILTER };
    for (const aspect of ["path_sockets", "abstract_sockets", "vsock"] as const)
      expect(enforcement(facts, aspect)).toBe("none");
    expect(enforcement(facts, "io_uring")).toBe("partial");
    expect(makeUidReport(facts)).toMatchObject({ dns: "open" });
    expect(makeUidReport(facts).items.find(({ aspect }) => aspect === "vsock")).toMatchObject({
      fix: "install one",
    });
  });

  it("is partial when nothing sees sockets that the kernel opens for the agent", () => {
    const facts = { ...WHOLE, noFilter: NO_FILTER, noCgroup: "none" };
    expect(makeUidReport(facts).level).toBe("partial");
    expect(enforcement(facts, "udp")).toBe("partial");
  });

  it("is partial, with DNS open, when port 53 was asked for", () => {
    const facts = { ...WHOLE, dns: "system" as const };
    expect(makeUidReport(facts)).toMatchObject({ level: "partial", dns: "open" });
    expect(enforcement(facts, "dns")).toBe("none");
    expect(enforcement(facts, "tcp")).toBe("partial");
    expect(enforcement(facts, "icmp")).toBe("enforced");
  });

  it("says that Unix sockets lead out when they were asked for, DNS included", () => {
    const facts = { ...WHOLE, unixSockets: "private" as const };
    expect(enforcement(facts, "path_sockets")).toBe("none");
    expect(makeUidReport(facts).dns).toBe("open");
    expect(enforcement(facts, "vsock")).toBe("enforced");
  });

  it("never calls DNS closed where its item is not enforced", () => {
    for (const dns of ["closed", "system"] as const)
      for (const noFilter of [undefined, NO_FILTER])
        for (const unixSockets of ["none", "private"] as const) {
          const facts = { ...WHOLE, dns, noFilter, unixSockets };
          expect(makeUidReport(facts).dns).toBe(
            enforcement(facts, "dns") === "enforced" ? "closed" : "open",
          );
        }
  });
});

describe("makeUnavailableReport()", () => {
  it("enforces nothing, aspect by aspect", () => {
    const report = makeUnavailableReport("not root", "start as root");
    expect(report).toMatchObject({
      isAvailable: false,
      level: "none",
      dns: "open",
      reason: "not root",
      fix: "start as root",
    });
    expect(report.items.length).toBe(15);
    expect(report.items.every((item) => item.enforcement === "none")).toBe(true);
    expect(makeUnavailableReport("not root")).not.toHaveProperty("fix");
  });
});
