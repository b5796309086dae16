/**
 * docs/reference/cli.md comes from the tables of the command line. After a change:
 * npx vitest run packages/cli/test/reference.test.ts -u
 */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { Command } from "../src/command.js";
import { COMMANDS } from "../src/commands.js";
import { EXIT_CODES } from "../src/exit-codes.js";
import { exitsOf, optionUsage } from "../src/help.js";
import { COMMON_OPTIONS, optionOf } from "../src/options.js";
import type { OptionName } from "../src/options.js";

const PAGE = fileURLToPath(new URL("../../../docs/reference/cli.md", import.meta.url));

const cell = (text: string): string => text.replaceAll("|", "\\|");

const optionTable = (names: readonly OptionName[]): readonly string[] => [
  "| option | meaning |",
  "|---|---|",
  ...names.map((name) => `| \`${optionUsage(name)}\` | ${cell(optionOf(name).summary)} |`),
];

function sectionOf(command: Command): readonly string[] {
  const { name, usage, summary, details, options, examples } = command;
  return [
    `## acp ${name}`,
    "",
    `\`acp ${name} ${usage}`.trim().concat("`"),
    "",
    `${summary}.`,
    "",
    ...details.flatMap((sentence) => [sentence, ""]),
    ...(options.length === 0 ? [] : [...optionTable(options), ""]),
    `Exits: ${exitsOf(command)
      .map((exit) => `${EXIT_CODES[exit].code} (${exit})`)
      .join(", ")}.`,
    "",
    "```sh",
    ...examples,
    "```",
    "",
  ];
}

function renderReference(): string {
  return [
    "# The command line",
    "",
    "The tables that `acp` itself reads (packages/cli/src) generate this page. `acp COMMAND --help` shows",
    "the same.",
    "",
    "Results go to standard output, and everything else to standard error. With `--json`, results are",
    'JSON, one object per line, and an error is `{"error":{"code":…,"message":…}}` on standard error.',
    "Without `--json`, an error is one line: what failed, why, what to write instead, and the error code.",
    "Output is colored only on a terminal, and only if `NO_COLOR` is not set.",
    "",
    "## Options of every command",
    "",
    ...optionTable(COMMON_OPTIONS),
    "",
    "## Exit codes",
    "",
    "| code | name | meaning |",
    "|---|---|---|",
    ...Object.entries(EXIT_CODES).map(
      ([name, { code, meaning }]) => `| ${code} | ${name} | ${meaning} |`,
    ),
    "",
    ...COMMANDS.flatMap(sectionOf),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

it("docs/reference/cli.md says what the tables say", async () => {
  await expect(renderReference()).toMatchFileSnapshot(PAGE);
});
