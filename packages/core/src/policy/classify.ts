/**
 * Classification: category and risk of an Action. Advice for rules and for the person asked; it
 * decides nothing by itself. The table of tool names is S0 §5.5; the rest of it is spec/policy.md
 * §9. Pure.
 */
import { isHttpAction, isToolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import { RISK_LEVELS } from "../types/words.js";
import type { TextTest } from "./glob.js";
import type { Classification } from "./policy.js";
import { lookOf } from "./readings.js";

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
/** Requests of MCP beside `tools/call`: their names are no verbs. */
const REQUESTS: ReadonlyMap<string, Classification> = new Map([
  ["mcp:resources/read", { category: "read", risk: "low" }],
  ["mcp:resources/subscribe", { category: "read", risk: "low" }],
  ["mcp:prompts/get", { category: "read", risk: "low" }],
  ["mcp:completion/complete", { category: "read", risk: "low" }],
  ["mcp:roots/list", { category: "read", risk: "low" }],
  ["mcp:sampling/createMessage", { category: "communication", risk: "high" }],
  ["mcp:elicitation/create", { category: "communication", risk: "high" }],
]);
const EXEC: Classification = { category: "system", risk: "high" };
const OTHER: Classification = { category: "write", risk: "medium" };
const HTTP_READ: Classification = { category: "read", risk: "low" };
const SHELL: Classification = { category: "system", risk: "high" };

const BY_WORD: ReadonlyMap<string, Classification> = new Map(
  ROWS.flatMap(({ words, says }) => words.map((word) => [word, says] as const)),
);
const MEMO_MAX = 1_024;

/**
 * Category and risk of a tool's name by the built-in table (spec/policy.md §9): the first word of
 * the whole name, and of its part after the last `__`, `.`, `/` or `:`; the riskier of both counts.
 */
export function classifyTool(name: string): Classification {
  const request = REQUESTS.get(name);
  if (request !== undefined) return request;
  // `github.delete_repo`, `github__delete_repo` and `github/delete_repo` are read from the front
  // and from the last part; the riskier wins.
  const last = name.split(/__|[./:]/).at(-1) ?? "";
  const found = [fromWords(name), fromWords(last)].filter((each) => each !== undefined);
  return found.length === 0 ? OTHER : riskiest(found);
}

/** The riskiest of several classifications, the first of equals. */
export function riskiest(all: readonly Classification[]): Classification {
  const worst = all.reduce<Classification | undefined>(
    (before, each) => (before !== undefined && rankOf(before) >= rankOf(each) ? before : each),
    undefined,
  );
  return worst ?? OTHER;
}

function rankOf({ risk }: Classification): number {
  return RISK_LEVELS.indexOf(risk);
}

function fromWords(name: string): Classification | undefined {
  const snake = toSnakeCase(name);
  if (snake.startsWith("exec")) return EXEC;
  const [word = "", ...more] = snake.split("_");
  const says = BY_WORD.get(word);
  // A bare verb (`delete`) is not in S0's table: it may raise the risk, never lower it.
  return more.length === 0 && says?.risk === "low" ? undefined : says;
}

/**
 * `deleteFile`, `DeleteFile`, `delete-file` and `HTTPDelete` as `delete_file` and `http_delete`.
 */
function toSnakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+/, "")
    .toLowerCase();
}

/** A row of a policy's own. */
export interface ClassifyRow {
  /** Whether the row is about a name in all of its readings. */
  readonly proves: TextTest;
  /** Whether it is in one of them. */
  readonly hints: TextTest;
  readonly says: Classification;
}

/** What an Action may be taken for; never empty. One reading of its name, one entry. */
export type Classifier = (action: Action) => readonly Classification[];

const ONLY_HTTP_READ = [HTTP_READ];
const ONLY_OTHER = [OTHER];
const ONLY_SHELL = [SHELL];

/**
 * A classifier with a policy's own rows in front. Tool names are remembered, up to a bound: an
 * agent may make up new ones.
 */
export function createClassifier(rows: readonly ClassifyRow[]): Classifier {
  const memo = new Map<string, readonly Classification[]>();
  const ofTool = (name: string): readonly Classification[] => {
    const kept = memo.get(name);
    if (kept !== undefined) return kept;
    const made = classifyByRows(rows, name);
    if (memo.size >= MEMO_MAX) memo.clear();
    memo.set(name, made);
    return made;
  };
  return (action) => {
    if (isToolAction(action)) return ofTool(action.name);
    if (isHttpAction(action))
      return action.name === "GET" || action.name === "HEAD" ? ONLY_HTTP_READ : ONLY_OTHER;
    return ONLY_SHELL;
  };
}

/**
 * The first row that is certain ends the search; rows before it that are not, and the table where
 * none is, stay possible.
 */
function classifyByRows(rows: readonly ClassifyRow[], name: string): readonly Classification[] {
  const certain = rows.findIndex(({ proves }) => proves(name));
  const possible = rows.filter(
    ({ hints }, index) => index === certain || ((certain < 0 || index < certain) && hints(name)),
  );
  const table = certain < 0 ? [...new Set([name, lookOf(name)])].map(classifyTool) : [];
  return [...possible.map(({ says }) => says), ...table];
}
