import { expect, it } from "vitest";
import type { SandboxLevel, SandboxReport } from "@acp/core";
import type { Io } from "../command.js";
import { warningOf } from "./warning.js";

const report = (level: SandboxLevel): SandboxReport => ({ sandbox: "x", isAvailable: true, level, reason: "", dns: "open", items: [] });
/** Nothing is written to it. */
const streamOf = (isTTY: boolean): Pick<Io, "stderr" | "env"> => ({ stderr: { isTTY } as unknown as Io["stderr"], env: {} });

it.each(["none", "advisory"] as const)("warningOf() cannot be missed at level %s", (level) => {
  const lines = warningOf(report(level), streamOf(false));
  expect(lines[0]).toMatch(/^!{40,}$/);
  expect(lines.join("\n")).toMatch(/!! NO (?:ISOLATION|BARRIER)\./);
  expect(warningOf(report(level), streamOf(true)).every((line) => line.startsWith("\u001b[31m"))).toBe(true);
});

it.each(["full", "uid", "partial"] as const)("warningOf() says nothing at level %s", (level) => {
  expect(warningOf(report(level), streamOf(true))).toEqual([]);
});
