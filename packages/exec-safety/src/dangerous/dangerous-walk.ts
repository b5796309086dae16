/**
 * Walk: looks at every command of a tree for what is clearly destructive or hostile, and follows
 * what the line itself says: variables, the current directory, pipes, texts that become commands.
 * It only adds findings; absence of one says nothing. Classes: rules/.
 */
import type { Finding, Report } from "../findings.js";
import type { RunPlace } from "../config/run-place.js";
import type { Assignment, Command, Node, Script } from "../parse/tree.js";
import { joinFeeds, NOTHING, UNKNOWN, type Feed } from "./feed.js";
import { closesBomb, isEndlessLoop, startsItself, type CallGraph } from "./fork-bomb.js";
import { readFields, readOne, readWord, type Alternatives } from "./reading.js";
import { keepFiles, readRedirects } from "./streams.js";
import { runFields } from "./run.js";
import { FORK_BOMB } from "./rules/shapes.js";
import { siteOf } from "./site.js";
import { copyOf, reportDanger, type Shell, type Spot, type Search } from "./search.js";
import { visitText } from "./text.js";

/**
 * Commands that one walk looks at: more than a line may hold, since functions and texts are looked
 * at where they are used.
 */
const COMMANDS_MAX = 600;
/** Letters of texts that are parsed again. */
const CHARS_MAX = 50_000;

/**
 * Reports everything dangerous in a script, inside substitutions, functions, wrappers and shells as
 * well.
 */
export function dangerousWalk(script: Script, place: RunPlace, report: Report): void {
  const graph: CallGraph = new Map();
  const search: Search = {
    report: once(report),
    depth: 0,
    budget: { commands: COMMANDS_MAX, chars: CHARS_MAX },
    span: script.span,
    taint: "none",
    visit: (inner, { body }, spot) => visitNode(inner, body, spot),
    visitNode,
    run: runFields,
    graph,
  };
  const shell: Shell = {
    site: siteOf(place),
    variables: new Map(),
    functions: new Map(),
    files: new Map(),
  };
  visitNode(search, script.body, { shell, input: NOTHING });
}

/** Each finding once: a function is looked at where it is defined and where it is called. */
function once(report: Report): Report {
  const seen = new Set<string>();
  return (finding: Finding) => {
    const key = `${finding.ruleId} ${finding.span.start} ${finding.span.end}`;
    if (seen.has(key)) return;
    seen.add(key);
    report(finding);
  };
}

/** Looks at a node and everything below it; what it prints is returned. */
function visitNode(search: Search, node: Node, spot: Spot): Feed {
  switch (node.type) {
    case "command":
      return visitCommand(search, node, spot);
    case "sequence":
      return visitAll(search, node.items, spot);
    case "pipeline":
      return visitPipeline(search, node, spot);
    case "prefixed":
      return visitNode(search, node.body, spot);
    case "group":
      if (node.kind === "background" && startsItself(node))
        reportDanger(search, FORK_BOMB, node.span);
      return visitNode(
        search,
        node.body,
        node.kind === "braces" ? spot : { ...spot, shell: copyOf(spot.shell) },
      );
    case "redirected": {
      const { input, files } = readRedirects(search, spot, {
        redirects: node.redirects,
        program: "",
      });
      return keepFiles(spot, files, visitNode(search, node.body, { ...spot, input }));
    }
    case "if":
      return visitAll(search, node.parts, spot);
    case "while":
      if (isEndlessLoop(node.condition, node.body)) reportDanger(search, FORK_BOMB, node.span);
      return visitAll(search, [node.condition, node.body], spot);
    case "for":
      keepLoopVariable(search, spot, node);
      return visitNode(search, node.body, spot);
    case "case":
      for (const word of [node.word, ...node.patterns]) readWord(search, spot, word);
      return visitAll(search, node.bodies, spot);
    case "test":
      for (const { words } of node.comparisons) readFields(search, spot, words);
      return NOTHING;
    case "refused":
      return visitRefused(search, node, spot);
    default:
      return node satisfies never;
  }
}

function visitAll(search: Search, nodes: readonly Node[], spot: Spot): Feed {
  let output = NOTHING;
  for (const node of nodes) output = joinFeeds(output, visitNode(search, node, spot));
  return output;
}

function visitPipeline(
  search: Search,
  node: Extract<Node, { type: "pipeline" }>,
  spot: Spot,
): Feed {
  if (startsItself(node)) reportDanger(search, FORK_BOMB, node.span);
  let { input } = spot;
  for (const stage of node.stages) {
    const output = visitNode(search, stage, { shell: copyOf(spot.shell), input });
    input = { ...output, isPiped: true };
  }
  return { ...input, isPiped: false };
}

/** Values of a loop's variable that are followed. */
const LOOP_VALUES_MAX = 8;

function keepLoopVariable(
  search: Search,
  spot: Spot,
  { name, words }: Extract<Node, { type: "for" }>,
): void {
  const fields = words === undefined ? [] : readFields(search, spot, words);
  const texts = fields.slice(0, LOOP_VALUES_MAX).map(({ text }) => text);
  const lead = fields.find((field) => field.lead !== "text")?.lead ?? "text";
  spot.shell.variables.set(name, {
    texts: texts.length === 0 ? [UNKNOWN] : texts,
    lead,
    isSecret: fields.some(({ isSecret }) => isSecret),
  });
}

/** What a function is called with is not known where it is defined. */
const ARGUMENTS: readonly string[] = "1 2 3 4 5 6 7 8 9 @ *".split(" ");

function visitRefused(search: Search, node: Extract<Node, { type: "refused" }>, spot: Spot): Feed {
  readFields(search, spot, node.words);
  const { body, construct, name } = node;
  if (construct === "function" && name !== undefined) {
    if (closesBomb(search.graph, name, body)) reportDanger(search, FORK_BOMB, node.span);
    const shell = copyOf(spot.shell);
    for (const argument of ARGUMENTS)
      shell.variables.set(argument, { texts: [UNKNOWN], lead: "program", isSecret: false });
    visitAll(search, body, { ...spot, shell });
    spot.shell.functions.set(name, body);
    return NOTHING;
  }
  return visitAll(
    search,
    body,
    construct === "coproc" ? { ...spot, shell: copyOf(spot.shell) } : spot,
  );
}

function visitCommand(
  search: Search,
  { assignments, words, redirects, span }: Command,
  spot: Spot,
): Feed {
  const [program, ...rest] = words;
  const first: Alternatives = program === undefined ? [] : readWord(search, spot, program);
  const fields = readFields(search, spot, rest);
  const { input, files } = readRedirects(search, spot, {
    redirects,
    program: program === undefined ? undefined : (program.text ?? ""),
  });
  const shell = program === undefined || assignments.length === 0 ? spot.shell : copyOf(spot.shell);
  for (const assignment of assignments) assign(search, { ...spot, shell }, assignment);
  const inner = { ...search, span: search.depth === 0 ? span : search.span };
  let output = NOTHING;
  for (const alternative of first.length === 0 ? [[]] : first) {
    output = joinFeeds(output, runFields(inner, { shell, input }, [...alternative, ...fields]));
  }
  return keepFiles(spot, files, output);
}

/** Variables whose value a shell or a program runs. */
const RUN_LATER: ReadonlySet<string> = new Set(
  "PROMPT_COMMAND PAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SSH_COMMAND GIT_EXTERNAL_DIFF MANPAGER BROWSER".split(
    " ",
  ),
);

function assign(search: Search, spot: Spot, { name, value, isPlain, others }: Assignment): void {
  const { variables } = spot.shell;
  const elements = readFields(search, spot, others);
  if (value === undefined) {
    variables.set(name, {
      texts: [elements[0]?.text ?? UNKNOWN],
      lead: elements[0]?.lead ?? "none",
      isSecret: false,
      elements: elements.map(({ text }) => text),
    });
    return;
  }
  const { text, lead, isSecret } = readOne(search, spot, value);
  if (RUN_LATER.has(name))
    visitText(search, { shell: copyOf(spot.shell), input: NOTHING }, { text, span: value.span });
  const before = isPlain ? undefined : variables.get(name);
  variables.set(name, {
    texts: before === undefined ? [text] : before.texts.map((old) => old + text),
    lead: before?.lead ?? lead,
    isSecret,
  });
}
