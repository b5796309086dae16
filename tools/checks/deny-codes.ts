/**
 * docs/reference/deny-codes.md is made from the table in packages/core/src/deny-codes.ts;
 * `--update` writes it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import type { Check } from "./check.js";

const SOURCE = "packages/core/src/deny-codes.ts";
const PAGE = "docs/reference/deny-codes.md";

interface Row {
  readonly meaning: string;
  readonly remedy: string;
  readonly retryable: boolean;
}

function isTable(value: unknown): value is Readonly<Record<string, Row>> {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** The table itself: its file imports nothing, so it is compiled and loaded alone. */
async function readTable(path: string): Promise<Readonly<Record<string, Row>>> {
  const options = { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(readFileSync(path, "utf8"), {
    compilerOptions: options,
  });
  const loaded: unknown = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
  const table =
    typeof loaded === "object" && loaded !== null && "DENY_CODES" in loaded
      ? loaded.DENY_CODES
      : undefined;
  if (!isTable(table)) throw new Error(`Cannot read "${SOURCE}": it exports no DENY_CODES`);
  return table;
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

function pageOf(table: Readonly<Record<string, Row>>): string {
  const rows = Object.entries(table).map(
    ([code, { meaning, remedy, retryable }]) =>
      `| \`${code}\` | ${cell(meaning)} | ${cell(remedy)} | ${retryable ? "yes" : "no"} |`,
  );
  return `# Deny codes

<!-- Made from ${SOURCE} by \`npm run check -- --update\`: edit the table there. -->

Every denied action carries one of these codes, in \`Denied.code\` and on the wire. Match on the code: texts may change, codes do not.
\`retry\` says whether the same call can succeed later without a change to the policy or the configuration.

| code | meaning | remedy | retry |
|---|---|---|---|
${rows.join("\n")}
`;
}

export const denyCodes: Check = {
  name: "deny codes",
  remedy: "Run `npm run check -- --update` and commit docs/reference/deny-codes.md",
  async run({ root, update }) {
    if (!existsSync(join(root, SOURCE))) return { problems: [`${SOURCE}: is missing`] };
    const path = join(root, PAGE);
    const page = pageOf(await readTable(join(root, SOURCE)));
    if (update) writeFileSync(path, page);
    const isSame = existsSync(path) && readFileSync(path, "utf8") === page;
    return { problems: isSame ? [] : [`${PAGE}: does not say what ${SOURCE} says`] };
  },
};
