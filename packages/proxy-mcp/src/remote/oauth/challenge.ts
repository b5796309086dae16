/** Challenge: what a server's header `www-authenticate` asks for. Sources: RFC 9110 §11.6.1, RFC 6750 §3, RFC 9728 §5.1. */

/** The parameters of the first `Bearer` challenge. */
export interface BearerChallenge {
  /** Such as `invalid_token` or `insufficient_scope`. */
  readonly error?: string;
  /** What the request needs; each once, in the server's order. */
  readonly scopes?: readonly string[];
  /** Where the server describes itself. */
  readonly resourceMetadata?: string;
}

const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const PART: RegExp = new RegExp(
  `[\\s,]*(?:(${TOKEN})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))|(${TOKEN})(?=[\\s,]|$))`,
  "y",
);
/** A scope as RFC 6749 §3.3 has it. */
const SCOPE = /^[\u0021\u0023-\u005b\u005d-\u007e]{1,256}$/u;
/** More than that is no request, but a flood. */
const SCOPES_MAX = 64;

/** Reads it; `undefined` where there is no `Bearer` challenge. Never throws. */
export function readChallenge(header: string | undefined): BearerChallenge | undefined {
  const params = new Map<string, string | undefined>();
  let scheme: string | undefined;
  const text = header ?? "";
  PART.lastIndex = 0;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const [, name, quoted, plain, word] = part;
    if (word !== undefined) {
      if (scheme === "bearer") break;
      scheme = word.toLowerCase();
    } else if (scheme === "bearer" && name !== undefined) {
      const key = name.toLowerCase();
      // Twice is none: two readers would take different ones.
      params.set(key, params.has(key) ? undefined : (quoted?.replace(/\\(.)/gu, "$1") ?? plain));
    }
  }
  if (scheme !== "bearer") return undefined;
  const scopes = readScopes(params.get("scope"));
  const [error, resourceMetadata] = [params.get("error"), params.get("resource_metadata")];
  return {
    ...(error !== undefined && { error }),
    ...(scopes !== undefined && { scopes }),
    ...(resourceMetadata !== undefined && { resourceMetadata }),
  };
}

/** A list of scopes; `undefined` where it is none, or empty. */
export function readScopes(text: string | undefined): readonly string[] | undefined {
  const scopes = [...new Set((text ?? "").split(" ").filter((scope) => scope !== ""))];
  const isList = scopes.length > 0 && scopes.length <= SCOPES_MAX;
  return isList && scopes.every((scope) => SCOPE.test(scope)) ? scopes : undefined;
}
