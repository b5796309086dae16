/**
 * Classification: category and risk of an Action. Advice for rules and for the person asked; it decides nothing by itself.
 * The table of tool names is S0 §5.5; the rest of it is spec/policy.md §9. Pure.
 */
import { isHttpAction, isToolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import type { RiskLevel } from "../layers.js";
import type { Classification } from "./policy.js";

/** Words that open a tool's name, and what they say. `exec*` needs no underscore after it. */
const ROWS: readonly { readonly words: readonly string[]; readonly says: Classification }[] = [
  { words: ["read", "get", "list", "search"], says: { category: "read", risk: "low" } },
  { words: ["write", "create", "update"], says: { category: "write", risk: "medium" } },
  { words: ["send", "email", "message"], says: { category: "communication", risk: "high" } },
  { words: ["delete", "remove", "drop"], says: { category: "system", risk: "high" } },
  { words: ["deploy", "shell"], says: { category: "system", risk: "high" } },
  { words: ["transfer", "pay", "charge"], says: { category: "financial", risk: "critical" } },
  { words: ["publish", "post", "tweet"], says: { category: "public", risk: "high" } },
];
const EXEC: Classification = { category: "system", risk: "high" };
const OTHER: Classification = { category: "write", risk: "medium" };
const HTTP_READ: Classification = { category: "read", risk: "low" };
const SHELL: Classification = { category: "system", risk: "high" };

const BY_WORD: ReadonlyMap<string, Classification> = new Map(ROWS.flatMap(({ words, says }) => words.map((word) => [word, says] as const)));
const RANK: Readonly<Record<RiskLevel, number>> = { low: 0, medium: 1, high: 2, critical: 3 };
const MEMO_MAX = 1_024;

/** Category and risk of a tool's name by the built-in table. */
export function classifyTool(name: string): Classification {
  // `github.delete_repo`, `github__delete_repo` and `github/delete_repo` are read from the front and from the last part; the riskier wins.
  const last = name.split(/__|[./:]/).at(-1) ?? "";
  const found = [fromWords(name), fromWords(last)].filter((each) => each !== undefined);
  return (
    found.reduce<Classification | undefined>(
      (worst, each) => (worst !== undefined && RANK[worst.risk] >= RANK[each.risk] ? worst : each),
      undefined,
    ) ?? OTHER
  );
}

function fromWords(name: string): Classification | undefined {
  const snake = toSnakeCase(name);
  if (snake.startsWith("exec")) return EXEC;
  const [word = "", ...more] = snake.split("_");
  const says = BY_WORD.get(word);
  // A bare verb (`delete`) is not in S0's table: it may raise the risk, never lower it.
  return more.length === 0 && says?.risk === "low" ? undefined : says;
}

/** `deleteFile`, `DeleteFile`, `delete-file` and `HTTPDelete` as `delete_file` and `http_delete`. */
function toSnakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+/, "")
    .toLowerCase();
}

/** Gives a tool's classification where the policy has its own word on it. */
export type Overrides = (toolName: string) => Classification | undefined;

/** A classifier with a policy's own rows in front. Tool names are remembered, up to a bound: an agent may make up new ones. */
export function createClassifier(overrides: Overrides): (action: Action) => Classification {
  const memo = new Map<string, Classification>();
  const ofTool = (name: string): Classification => {
    const kept = memo.get(name);
    if (kept !== undefined) return kept;
    const made = overrides(name) ?? classifyTool(name);
    if (memo.size >= MEMO_MAX) memo.clear();
    memo.set(name, made);
    return made;
  };
  return (action) => {
    if (isToolAction(action)) return ofTool(action.name);
    if (isHttpAction(action)) return action.name === "GET" || action.name === "HEAD" ? HTTP_READ : OTHER;
    return SHELL;
  };
}
