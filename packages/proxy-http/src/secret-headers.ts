/**
 * Secrets in headers of plain HTTP: which headers are part of the Action, how their values go
 * upstream after consent, and how known values are taken out of everything that comes back, as it
 * streams. Format: spec/http-proxy.md §4; of placeholders and masks: spec/vault.md.
 */
import { Transform } from "node:stream";
import { isHttpAction, type Masker, type Release } from "@acp/core";
import { makeDenial, refused, RefusedError } from "./refusals.js";

const PLACEHOLDER = "{{secret:";
/** A masked name has brackets, which no name of a header has. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Headers that the proxy reads, writes or removes itself: a secret in one would be lost, or change
 * how the request is read.
 */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

type Pair = readonly [name: string, value: string];

function pairsOf(rawHeaders: readonly string[]): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    pairs.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  return pairs;
}

/**
 * The headers that hold a placeholder, for the Action.
 *
 * @param rawHeaders - Names and values in turn, as they came.
 * @throws RefusedError `request_invalid` where one stands twice, or in a header that the proxy does
 *   not forward as it is.
 */
export function placeholderHeaders(
  rawHeaders: readonly string[],
): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  const pairs = pairsOf(rawHeaders);
  for (const [header, value] of pairs) {
    if (!value.includes(PLACEHOLDER)) continue;
    const name = header.toLowerCase();
    if (OWN_HEADERS.has(name))
      throw refused("request_invalid", `the header "${name}" cannot hold a secret`);
    if (pairs.filter(([other]) => other.toLowerCase() === name).length > 1)
      throw refused("request_invalid", `the header "${name}" holds a secret and appears twice`);
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

/**
 * The headers to send upstream: those with placeholders are exactly those that were released, with
 * their values. Where values are known at all, the answer is asked for as it is: what is compressed
 * cannot be masked; where one goes out, it is asked for as a whole.
 *
 * @param headers - Names and values in turn, as they would be sent without secrets.
 * @throws RefusedError `vault_failed` where a placeholder would go out unfilled.
 */
export function fillHeaders(headers: readonly string[], release: Release): readonly string[] {
  const { action } = release;
  const released = Object.entries((isHttpAction(action) ? action.args?.headers : undefined) ?? {});
  const replaced = new Set(released.map(([name]) => name));
  const isMasked = release.masker() !== undefined;
  if (isMasked) replaced.add("accept-encoding");
  // Parts of an answer could each hold a part of a value, which no mask finds.
  if (released.length > 0) for (const name of ["range", "if-range"]) replaced.add(name);
  for (const [name, value] of released) {
    if (OWN_HEADERS.has(name) || value.includes(PLACEHOLDER))
      throw new RefusedError(makeDenial("vault_failed", "no vault puts in what the request names"));
  }
  const kept = pairsOf(headers).filter(
    ([name, value]) => !replaced.has(name.toLowerCase()) && !value.includes(PLACEHOLDER),
  );
  return [
    ...kept,
    ...released,
    ...(isMasked ? [["accept-encoding", "identity"] as const] : []),
  ].flat();
}

/** How the answer to one released request is masked. */
export interface ResponseMask {
  /** A status text. */
  text(text: string): string;
  /**
   * Headers, names and values in turn. `content-length` goes: the length may change, so that the
   * body is sent in chunks.
   *
   * @throws RefusedError `upstream_invalid` for an answer to a request with secrets that is
   *   compressed, so that it cannot be looked into.
   */
  headers(rawHeaders: readonly string[]): readonly string[];
  /** Trailers, or the headers of an intermediate answer. Never throws. */
  trailers(rawTrailers: readonly string[]): readonly string[];
  /** The body's way through. */
  body(): Transform;
}

function maskText(masker: Masker, text: string): string {
  // Header values are bytes, which Node writes as latin1.
  const bytes = Buffer.from(text, "latin1");
  const masked = Buffer.concat([masker.push(bytes), masker.end()]);
  return masked.equals(bytes) ? text : masked.toString("latin1");
}

function isCompressed(rawHeaders: readonly string[]): boolean {
  return pairsOf(rawHeaders).some(([header, value]) => {
    const name = header.toLowerCase();
    const codings = value
      .toLowerCase()
      .split(",")
      .map((coding) => coding.trim());
    if (name === "content-encoding")
      return codings.some((coding) => coding !== "" && coding !== "identity");
    return (
      name === "transfer-encoding" &&
      codings.some((coding) => coding !== "" && coding !== "chunked" && coding !== "identity")
    );
  });
}

/** The mask for the answer to a released request; `undefined` where no secret is known. */
export function createResponseMask(release: Release): ResponseMask | undefined {
  const masker = release.masker();
  if (masker === undefined) return undefined;
  const isInjected = release.secrets.length > 0;
  const mask = (rawHeaders: readonly string[]): readonly string[] =>
    pairsOf(rawHeaders)
      .map(([name, value]): Pair => [maskText(masker, name), maskText(masker, value)])
      .filter(([name]) => TOKEN.test(name) && name.toLowerCase() !== "content-length")
      .flat();
  return {
    text: (text) => maskText(masker, text),
    headers(rawHeaders) {
      if (isInjected && isCompressed(rawHeaders))
        throw refused(
          "upstream_invalid",
          "the answer is compressed although the proxy asked for identity, so no secret in it could be masked",
        );
      return mask(rawHeaders);
    },
    trailers: mask,
    body() {
      const stream = release.masker() ?? masker;
      return new Transform({
        transform: (chunk: Uint8Array, _encoding, done) => done(null, stream.push(chunk)),
        flush: (done) => done(null, stream.end()),
      });
    },
  };
}
