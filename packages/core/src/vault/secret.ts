/// <reference lib="es2024.string" />
/**
 * Secret: a value that never prints. It says its name and where it may go; the value comes out of
 * {@link revealSecret} alone. Format: spec/vault.md §2.
 */
import { normalizeHost, parseAuthority } from "../action/host.js";
import { ConsentError } from "../errors.js";
import {
  NAME_CHARS_MAX,
  SECRET_BINDINGS_MAX,
  SECRET_BYTES_MAX,
  SECRET_BYTES_MIN,
} from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { isSecretName } from "./secret-name.js";

/** What a Secret is made of. */
export interface SecretSource {
  /** Letters, digits, `_`, `.` and `-`, at most 256, starting with a letter or `_`. */
  readonly name: string;
  /** 8 to 16,384 bytes of UTF-8. */
  readonly value: string;
  /**
   * Names of the MCP servers whose tools may get it; `"*"` is every server. Empty or absent: none.
   */
  readonly servers?: readonly string[];
  /**
   * Hosts whose requests may get it: `host` (https on port 443), `host:port`, or `"*"` (every https
   * URL). Empty or absent: none.
   */
  readonly hosts?: readonly string[];
}

/** In `servers` or `hosts`: all of them. */
export const EVERYWHERE = "*";

const WITH_PORT = /:\d+$/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const encoder = new TextEncoder();
const values = new WeakMap<Secret, string>();

/**
 * A named value that never prints: as text, as JSON and when inspected it is `[secret NAME]`. A
 * copy of it has no value.
 */
export class Secret {
  /** How actions and policies name it. */
  readonly name: string;
  /** Names of the MCP servers whose tools may get it, each once; empty: none. */
  readonly servers: readonly string[];
  /** Hosts whose requests may get it, normalized, each once; empty: none. */
  readonly hosts: readonly string[];

  /**
   * @throws ConsentError `secret_invalid` for a bad name, a value outside 8 to 16,384 bytes, or a
   *   bad binding. Its text never shows the value.
   */
  constructor({ name, value, servers = [], hosts = [] }: SecretSource) {
    this.name = checkName(name);
    this.servers = bindings(name, servers, checkServer);
    this.hosts = bindings(name, hosts, normalHost);
    values.set(this, checkValue(name, value));
    Object.freeze(this);
  }

  /** `[secret NAME]`. */
  toString(): string {
    return secretLabel(this.name);
  }

  /** `[secret NAME]`. */
  toJSON(): string {
    return secretLabel(this.name);
  }

  /** `[secret NAME]`. */
  [Symbol.toPrimitive](): string {
    return secretLabel(this.name);
  }

  static {
    // What `util.inspect` and `console.log` show on Node.
    const value = function show(this: Secret): string {
      return secretLabel(this.name);
    };
    Object.defineProperty(Secret.prototype, Symbol.for("nodejs.util.inspect.custom"), { value });
  }
}

/** What replaces a secret's value: `[secret NAME]`. */
export function secretLabel(name: string): string {
  return `[secret ${name}]`;
}

/**
 * The value of a secret; this is the only way to it. Never log it, store it or put it in an error.
 *
 * @throws ConsentError `secret_invalid` for anything that the constructor did not make, a copy
 *   included.
 */
export function revealSecret(secret: Secret): string {
  const value = values.get(secret);
  if (value === undefined)
    throw new ConsentError(
      "secret_invalid",
      "Cannot reveal a secret: it was not made by this copy of the package",
    );
  return value;
}

function checkName(name: string): string {
  if (isSecretName(name)) return name;
  throw new ConsentError(
    "secret_invalid",
    `Cannot keep secret ${quote(name)}: a name consists of letters, digits, "_", "." and "-", and starts with a letter or "_"`,
  );
}

function checkValue(name: string, value: string): string {
  if (!value.isWellFormed()) throw refused(name, "its value has an unpaired surrogate");
  const { length } = encoder.encode(value);
  if (length < SECRET_BYTES_MIN)
    throw refused(name, `its value has fewer than ${SECRET_BYTES_MIN} bytes`);
  if (length > SECRET_BYTES_MAX)
    throw refused(name, `its value has more than ${SECRET_BYTES_MAX} bytes`);
  return value;
}

function bindings(
  name: string,
  list: readonly string[],
  check: (name: string, entry: string) => string,
): readonly string[] {
  if (list.length > SECRET_BINDINGS_MAX)
    throw refused(name, `it is bound to more than ${SECRET_BINDINGS_MAX}`);
  return Object.freeze([
    ...new Set(list.map((entry) => (entry === EVERYWHERE ? entry : check(name, entry)))),
  ]);
}

function checkServer(name: string, server: string): string {
  if (
    server === "" ||
    server.length > NAME_CHARS_MAX ||
    CONTROL.test(server) ||
    !server.isWellFormed()
  )
    throw refused(name, "a server that it is bound to has no proper name");
  return server;
}

function normalHost(name: string, host: string): string {
  try {
    if (!WITH_PORT.test(host)) return normalizeHost(host);
    const authority = parseAuthority(host);
    return `${authority.host}:${authority.port}`;
  } catch (cause) {
    throw refused(name, `it is bound to ${quote(host)}, which is not a host`, cause);
  }
}

function refused(name: string, why: string, cause?: unknown): ConsentError {
  return new ConsentError("secret_invalid", `Cannot keep secret ${quote(name)}: ${why}`, { cause });
}
