/**
 * Scripts below a node, whatever stands between: what the tree calls `other` still names every
 * command inside it.
 */
import {
  forEachChild,
  type CommandExpansionPart,
  type ProcessSubstitutionPart,
  type SyntaxNode,
} from "unbash";
import type { ArithmeticCommandExpansion } from "unbash";
import type { Script } from "./tree.js";
import { refuse, spanOf, type Conversion } from "./conversion.js";

/** The script of a substitution. */
export function scriptOf(
  state: Conversion,
  part: CommandExpansionPart | ProcessSubstitutionPart | ArithmeticCommandExpansion,
): Script | undefined {
  const { end, script, text } = part;
  const span = spanOf(state, part);
  // In the body of a here-document the parser closes what nothing closes. Where that happens, the
  // script ends where its substitution does.
  const isClosed =
    text.endsWith(text.startsWith("`") ? "`" : text.startsWith("${") ? "}" : ")") &&
    (script?.source !== undefined || script?.end !== end);
  if (script === undefined || !isClosed) {
    refuse(state, { ruleId: "shell.unparsable", span, message: "a substitution without its end" });
    return undefined;
  }
  return state.convertScript(script, span);
}

/** Every script below the nodes, outermost only. */
export function scriptsBelow(state: Conversion, nodes: Iterable<SyntaxNode>): readonly Script[] {
  const scripts: Script[] = [];
  const visit = (node: SyntaxNode): void => {
    if (
      node.type === "CommandExpansion" ||
      node.type === "ProcessSubstitution" ||
      node.type === "ArithmeticCommandExpansion"
    ) {
      const script = scriptOf(state, node);
      if (script !== undefined) scripts.push(script);
    } else {
      forEachChild(node, visit);
    }
  };
  for (const node of nodes) visit(node);
  return scripts;
}
