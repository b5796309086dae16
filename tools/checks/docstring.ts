/** Docstrings: what the TSDoc comment of a declaration says, and whether that says anything. */
import ts from "typescript";

/** Words that add nothing to a name, as stems. */
const FILLER = new Set(
  (
    "a an and are as be by for from has have in is it its of on or that the this to what which " +
    "who whose with all any each one own some " +
    "build built call construct contain create get give given hand hold make return set take use " +
    "class constant data field function info information interface kind list method " +
    "object option parameter part property result string thing type value"
  ).split(" "),
);

const BLOCK = /```[\s\S]*?```/g;

/** `calls` and `call`, `returned` and `returns` are one word. */
const stemOf = (word: string): string =>
  word.replace(/(?<=..)(?:ies|y)$/, "i").replace(/(?<=...)(?:ing|ed|es|s|e)$/, "");

const stemmedFiller = new Set([...FILLER].map(stemOf));

/** The words of a text or of a name in any case, as stems. */
function stemsOf(text: string): readonly string[] {
  const words = text
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return (words ?? []).map(stemOf);
}

const commentOf = (node: ts.JSDoc | ts.JSDocTag): string =>
  ts.getTextOfJSDocComment(node.comment) ?? "";

/** The TSDoc comments of a declaration; those of a variable stand before its statement. */
function commentsOf(node: ts.Node): readonly ts.JSDoc[] {
  const owner = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return ts.getJSDocCommentsAndTags(owner).filter(ts.isJSDoc);
}

/** What the comments of a declaration say, examples left out; undefined without a comment. */
export function docstringOf(node: ts.Node): string | undefined {
  const texts = commentsOf(node).flatMap((doc) => [
    commentOf(doc),
    ...(doc.tags ?? [])
      .filter(({ tagName }) => tagName.text !== "example")
      .map((tag) => `${ts.isJSDocParameterTag(tag) ? tag.name.getText() : ""} ${commentOf(tag)}`),
  ]);
  const text = texts.join("\n").replaceAll(BLOCK, "").trim();
  return text === "" ? undefined : text;
}

/** Whether a declaration has an `@example` with code. */
export const hasExample = (node: ts.Node): boolean =>
  commentsOf(node).some(({ tags }) =>
    (tags ?? []).some((tag) => tag.tagName.text === "example" && commentOf(tag).includes("```ts")),
  );

/** Whether a docstring only says again, in other order, what the names beside it say. */
export function saysNothing(docstring: string, names: readonly string[]): boolean {
  const known = new Set(names.flatMap(stemsOf));
  return stemsOf(docstring).every(
    (stem) => stem.length < 2 || known.has(stem) || stemmedFiller.has(stem),
  );
}
