/** The members of a public interface, object type or class: which there are, and what they need. */
import ts from "typescript";
import { walk } from "./ast.js";

type Member = ts.TypeElement | ts.ClassElement;

const hasModifier = (node: ts.Node, ...kinds: readonly ts.SyntaxKind[]): boolean =>
  ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kinds.includes(kind)) === true;

const isProperty = (node: ts.Node): node is ts.PropertySignature | ts.PropertyDeclaration =>
  ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);

const isMember = (node: ts.Node): node is Member =>
  isProperty(node) ||
  ts.isMethodSignature(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isGetAccessorDeclaration(node);

const isHidden = (node: ts.Node): boolean =>
  hasModifier(node, ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword) ||
  (isMember(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name));

/**
 * Whether a member says itself what it is: its type is one literal (`kind: "exec"`) or `never`, it
 * overrides one of another class, or its name is a symbol of the language.
 */
const speaksForItself = (member: Member): boolean =>
  (isProperty(member) &&
    member.type !== undefined &&
    (ts.isLiteralTypeNode(member.type) || member.type.kind === ts.SyntaxKind.NeverKeyword)) ||
  hasModifier(member, ts.SyntaxKind.OverrideKeyword) ||
  (member.name !== undefined && ts.isComputedPropertyName(member.name));

/** The public members that need a docstring; those of a function's parameters do not. */
export function membersOf(declaration: ts.Node): readonly Member[] {
  const found: Member[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || ts.isParameter(node) || isHidden(node)) return;
    if (isMember(node) && !speaksForItself(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  if (
    ts.isInterfaceDeclaration(declaration) ||
    ts.isTypeAliasDeclaration(declaration) ||
    ts.isClassDeclaration(declaration)
  )
    ts.forEachChild(declaration, visit);
  return found;
}

/** Properties that could be assigned. */
export function writableMembers(declaration: ts.Node): readonly ts.PropertySignature[] {
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isTypeAliasDeclaration(declaration)) return [];
  const found: ts.PropertySignature[] = [];
  walk(declaration, (node) => {
    if (ts.isPropertySignature(node) && !hasModifier(node, ts.SyntaxKind.ReadonlyKeyword))
      found.push(node);
  });
  return found;
}
