import { describe, expect, it } from "vitest";
import type { SandboxItem } from "@acp/core";
import { makeNamespaceReport, makeObstacleReport } from "./namespace-report.js";

const caps: SandboxItem = { aspect: "resource_caps", enforcement: "partial", reason: "some" };
const init = { isAvailable: true, path: "/init" } as const;
const guard = {
  found: [],
  unheld: [],
  readOnly: [],
  pinned: [],
  writable: [],
  isComplete: true,
} as const;
const facts = {
  variant: "own",
  unixSockets: "none",
  sockets: [],
  caps,
  init,
  guard,
  isOverlay: false,
  isOffline: false,
} as const;
const ASPECTS = 15;

describe("makeNamespaceReport()", () => {
  it("has every aspect once, and takes the caps as they are", () => {
    const { items, level } = makeNamespaceReport(facts);
    expect(new Set(items.map(({ aspect }) => aspect)).size).toBe(ASPECTS);
    expect(items).toHaveLength(ASPECTS);
    expect(items.filter(({ enforcement }) => enforcement !== "enforced")).toEqual([caps]);
    expect(level).toBe("full");
  });

  it("is full with private sockets where none of the host is in sight, else partial with a fix", () => {
    expect(makeNamespaceReport({ ...facts, unixSockets: "private" }).level).toBe("full");
    const open = makeNamespaceReport({
      ...facts,
      unixSockets: "private",
      sockets: ["/w/docker.sock"],
    });
    expect(open).toMatchObject({
      level: "partial",
      reason: expect.stringContaining("/w/docker.sock"),
      fix: expect.any(String),
    });
    expect(open.items.find(({ aspect }) => aspect === "path_sockets")).toMatchObject({
      enforcement: "partial",
      fix: expect.any(String),
    });
  });

  it("says what of the workspace is held, and whether that is all", () => {
    const reasonWith = (
      more: Partial<typeof guard> | { readonly readOnly: readonly string[] },
    ): string =>
      makeNamespaceReport({ ...facts, guard: { ...guard, ...more } }).items.find(
        ({ aspect }) => aspect === "files",
      )?.reason ?? "";
    expect(reasonWith({})).not.toContain("places of the workspace");
    expect(makeNamespaceReport({ ...facts, isOverlay: true }).items[11]?.reason).toContain(
      "is kept apart until you take it",
    );
    expect(reasonWith({ readOnly: ["/w/.envrc"] })).toMatch(
      /; 1 places of the workspace .* read-only$/u,
    );
  });

  it.each([
    [[], "the workspace is too large, or has folders"],
    [
      ["/w/\u001b.envrc", "/w/.npmrc"],
      "places of the workspace that other programs run by themselves are not held: 2, such as /w/",
    ],
  ])("is not full where %j of the workspace are not held", (unheld, why) => {
    const { level, reason, fix, items } = makeNamespaceReport({
      ...facts,
      guard: { ...guard, unheld, isComplete: false },
    });
    const files = items.find(({ aspect }) => aspect === "files");
    expect([level, files?.enforcement, files?.fix]).toEqual(["partial", "partial", fix]);
    expect([reason, files?.reason]).toEqual([
      expect.stringContaining(why),
      expect.stringContaining(why),
    ]);
    expect(reason).not.toContain("\u001b");
  });

  it("is partial without a first process of ours, and says what is missing", () => {
    const missing = {
      isAvailable: false,
      reason: 'there is no C compiler "cc"',
      fix: "Install a C compiler",
    } as const;
    const { level, reason, fix, items } = makeNamespaceReport({ ...facts, init: missing });
    expect({ level, reason, fix }).toMatchObject({
      level: "partial",
      reason: expect.stringContaining(missing.reason),
      fix: missing.fix,
    });
    const children = items.filter(({ aspect }) => aspect === "child_processes");
    expect(children).toEqual([{ aspect: "child_processes", enforcement: "partial", reason, fix }]);
    expect(items).toHaveLength(ASPECTS);
  });
});

describe("makeObstacleReport()", () => {
  it("claims nothing", () => {
    const { items, level, isAvailable } = makeObstacleReport({ reason: "a", fix: "b" });
    expect([level, isAvailable]).toEqual(["none", false]);
    expect(new Set(items.map(({ aspect }) => aspect)).size).toBe(ASPECTS);
    expect(items.every(({ enforcement, fix }) => enforcement === "none" && fix === "b")).toBe(true);
  });
});
