/**
 * Stray answers: lines of a server that answer no request as we read them, and that some client
 * would take for an answer. Clients coerce ids, take batches, ignore case. Where pins are kept, what
 * was compared with none must not reach the model on such a way. Pure. Rules: spec/tool-pins.md §3.
 */
import { findValue, membersOf, valueFrom } from "../json-walk.js";
import type { Member, Span } from "../json-walk.js";
import { fold } from "../fold.js";
import type { ToolPins } from "./tool-pins.js";

const OPEN_ARRAY = 0x5b;
/** What of a result is pinned. */
const PINNED: ReadonlySet<string> = new Set(
  ["tools", "instructions", "prompts", "resources", "resourceTemplates"].map(fold),
);

/** Why a line that answers no request of ours must not pass; `undefined` for any other. */
function strayProblem(line: Buffer): string | undefined {
  const start = valueFrom(line);
  if (line[start.start] === OPEN_ARRAY) return "it is a batch";
  const holds = foldedMembers(line, start, "result").some(({ value }) =>
    (membersOf(line, value) ?? []).some(({ key }) => PINNED.has(fold(key))),
  );
  return holds ? "it answers no request, and has what is pinned" : undefined;
}

/** Whether a line that answers no request of the client has what is pinned; the log says so. */
export function dropsStray(
  line: Buffer,
  {
    server,
    pins,
    log,
  }: {
    readonly server: string;
    readonly pins?: ToolPins | undefined;
    readonly log: (line: string) => void;
  },
): boolean {
  const problem = pins === undefined ? undefined : strayProblem(line);
  if (problem !== undefined) log(`[${server}] wrote a line that is dropped: ${problem}`);
  return problem !== undefined;
}

/** Whether a member that is read as `name` by some client is not the one that we read. */
export function isAmbiguous(line: Buffer, name: string): boolean {
  const results = foldedMembers(line, valueFrom(line), "result");
  const result = findValue(line, ["result"]);
  const inside = results.flatMap(({ value }) => foldedMembers(line, value, fold(name)));
  if (results.length > 1 || inside.length > 1) return true;
  return inside.length === 1 && (result === undefined || inside[0]?.key !== name);
}

function foldedMembers(line: Buffer, span: Span, name: string): readonly Member[] {
  return (membersOf(line, span) ?? []).filter(({ key }) => fold(key) === name);
}
