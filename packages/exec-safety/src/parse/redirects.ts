/**
 * Redirects: `>`, here-strings and here-documents.
 */
import type { HereDoc, Redirection } from "unbash";
import type { Piece, Redirect, Word } from "./tree.js";
import { refuse, spanOf, type Conversion } from "./conversion.js";
import { quotedText } from "./literal.js";
import { quotedParts } from "./word-parts.js";
import { scriptsBelow } from "./scripts.js";
import { makeWord, oneWord } from "./words.js";

/**
 * What may stand behind `>&`. Bash expands any other name twice, quotes or not, so that `>&'$(x)'`
 * runs `x`; and behind `>&-` it starts a new word.
 */
const PLAIN_NAME = /^(?:[0-9]+-?|-|[A-Za-z0-9_./][A-Za-z0-9_./-]*)$/;

export function convertRedirects(
  state: Conversion,
  redirects: readonly Redirection[],
): readonly Redirect[] {
  return redirects.map((redirect) => convertRedirect(state, redirect));
}

function convertRedirect(state: Conversion, redirect: Redirection): Redirect {
  const { descriptor, operator } = redirect;
  const start = {
    span: spanOf(state, redirect),
    operator,
    ...(descriptor?.type === "FileDescriptor" ? { descriptor: descriptor.value } : {}),
    ...(descriptor?.type === "FileDescriptorVariable" ? { descriptorName: descriptor.name } : {}),
  };
  if (redirect.type === "HereDoc") return { ...start, body: bodyWord(state, redirect) };
  if (redirect.target === undefined) {
    refuse(state, {
      ruleId: "shell.unparsable",
      span: start.span,
      message: "a redirection without a target",
    });
    return start;
  }
  const target = oneWord(state, redirect.target, "start");
  if (operator.endsWith("&") && !PLAIN_NAME.test(target.text ?? "")) {
    refuse(state, {
      ruleId: "shell.unparsable",
      span: start.span,
      message: `a name behind \`${operator}\` that bash reads twice`,
    });
  }
  return { ...start, target };
}

/** The body as one word. With `<<-` the tabs that start a line are gone. */
function bodyWord(
  state: Conversion,
  { body, closing, delimiter, operator, pos, end }: HereDoc,
): Word {
  const frame = { span: spanOf(state, body), raw: body.text };
  if (closing === undefined || delimiter === undefined || delimiter.text.includes("\\\n")) {
    refuse(state, {
      ruleId: "shell.unparsable",
      span: spanOf(state, { pos, end }),
      message: "a here-document without its end",
    });
  }
  const isIndented = operator === "<<-";
  state.hereDocuments++;
  if (delimiter?.quoted === true) {
    return makeWord(frame, [
      {
        kind: "text",
        text: isIndented ? body.text.replace(/^\t+/gm, "") : body.text,
        quoted: true,
      },
    ]);
  }
  return makeWord(frame, bodyPieces(state, { body, isIndented }));
}

function bodyPieces(
  state: Conversion,
  { body, isIndented }: { readonly body: HereDoc["body"]; readonly isIndented: boolean },
): readonly Piece[] {
  const unknown: Piece = {
    kind: "other",
    what: "a here-document that can be read in two ways",
    scripts: [],
  };
  const { parts } = body;
  if (isIndented && body.text.includes("\\\n"))
    return [{ ...unknown, scripts: scriptsBelow(state, parts ?? []) }];
  if (parts !== undefined)
    return quotedParts(state, parts).map((piece) =>
      isIndented && piece.kind === "text" ? unknown : piece,
    );
  const text = quotedText(isIndented ? body.text.replace(/^\t+/gm, "") : body.text, "$`\\");
  return [text === undefined ? unknown : { kind: "text", text, quoted: true }];
}
