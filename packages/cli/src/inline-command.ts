/**
 * Inline command: the server that `acp mcp` is started with. Programs that start other programs,
 * such as the MCP inspector, take `--` for themselves and hand on what stood around it; the command
 * then begins at the first word that is neither an option of ours nor its value.
 */

/** What may follow `mcp` besides: `acp mcp wrap` names a command of ours. */
export const MCP_COMMANDS: readonly string[] = [
  "login",
  "logout",
  "restart",
  "review",
  "scan",
  "serve",
  "status",
  "token",
  "unwrap",
  "wrap",
];

/** Options of `acp mcp` that have a value, which may be the next word. */
const WITH_VALUE: ReadonlySet<string> = new Set([
  "--agent",
  "--config",
  "--home",
  "--key-file",
  "--server",
]);

/**
 * The words after `acp`, in one form: with `--` before the command of `acp mcp` where it is missing,
 * and a command of ours, which may come after options, right behind `mcp`.
 */
export function inOneForm(argv: readonly string[]): readonly string[] {
  if (argv[0] !== "mcp") return argv;
  for (let index = 1; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word === "--") return argv;
    if (WITH_VALUE.has(word)) index++;
    else if (MCP_COMMANDS.includes(word))
      return ["mcp", word, ...argv.slice(1, index), ...argv.slice(index + 1)];
    else if (!word.startsWith("-")) return [...argv.slice(0, index), "--", ...argv.slice(index)];
  }
  return argv;
}
