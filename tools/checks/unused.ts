/**
 * Nothing is kept that nobody uses: files, exports, dependencies, catalog entries (knip.json).
 */
import { join } from "node:path";
import { capture, root as home } from "../workspace.mjs";
import type { Check } from "./check.js";

interface Issue {
  readonly file: string;
  readonly [kind: string]: string | readonly { readonly name: string; readonly line?: number }[];
}

function isReport(value: unknown): value is { readonly issues: readonly Issue[] } {
  return (
    typeof value === "object" && value !== null && "issues" in value && Array.isArray(value.issues)
  );
}

/** What each list of the report holds. */
const KINDS: Readonly<Record<string, string>> = {
  files: "is used by nothing",
  exports: "is exported for nobody",
  types: "is exported for nobody",
  dependencies: "is a dependency that nothing imports",
  devDependencies: "is a development dependency that nothing uses",
  unlisted: "is imported but not declared",
  unresolved: "is imported but does not exist",
  binaries: "is run but not declared (knip.json, ignoreBinaries)",
  catalog: "is in the catalog for nobody",
};

function problemsOf(issue: Issue): readonly string[] {
  return Object.entries(issue).flatMap(([kind, items]) =>
    typeof items === "string"
      ? []
      : items.map(
          ({ name, line }) =>
            `${issue.file}${line === undefined ? "" : `:${line}`}: ${name} ${KINDS[kind] ?? kind}`,
        ),
  );
}

export const unused: Check = {
  name: "unused",
  remedy: "Remove it; what is used in a way that cannot be seen goes into knip.json",
  async run({ root }) {
    const knip = join(home, "node_modules/knip/bin/knip.js");
    const { output, status } = await capture(
      process.execPath,
      [knip, "--reporter", "json", "--no-progress", "--no-config-hints"],
      {
        cwd: root,
      },
    );
    const line = output.split("\n").find((each) => each.startsWith('{"issues"'));
    const report: unknown = line === undefined ? undefined : JSON.parse(line);
    if (!isReport(report)) return { problems: [`knip ended with ${status}:\n${output.trim()}`] };
    return { problems: report.issues.flatMap(problemsOf) };
  },
};
