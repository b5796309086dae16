/** Config, values: the kinds of value that several sections share. */
import { ConsentError, isConsentError, normalizeHost, parseAuthority } from "@acp/core";
import { invalid } from "@acp/core/yaml";
import { list, refined, type Shape, shapeOf, text } from "@acp/core/unstable";
import { type PathOrigins, resolvePath } from "./paths.js";

const PATH_CHARS_MAX = 4_096;
const URL_CHARS_MAX = 8_192;
/** The longest argument or variable that Linux hands to a program. */
export const SECRET_CHARS_MAX = 131_072;
/** A host of 253 characters, brackets, and a port. */
const HOST_CHARS_MAX = 262;
const HAS_PORT = /^(?:\[[^\]]*\]|[^:]*):[0-9]+$/;

/** A path, which is made absolute; `~/` and relative paths start at the origins. */
export const pathShape: Shape<string, PathOrigins> = refined(
  text(PATH_CHARS_MAX),
  (value, spot, origins: PathOrigins) => {
    try {
      return resolvePath(value, origins);
    } catch (cause) {
      const why = cause instanceof ConsentError ? cause.message : "it is not a path";
      throw invalid(spot, why, { cause });
    }
  },
);

const urlText = text(URL_CHARS_MAX);
/** An http or https URL without a name or password. */
export const url: Shape<string> = refined(
  { ...urlText, schema: { ...urlText.schema, format: "uri" } },
  (value, spot) => {
    if (!URL.canParse(value)) throw invalid(spot, "it is not a URL");
    const { protocol, username, password } = new URL(value);
    if (protocol !== "http:" && protocol !== "https:")
      throw invalid(spot, "it is not an http or https URL");
    if (username !== "" || password !== "")
      throw invalid(spot, "a URL must not contain a username or password");
    return value;
  },
);

/** Any text without NUL, even an empty one. No error shows it, because it may be a secret. */
export const opaque: Shape<string> = shapeOf(
  { type: "string", maxLength: SECRET_CHARS_MAX },
  (spot) => {
    const { value } = spot;
    if (typeof value !== "string") throw invalid(spot, "expected a string; put it in quotes");
    if (value.length > SECRET_CHARS_MAX)
      throw invalid(spot, `the string has more than ${SECRET_CHARS_MAX} characters`);
    if (value.includes("\0")) throw invalid(spot, "the string has a NUL character");
    return value;
  },
);

/** A secret: {@link opaque}, not empty. */
export const secret: Shape<string> = refined(
  { ...opaque, schema: { ...opaque.schema, minLength: 1 } },
  (value, spot) => {
    if (value === "") throw invalid(spot, "the string is empty");
    return value;
  },
);

/** `host` or `host:port`. */
const host: Shape<string> = refined(text(HOST_CHARS_MAX), (value, spot) => {
  try {
    if (HAS_PORT.test(value)) parseAuthority(value);
    else normalizeHost(value);
  } catch (cause) {
    if (!isConsentError(cause)) throw cause;
    throw invalid(
      spot,
      `expected a host, or a host and its port such as localhost:3000: ${cause.message}`,
      { cause },
    );
  }
  return value;
});

/** A list of hosts, no patterns: each entry opens something that is closed for a reason. */
export const hosts: Shape<readonly string[]> = list(host);

/** A TCP port. */
export const PORT = { min: 1, max: 65_535, whole: true } as const;
