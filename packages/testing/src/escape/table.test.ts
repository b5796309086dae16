import { describe, expect, it } from "vitest";
import type { EscapeReport, EscapeResult } from "./attempt.js";
import { formatEscapeReport } from "./table.js";

function result(id: string, fields: Partial<EscapeResult>): EscapeResult {
  return {
    id,
    title: "",
    aspects: ["tcp"],
    outcome: "blocked",
    detail: "",
    arrivals: [],
    isPromised: true,
    ...fields,
  };
}

function reportOf(...results: readonly EscapeResult[]): EscapeReport {
  return {
    sandbox: "namespace",
    claims: { tcp: "enforced", files: "partial" },
    results,
    brokenPromises: results.filter(
      ({ outcome, isPromised }) => outcome === "escaped" && isPromised,
    ),
    strays: [{ listener: "udp", address: "192.0.2.1", text: "what is this" }],
  };
}

describe("formatEscapeReport()", () => {
  it("has a line for each aspect, broken promise, escape, skip and stray", () => {
    const text = formatEscapeReport(
      reportOf(
        result("held", {}),
        result("out", { outcome: "escaped", detail: "heard by tcp" }),
        result("known", { aspects: ["files"], outcome: "escaped", isPromised: false }),
        result("sctp", { outcome: "skipped", detail: "not in this kernel" }),
        result("gate", { aspects: [] }),
      ),
    );
    expect(text.split("\n").map((line) => line.replaceAll(/ +/g, " ").trim())).toEqual([
      "namespace: 5 attempts, 2 blocked, 2 escaped (1 against a claim), 1 skipped, 1 strays",
      "aspect claim blocked escaped skipped",
      "tcp enforced 1 1 1",
      "files partial 0 1 0",
      "the proxy itself enforced 1 0 0",
      "BROKEN out: heard by tcp",
      "open known",
      "skipped sctp: not in this kernel",
      "stray udp 192.0.2.1 what is this",
    ]);
  });

  it("breaks a long list of escapes into lines", () => {
    const many = Array.from({ length: 40 }, (_, number) =>
      result(`attempt-${number}`, { outcome: "escaped", isPromised: false }),
    );
    const lines = formatEscapeReport(reportOf(...many)).split("\n");
    expect(lines.filter((line) => line.startsWith("  open")).length).toBeGreaterThan(3);
    for (const line of lines) expect(line.length).toBeLessThan(120);
  });
});
