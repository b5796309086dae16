/**
 * One format for code and JSON (biome.json); `--update` writes it.
 */
import { bin, capture } from "../workspace.mjs";
import type { Check } from "./check.js";

interface Report {
  readonly diagnostics: readonly {
    readonly location: { readonly path: string | { readonly file: string } };
  }[];
}

function isReport(value: unknown): value is Report {
  return (
    typeof value === "object" &&
    value !== null &&
    "diagnostics" in value &&
    Array.isArray(value.diagnostics)
  );
}

/** The files named in Biome's JSON report, the only line that begins with a brace. */
function filesIn(output: string): readonly string[] {
  const line = output.split("\n").find((each) => each.startsWith("{"));
  const report: unknown = line === undefined ? undefined : JSON.parse(line);
  if (!isReport(report)) return [output.trim()];
  return [
    ...new Set(
      report.diagnostics.map(({ location: { path } }) =>
        typeof path === "string" ? path : path.file,
      ),
    ),
  ];
}

export const format: Check = {
  name: "format",
  remedy: "Run `npm run check -- --update` and commit",
  async run({ root, update }) {
    const args = [
      "format",
      "--reporter=json",
      "--max-diagnostics=none",
      ...(update ? ["--write"] : []),
      ".",
    ];
    const { status, output } = await capture(bin("biome"), args, { cwd: root });
    return {
      problems: status === 0 ? [] : filesIn(output).map((file) => `${file}: is not formatted`),
    };
  },
};
