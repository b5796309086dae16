/**
 * Header value: a text as the value of an HTTP header of MCP, and back. What a header cannot carry as
 * it is goes as Base64 between marks. Source: MCP 2026-07-28, "Streamable HTTP", Value Encoding.
 */

const BEFORE = "=?base64?";
const AFTER = "?=";
/** Space and tab only inside. */
const PLAIN = /^(?:[\u0021-\u007e](?:[\u0009\u0020-\u007e]*[\u0021-\u007e])?)$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;

/** The value that says a text. */
export function encodeHeaderValue(text: string): string {
  const isPlain = PLAIN.test(text) && !(text.startsWith(BEFORE) && text.endsWith(AFTER));
  return isPlain ? text : `${BEFORE}${Buffer.from(text, "utf8").toString("base64")}${AFTER}`;
}

/** The text that a value says; `undefined` where it says none. */
export function decodeHeaderValue(value: string): string | undefined {
  if (value === "") return "";
  if (!PLAIN.test(value)) return undefined;
  if (!value.startsWith(BEFORE) || !value.endsWith(AFTER)) return value;
  const inner = value.slice(BEFORE.length, -AFTER.length);
  if (value.length < BEFORE.length + AFTER.length || !BASE64.test(inner)) return undefined;
  const bytes = Buffer.from(inner, "base64");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}
