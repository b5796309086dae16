/**
 * Search: what the dangerous walk knows of a shell at one point of the line, and what its parts
 * share.
 */
import type { Report } from "../findings.js";
import type { Node, Script, Span } from "../parse/tree.js";
import { isHidden, type Feed, type Source } from "./feed.js";
import type { Field } from "./call.js";
import type { CallGraph } from "./fork-bomb.js";
import type { Danger } from "./rule.js";
import { DECODED_CODE, REMOTE_CODE } from "./rules/shapes.js";
import type { Site } from "./site.js";

/** Texts inside texts, and functions that call functions. */
export const DEPTH_MAX = 6;

/** What a variable holds. */
export interface Value {
  /** Everything it can be; several for a loop's variable. */
  readonly texts: readonly string[];
  /** Where its first letters come from. */
  readonly lead: Source;
  readonly isSecret: boolean;
  /** Elements of an array; `texts` is then the first one. */
  readonly elements?: readonly string[];
}

/** One shell, changed by the commands that run in it. */
export interface Shell {
  site: Site;
  readonly variables: Map<string, Value>;
  readonly functions: Map<string, readonly Node[]>;
  /** Files that the line wrote, with what is in them; the same for all shells of the line. */
  readonly files: Map<string, Feed>;
}

/** What the parts of the walk share. */
export interface Search {
  readonly report: Report;
  /** How many texts inside texts. */
  readonly depth: number;
  /**
   * What may still be looked at: commands, functions that are called included, and letters of texts
   * that are parsed again.
   */
  readonly budget: { commands: number; chars: number };
  /**
   * Where parts of the text come from that is walked, if it stood in the line with unknown parts.
   */
  readonly taint: Source;
  /** Where the text that is walked stands in the line. */
  readonly span: Span;
  /** Functions of the line and what they call. */
  readonly graph: CallGraph;
  readonly visit: (search: Search, script: Script, at: Spot) => Feed;
  readonly visitNode: (search: Search, node: Node, at: Spot) => Feed;
  readonly run: (search: Search, at: Spot, fields: readonly Field[]) => Feed;
}

/** Where a script runs and what it reads. */
export interface Spot {
  readonly shell: Shell;
  readonly input: Feed;
}

/** A shell of its own that begins as a copy. */
export function copyOf(shell: Shell): Shell {
  return { ...shell, variables: new Map(shell.variables), functions: new Map(shell.functions) };
}

/** `$0`, `$1`, `$@` of a script or a function; the first field is `$0`. */
export function keepArguments({ variables }: Shell, args: readonly Field[]): void {
  for (const [index, { text, lead, isSecret }] of args.slice(0, 10).entries())
    variables.set(String(index), { texts: [text], lead, isSecret });
  const elements = args.slice(1).map(({ text }) => text);
  for (const name of ["@", "*"])
    variables.set(name, {
      texts: [elements.join(" ")],
      lead: args[1]?.lead ?? "none",
      isSecret: false,
      elements,
    });
}

/** Code that nobody can read, where a program or a script is expected. */
export function reportHidden(
  search: Search,
  from: { readonly lead: Source; readonly stream?: Feed | undefined },
  at: Field,
): void {
  const source = from.stream?.source ?? from.lead;
  if (isHidden(source))
    reportDanger(search, source === "remote" ? REMOTE_CODE : DECODED_CODE, at.span);
}

/** Reports a danger. */
export function reportDanger(search: Search, { ruleId, message }: Danger, span: Span): void {
  search.report({ ruleId, level: "dangerous", layer: "dangerous-patterns", span, message });
}
