import { expect, it } from "vitest";
import type { SandboxLevel } from "@acp/core";
import type { Io } from "../command.js";
import type { AgentHost } from "../gate/notices.js";
import { warningOf } from "./warning.js";

const host = (level: SandboxLevel, sharesUid = true): AgentHost => ({
  sharesUid,
  sandbox: { sandbox: "x", isAvailable: true, level, reason: "", dns: "open", items: [] },
});
/** Nothing is written to it. */
const streamOf = (isTTY: boolean): Pick<Io, "stderr" | "env"> => ({
  stderr: { isTTY } as unknown as Io["stderr"],
  env: {},
});

it.each(["none", "advisory"] as const)("warningOf() cannot be missed at level %s", (level) => {
  const lines = warningOf(host(level), streamOf(false));
  expect(lines[0]).toMatch(/^!{40,}$/);
  expect(lines.join("\n")).toMatch(/!! NO (?:ISOLATION|BARRIER)\./);
  expect(lines.join("\n")).toContain("answer its own questions");
  expect(warningOf(host(level, false), streamOf(false)).join("\n")).not.toContain(
    "answer its own questions",
  );
  expect(
    warningOf(host(level), streamOf(true)).every((line) => line.startsWith("\u001b[31m")),
  ).toBe(true);
});

it.each(["full", "uid", "partial"] as const)("warningOf() says nothing at level %s", (level) => {
  expect(warningOf(host(level), streamOf(true))).toEqual([]);
});
