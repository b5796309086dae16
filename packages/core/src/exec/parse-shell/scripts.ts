/**
 * Scripts below a node, whatever stands between: what the tree calls `other` still names every command inside it.
 */
import { forEachChild, type CommandExpansionPart, type ProcessSubstitutionPart, type SyntaxNode } from "unbash";
import type { ArithmeticCommandExpansion } from "unbash";
import type { Script } from "../tree.js";
import { refuse, spanOf, type Conversion } from "./conversion.js";

/** The script of a substitution. */
export function scriptOf(
  state: Conversion,
  part: CommandExpansionPart | ProcessSubstitutionPart | ArithmeticCommandExpansion,
): Script | undefined {
  const { script } = part;
  const span = spanOf(state, part);
  if (script === undefined) {
    refuse(state, { ruleId: "shell.unparsable", span, message: "a substitution that cannot be read" });
    return undefined;
  }
  return state.convertScript(script, span);
}

/** Every script below the nodes, outermost only. */
export function scriptsBelow(state: Conversion, nodes: Iterable<SyntaxNode>): readonly Script[] {
  const scripts: Script[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === "CommandExpansion" || node.type === "ProcessSubstitution" || node.type === "ArithmeticCommandExpansion") {
      const script = scriptOf(state, node);
      if (script !== undefined) scripts.push(script);
    } else {
      forEachChild(node, visit);
    }
  };
  for (const node of nodes) visit(node);
  return scripts;
}
