/**
 * Fork bomb: a function that starts itself more than once or in the background, alone or through
 * others, and loops that start without end.
 */
import type { Node, Word } from "../parse/tree.js";
import { nodesOf } from "../parse/visit.js";

/**
 * Names that a body calls, and those among them that it starts beside itself: in a pipeline or in
 * the background.
 */
interface Calls {
  readonly names: Set<string>;
  readonly spawned: Set<string>;
}

/** Functions seen so far, by name. */
export type CallGraph = Map<string, Calls>;

/** Adds a function; whether it can now start itself without end. */
export function closesBomb(graph: CallGraph, name: string, body: readonly Node[]): boolean {
  const calls: Calls = { names: new Set(), spawned: new Set() };
  for (const node of body) collect(node, calls, false);
  graph.set(name, calls);
  return reaches(graph, { from: name, to: name, spawned: false, seen: new Set() });
}

/** Whether `$0` is started beside itself: a script that multiplies. */
export function startsItself(node: Node): boolean {
  const calls: Calls = { names: new Set(), spawned: new Set() };
  collect(node, calls, false);
  return calls.spawned.has("$0");
}

/** Whether a loop without end starts something in the background and never waits. */
export function isEndlessLoop(condition: Node, body: Node): boolean {
  const [word] = condition.type === "command" ? condition.words : [];
  if (word?.text !== "true" && word?.text !== ":") return false;
  const calls: Calls = { names: new Set(), spawned: new Set() };
  collect(body, calls, false);
  return (
    hasBackground(body) &&
    !["sleep", "wait", "read", "inotifywait", "break", "exit"].some(
      (name) => calls.names.has(name) && !calls.spawned.has(name),
    )
  );
}

interface Search {
  readonly from: string;
  readonly to: string;
  /** Whether something on the way was started beside its caller. */
  readonly spawned: boolean;
  readonly seen: Set<string>;
}

function reaches(graph: CallGraph, { from, to, spawned, seen }: Search): boolean {
  const calls = graph.get(from);
  if (calls === undefined) return false;
  for (const name of calls.names) {
    const isSpawned = spawned || calls.spawned.has(name);
    if (name === to && isSpawned) return true;
    const key = `${name}\n${isSpawned}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (reaches(graph, { from: name, to, spawned: isSpawned, seen })) return true;
  }
  return false;
}

function collect(node: Node, calls: Calls, isBeside: boolean): void {
  if (node.type === "command") {
    for (const name of namesOf(node.words)) {
      calls.names.add(name);
      if (isBeside) calls.spawned.add(name);
    }
    return;
  }
  const beside = isBeside || node.type === "pipeline" || isBackground(node);
  for (const inner of nodesOf(node)) collect(inner, calls, beside);
}

const SHELLS: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "source",
  ".",
  "exec",
  "nohup",
  "setsid",
  "command",
]);

/** The program, or the file that a shell is told to run. */
function namesOf([program, file]: readonly Word[]): readonly string[] {
  if (program === undefined) return [];
  if (isItself(program) || (SHELLS.has(program.text ?? "") && file !== undefined && isItself(file)))
    return ["$0"];
  return program.text === undefined ? [] : [program.text];
}

const isItself = ({ raw }: Word): boolean => /^(?:\.\/)?["']?\$\{?0\}?["']?$/.test(raw);

const isBackground = (node: Node): boolean => node.type === "group" && node.kind === "background";

function hasBackground(node: Node): boolean {
  return isBackground(node) || nodesOf(node).some(hasBackground);
}
