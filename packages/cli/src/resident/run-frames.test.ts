import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NOTE_BYTES_MAX, readNote, readRun, runBody } from "./run-frames.js";
import type { HeldRun } from "./run-frames.js";

const text = fc.string({ maxLength: 40 });
const path = text.map((name) => `/${name}`);
const item = fc.record({
  aspect: fc.constantFrom("tcp" as const, "files" as const, "resource_caps" as const),
  enforcement: fc.constantFrom("enforced" as const, "partial" as const, "none" as const),
  reason: text,
});
const digits = fc.nat().map(String);
const run: fc.Arbitrary<HeldRun> = fc.record(
  {
    report: fc.record(
      {
        sandbox: fc.constantFrom("namespace", "uid", "landlock", "preload", "env"),
        isAvailable: fc.boolean(),
        level: fc.constantFrom("full", "uid", "partial", "advisory", "none"),
        reason: text,
        fix: text,
        dns: fc.constantFrom("closed", "open"),
        items: fc.array(item, { maxLength: 4 }),
      },
      { requiredKeys: ["sandbox", "isAvailable", "level", "reason", "dns", "items"] },
    ),
    workspace: fc.record(
      {
        path,
        access: fc.constantFrom("read-only", "read-write", "overlay"),
        writable: fc.array(path, { maxLength: 3 }),
      },
      { requiredKeys: ["path", "access"] },
    ),
    view: fc.record({ workspace: path, process: text, device: digits, inode: digits }),
    hidden: fc.array(path, { maxLength: 3 }),
    programs: fc.array(path, { maxLength: 3 }),
    isQuiet: fc.boolean(),
    state: fc.constantFrom("held", "begun", "ended"),
  },
  { requiredKeys: ["report", "hidden", "programs", "isQuiet", "state"] },
);

const WHOLE = {
  report: {
    sandbox: "namespace",
    isAvailable: true,
    level: "full",
    reason: "held",
    dns: "closed",
    items: [{ aspect: "tcp", enforcement: "enforced", reason: "no interface" }],
  },
  workspace: { path: "/w", access: "overlay" },
  view: { workspace: "/w", process: "1-2-3", device: "4", inode: "5" },
  hidden: ["/h"],
  programs: ["/p"],
  is_quiet: false,
  state: "held",
};

const read = (value: unknown): HeldRun | undefined => readRun(Buffer.from(JSON.stringify(value)));

describe("readRun()", () => {
  it("reads what runBody() makes", () => {
    fc.assert(
      fc.property(run, (held) => {
        expect(readRun(Buffer.from(runBody(held)))).toEqual(held);
      }),
    );
  });

  it.each<[string, unknown]>([
    ["no object", []],
    ["no report", { ...WHOLE, report: undefined }],
    ["another sandbox", { ...WHOLE, report: { ...WHOLE.report, sandbox: "full:namespace" } }],
    ["another level", { ...WHOLE, report: { ...WHOLE.report, level: "whole" } }],
    ["a report without items", { ...WHOLE, report: { ...WHOLE.report, items: undefined } }],
    ["an item that is none", { ...WHOLE, report: { ...WHOLE.report, items: [{}] } }],
    [
      "too many items",
      { ...WHOLE, report: { ...WHOLE.report, items: Array(65).fill(WHOLE.report.items[0]) } },
    ],
    ["a reason too long", { ...WHOLE, report: { ...WHOLE.report, reason: "x".repeat(8_193) } }],
    ["a workspace by a relative path", { ...WHOLE, workspace: { path: "w", access: "overlay" } }],
    ["another access", { ...WHOLE, workspace: { path: "/w", access: "all" } }],
    ["what is no list of paths", { ...WHOLE, workspace: { ...WHOLE.workspace, writable: "/w" } }],
    ["a view without its process", { ...WHOLE, view: { ...WHOLE.view, process: undefined } }],
    ["a view of no number", { ...WHOLE, view: { ...WHOLE.view, inode: "x" } }],
    ["hidden paths that are none", { ...WHOLE, hidden: ["h"] }],
    ["no programs", { ...WHOLE, programs: undefined }],
    ["too many programs", { ...WHOLE, programs: Array(4_097).fill("/p") }],
    ["no word about the terminal", { ...WHOLE, is_quiet: undefined }],
    ["another state", { ...WHOLE, state: "over" }],
  ])("refuses %s", (_what, value) => {
    expect(read(WHOLE)).toBeDefined();
    expect(read(value)).toBeUndefined();
  });
});

describe("readNote()", () => {
  const note = (value: object): unknown =>
    readNote(Buffer.from(JSON.stringify({ n: 1, code: "review", text: "t", ...value })));

  it("reads four codes and no other", () => {
    for (const code of ["left_behind", "held_replaced", "host_ports", "review"])
      expect(note({ code })).toEqual({ n: 1, code, text: "t" });
    for (const code of ["isolation", "policy_loaded", "", undefined])
      expect(note({ code })).toBeUndefined();
  });

  it("refuses other numbers, and texts that are none or too long", () => {
    for (const n of [0, -1, 0.5, "1", undefined]) expect(note({ n })).toBeUndefined();
    for (const value of [undefined, 1, "x".repeat(NOTE_BYTES_MAX + 1)])
      expect(note({ text: value })).toBeUndefined();
  });
});
