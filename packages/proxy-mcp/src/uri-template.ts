/**
 * URI templates (RFC 6570), as far as it takes to tell whether a URI may have come from one: a
 * variable is a text without `/`, `?` and `#`, one with an operator any text. Pure and linear: both
 * texts are somebody else's.
 */

/** Characters of a URI, or of a template, that is looked at. */
export const URI_CHARS_MAX: number = 8_192;
/** One more than there may be variables. */
const PARTS_MAX = 17;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const AUTHORITY = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*(?=[/?#]|$)/;
const OPERATOR = /^[+#./;?&]/;

/** A template that is compiled. */
export interface UriTemplate {
  /** The part of the URI space that all of its URIs are in. */
  readonly space: UriSpace;
  /** What matching costs: so many times the characters of the URI. */
  readonly parts: number;
  matches(uri: string): boolean;
}

/** A scheme, and an authority where there is one. */
export interface UriSpace {
  readonly scheme: string;
  /** `undefined`: every authority of the scheme. */
  readonly authority: string | undefined;
}

/** What is before a variable, and whether that may be any text. */
interface Part {
  readonly literal: string;
  readonly isOpen: boolean;
}

/** The space that a URI is in; `undefined` for what is none. */
export function spaceOf(uri: string): UriSpace | undefined {
  const scheme = SCHEME.exec(uri)?.[0].toLowerCase();
  if (scheme === undefined || uri.length > URI_CHARS_MAX) return undefined;
  return { scheme, authority: AUTHORITY.exec(uri)?.[0].toLowerCase() ?? "" };
}

/**
 * Compiles a template; `undefined` where it does not begin with a scheme, as `{+x}` and `f{x}` do
 * not: such a one could be about everything.
 */
export function compileTemplate(template: string): UriTemplate | undefined {
  const parts = partsOf(template);
  const first = parts?.[0]?.literal ?? "";
  const space = spaceOf(first);
  if (parts === undefined || space === undefined) return undefined;
  const isWhole = parts.length === 1 || /^[^:]*:\/\/[^/?#]*[/?#]/.test(first);
  return {
    space: isWhole || !mayHaveAuthority(first) ? space : { ...space, authority: undefined },
    parts: parts.length,
    matches: (uri) => uri.length <= URI_CHARS_MAX && fits(parts, uri),
  };
}

/** Whether a variable may stand in the authority. */
function mayHaveAuthority(first: string): boolean {
  return /^[^:]*:(?:\/(?:\/.*)?)?$/.test(first);
}

/** The last part has no variable behind it. */
function partsOf(template: string): readonly Part[] | undefined {
  if (template.length > URI_CHARS_MAX) return undefined;
  const parts: Part[] = [];
  let from = 0;
  while (parts.length < PARTS_MAX) {
    const open = template.indexOf("{", from);
    const close = open === -1 ? -1 : template.indexOf("}", open);
    if (open === -1 || close === -1)
      return [...parts, { literal: template.slice(from), isOpen: false }];
    const variable = template.slice(open + 1, close);
    parts.push({
      literal: template.slice(from, open),
      isOpen: OPERATOR.test(variable) || variable.endsWith("*"),
    });
    from = close + 1;
  }
  return undefined;
}

/** Where each part may end, found for all places at once: no text makes it go back. */
function fits(parts: readonly Part[], uri: string): boolean {
  let from = new Uint8Array(uri.length + 1).fill(1, 0, 1);
  for (const [index, { literal, isOpen }] of parts.entries()) {
    const after = new Uint8Array(uri.length + 1);
    for (let at = from.indexOf(1); at !== -1; at = from.indexOf(1, at + 1))
      if (uri.startsWith(literal, at)) after[at + literal.length] = 1;
    if (index === parts.length - 1) return after[uri.length] === 1;
    if (!after.includes(1)) return false;
    spread(uri, after, isOpen);
    from = after;
  }
  return false;
}

/** To all places that a variable may reach. */
function spread(uri: string, places: Uint8Array, isOpen: boolean): void {
  let isIn = false;
  for (let at = 0; at <= uri.length; at++) {
    isIn ||= places[at] === 1;
    if (isIn) places[at] = 1;
    if (!isOpen && at < uri.length && "/?#".includes(uri.charAt(at))) isIn = false;
  }
}
