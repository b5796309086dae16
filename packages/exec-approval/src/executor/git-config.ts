/**
 * Git's configuration for approved commands. A repository's own configuration can name programs
 * that `git status` or `git diff` then run; here it names none. Asking git for its configuration
 * runs nothing that the configuration names.
 */
import { delimiter } from "node:path";
import { GIT_GUARDS } from "@acp/core/exec";
import { runProgram, trustedProgram } from "@acp/host";

/** Where git would run. */
export interface GitPlace {
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Keys whose value git runs while it reads. Emptied, git says that it cannot run them, and nothing
 * runs.
 */
const RUN_KEYS = [
  /^diff\.external$/,
  /^diff\..*\.(?:command|textconv)$/s,
  /^filter\..*\.(?:clean|smudge|process)$/s,
  /^merge\..*\.driver$/s,
  /^core\.(?:alternaterefscommand|askpass|gitproxy|sshcommand)$/,
  /^credential\.(?:.*\.)?helper$/s,
  /^gpg\.(?:.*\.)?program$/s,
  /^interactive\.difffilter$/,
];

const OWN_SCOPES: readonly string[] = ["local", "worktree"];
const QUERY_TIMEOUT_MS = 10_000;
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** What `git config --list` says, or `undefined` where it says nothing that can be relied on. */
async function listConfig({ cwd, variables }: GitPlace): Promise<string | undefined> {
  const git = trustedProgram("git", { directories: (variables["PATH"] ?? "").split(delimiter) });
  // Without git nothing of git runs.
  if ("reason" in git) return git.isMissing ? "" : undefined;
  const args = ["config", "--list", "--show-scope", "--includes", "--name-only", "-z"];
  const limits = { timeoutMs: QUERY_TIMEOUT_MS, outputBytesMax: OUTPUT_BYTES_MAX };
  const { code, stdout } = await runProgram(git, args, { cwd, env: variables, ...limits });
  return code === 0 ? stdout : undefined;
}

/**
 * Keys of the repository itself that name a program. The user's own configuration is the user's.
 */
async function ownRunKeys(place: GitPlace): Promise<readonly string[]> {
  const listed = await listConfig(place);
  if (listed === undefined) return ["diff.external"];
  const parts = listed.split("\u0000");
  const keys = parts.filter(
    (_part, at) => at % 2 === 1 && OWN_SCOPES.includes(parts[at - 1] ?? ""),
  );
  return [...new Set(keys)].filter((key) => RUN_KEYS.some((runs) => runs.test(key))).sort();
}

/**
 * Variables that put our configuration above every file's. Git is asked whatever the command:
 * `g''it` is git too, and so is what another program starts.
 */
export async function gitOverrides(place: GitPlace): Promise<Readonly<Record<string, string>>> {
  const emptied = (await ownRunKeys(place)).map((key) => [key, ""] as const);
  // The guards hold in every repository, also in one that a command makes or enters on its way.
  const entries = [...GIT_GUARDS, ...emptied];
  const variables = entries.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key] as const,
    [`GIT_CONFIG_VALUE_${at}`, value] as const,
  ]);
  return Object.fromEntries([["GIT_CONFIG_COUNT", String(entries.length)], ...variables]);
}
