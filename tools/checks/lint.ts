/**
 * The linter with types: promises that nobody awaits, truthiness, `any`, `as`, `!`, default
 * exports, cycles, long functions. Rules: .oxlintrc.json.
 */
import { delimiter, join } from "node:path";
import { bin, capture, root as home } from "../workspace.mjs";
import type { Check } from "./check.js";

export const lint: Check = {
  name: "lint",
  remedy:
    "Mend the code. Where a rule is wrong for one line: // oxlint-disable-next-line <rule> -- why",
  async run({ root }) {
    const args = [
      "--type-aware",
      "--deny-warnings",
      "--report-unused-disable-directives",
      "-f",
      "unix",
      "-c",
      join(home, ".oxlintrc.json"),
      ".",
    ];
    const PATH = `${join(home, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`;
    const { status, output } = await capture(bin("oxlint"), args, {
      cwd: root,
      env: { ...process.env, PATH },
    });
    const problems = output
      .split("\n")
      .filter((line) => line.trim() !== "" && !/^\d+ problems?$/.test(line));
    return { problems: status === 0 ? [] : problems };
  },
};
