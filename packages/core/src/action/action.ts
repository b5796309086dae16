/// <reference lib="es2024.string" />
/**
 * Action: one side effect described as data before it happens. Only the constructors and {@link
 * parseAction} make one; it is normalised, frozen and digested. Format: spec/action.md.
 */
import { ConsentError } from "../errors.js";
import { parseAuthority } from "./host.js";
import { canonicalJson } from "../json/canonical.js";
import { BYTES_PER_UNIT_MAX, copyMeasured } from "../json/copy.js";

import { utf8Length } from "../json/text.js";
import { isJsonObject } from "../json/value.js";
import type { JsonObject } from "../json/value.js";
import { ACTION_BYTES_MAX, ACTION_DEPTH_MAX, NAME_CHARS_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";
import { isMarked, markAction } from "./mark.js";
import { parseHttpUrl } from "./url.js";

declare const actionBrand: unique symbol;

/**
 * Marks a value as an Action for the compiler: only the constructors make one. It holds no data.
 */
export interface ActionBrand {
  readonly [actionBrand]: true;
}

/** The three kinds of Action. */
export type ActionKind = "tool" | "http" | "shell";

/** A tool call, e.g. over MCP. */
export interface ToolAction extends ActionBrand {
  /** The tool's name as its server knows it. */
  readonly name: string;
  /** What the tool is called with, frozen. The whole Action has at most 1 MiB as canonical JSON. */
  readonly args: JsonObject;
  /** Where the tool is. */
  readonly meta: {
    readonly kind: "tool";
    /** Name of the server that has the tool, as the host configured it. */
    readonly server: string;
  };
}

/** An HTTP request, or a CONNECT tunnel. */
export interface HttpAction extends ActionBrand {
  /** The method, upper case; `CONNECT` for a tunnel. */
  readonly name: string;
  /** The headers that hold a secret's placeholder, and no others; absent where there are none. */
  readonly args?: {
    /** Values by lower-case header name. */
    readonly headers: Readonly<Record<string, string>>;
  };
  /** Where the request goes, normalized. */
  readonly meta: {
    readonly kind: "http";
    /** Normalized host: lower case, A-labels, no trailing dot, IPv6 in brackets. */
    readonly host: string;
    /** Port of the target, 1 to 65535. */
    readonly port: number;
    /** Request method in capitals, e.g. `POST`. */
    readonly method: string;
    /** Normalized URL; absent for `CONNECT`. */
    readonly url?: string;
  };
}

/** A shell command. */
export interface ShellAction extends ActionBrand {
  /**
   * The program, where the text is plain words and does not begin with an assignment; otherwise
   * `""`.
   */
  readonly name: string;
  /** The whole command text. */
  readonly args: string;
  /** How and where the command runs. */
  readonly meta: {
    readonly kind: "shell";
    /**
     * Working directory as the host gives it, which should be absolute; absent where the host does
     * not say.
     */
    readonly cwd?: string;
    /** Program that reads the command, e.g. `/bin/bash`; absent where the host does not say. */
    readonly shell?: string;
    /** Digest of the command's environment, `sha256:<hex>`; absent where the host does not say. */
    readonly envDigest?: string;
  };
}

/**
 * One side effect, described before it happens. Narrow with {@link isToolAction}, {@link
 * isHttpAction}, {@link isShellAction}.
 */
export type Action = ToolAction | HttpAction | ShellAction;

/** An Action's plain data, before it is normalised and branded. */
type Unbranded<A extends Action> = Omit<A, keyof ActionBrand>;

/** Options of {@link httpAction}. */
export interface HttpActionOptions {
  /** Request headers; those that hold a `{{secret:NAME}}` placeholder become part of the Action. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of {@link shellAction}. */
export interface ShellActionOptions {
  /** Working directory. Should be absolute: this is not checked. */
  readonly cwd?: string;
  /** Which shell reads the text, e.g. `"/bin/bash"`. */
  readonly shell?: string;
  /** Digest over the environment: `sha256:` and 64 lower-case hex digits. */
  readonly envDigest?: string;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const HEADER_CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const PLAIN_WORDS = /^[A-Za-z0-9_@%+=:,./\- \t]*$/;
const FIRST_WORD = /[^ \t]+/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const PLACEHOLDER = "{{secret:";

/**
 * Makes a tool call.
 *
 * @param args - Plain JSON data, an object; copied and frozen.
 * @throws ConsentError `action_invalid` for a bad name or `args` that are not an object; `json_*`
 *   where a name or `args` is not plain JSON data, is nested deeper than 56 or is too large.
 */
export function toolAction(server: string, tool: string, args: unknown = {}): ToolAction {
  const { copy, units } = copyMeasured(args, ACTION_BYTES_MAX, ACTION_DEPTH_MAX);
  if (!isJsonObject(copy)) throw invalid("tool", "its args are not an object");
  const data: Unbranded<ToolAction> = {
    name: nameOf("tool name", tool),
    args: copy,
    meta: { kind: "tool", server: nameOf("server name", server) },
  };
  brand<ToolAction>(data, units);
  return data;
}

/**
 * Makes an HTTP request; with the method `CONNECT` a tunnel, whose `url` is `host:port`.
 *
 * @throws ConsentError `action_invalid` for a bad method or header; `host_invalid` for a bad URL or
 *   authority; `json_lone_surrogate` or `json_too_large`.
 */
export function httpAction(
  method: string,
  url: string,
  options: HttpActionOptions = {},
): HttpAction {
  if (typeof method !== "string" || method.length > NAME_CHARS_MAX || !TOKEN.test(method))
    throw invalid("http", "its method is not a token");
  const name = method.toUpperCase();
  const { headers, units } = placeholdersOf(options.headers ?? {});
  const data: Unbranded<HttpAction> = {
    name,
    ...(headers === undefined ? {} : { args: Object.freeze({ headers }) }),
    meta: {
      kind: "http",
      ...(name === "CONNECT" ? parseAuthority(url) : parseHttpUrl(url)),
      method: name,
    },
  };
  brand<HttpAction>(data, units);
  return data;
}

/**
 * Makes a shell command.
 *
 * @throws ConsentError `action_invalid` for a blank text, an empty option, a NUL character or a
 *   malformed `envDigest`; `json_lone_surrogate` or `json_too_large`.
 */
export function shellAction(command: string, options: ShellActionOptions = {}): ShellAction {
  const { cwd, shell, envDigest } = options;
  const args = textOf("shell", "command", command);
  if (args.trim() === "") throw invalid("shell", "its command is blank");
  if (envDigest !== undefined && !DIGEST.test(envDigest))
    throw invalid("shell", "its envDigest is not sha256:<hex>");
  const data: Unbranded<ShellAction> = {
    name: programOf(args),
    args,
    meta: {
      kind: "shell",
      ...(cwd === undefined ? {} : { cwd: textOf("shell", "cwd", cwd) }),
      ...(shell === undefined ? {} : { shell: textOf("shell", "shell", shell) }),
      ...(envDigest === undefined ? {} : { envDigest }),
    },
  };
  brand<ShellAction>(data, args.length + (cwd?.length ?? 0) + (shell?.length ?? 0));
  return data;
}

/** Whether a constructor of this copy of the package made `value`. */
export function isAction(value: unknown): value is Action {
  return isMarked(value);
}

/** Whether an Action is a tool call. */
export function isToolAction(action: Action): action is ToolAction {
  return action.meta.kind === "tool";
}

/** Whether an Action is an HTTP request or tunnel. */
export function isHttpAction(action: Action): action is HttpAction {
  return action.meta.kind === "http";
}

/** Whether an Action is a shell command. */
export function isShellAction(action: Action): action is ShellAction {
  return action.meta.kind === "shell";
}

/**
 * Freezes and marks `data`. `units` is a lower bound of its size, as {@link copyMeasured} counts.
 */
function brand<A extends Action>(
  data: Unbranded<A>,
  units: number,
): asserts data is Unbranded<A> & A {
  const isSurelySmall = units * BYTES_PER_UNIT_MAX <= ACTION_BYTES_MAX;
  if (!isSurelySmall && utf8Length(canonicalJson(data), ACTION_BYTES_MAX) > ACTION_BYTES_MAX) {
    throw new ConsentError(
      "json_too_large",
      `Cannot make an action: it has more than ${ACTION_BYTES_MAX} bytes`,
    );
  }
  Object.freeze(data.meta);
  markAction(data);
}

function nameOf(what: string, name: unknown): string {
  const text = textOf("tool", what, name);
  if (text.length > NAME_CHARS_MAX)
    throw invalid("tool", `its ${what} has more than ${NAME_CHARS_MAX} characters`);
  if (CONTROL.test(text))
    throw invalid("tool", `its ${what} ${quote(text)} has a control character`);
  return text;
}

function textOf(kind: ActionKind, what: string, text: unknown): string {
  if (typeof text !== "string" || text === "")
    throw invalid(kind, `its ${what} is not a string of at least one character`);
  if (text.includes("\u0000")) throw invalid(kind, `its ${what} has a NUL character`);
  if (!text.isWellFormed())
    throw new ConsentError(
      "json_lone_surrogate",
      `Cannot make a ${kind} action: its ${what} has an unpaired surrogate`,
    );
  return text;
}

/**
 * The first word, unless the shell would read the text in another way than as words; an assignment
 * is no program.
 */
function programOf(command: string): string {
  const first = PLAIN_WORDS.test(command) ? (FIRST_WORD.exec(command)?.[0] ?? "") : "";
  return first.includes("=") ? "" : first;
}

interface Placeholders {
  readonly headers?: Readonly<Record<string, string>>;
  readonly units: number;
}

function placeholdersOf(headers: Readonly<Record<string, string>>): Placeholders {
  const kept = new Map<string, string>();
  let units = 0;
  for (const [header, value] of Object.entries(headers)) {
    if (!TOKEN.test(header) || typeof value !== "string" || HEADER_CONTROL.test(value))
      throw invalid("http", `header ${quote(header)} is malformed`);
    if (!value.includes(PLACEHOLDER)) continue;
    const name = header.toLowerCase();
    if (kept.has(name)) throw invalid("http", `header ${quote(name)} appears twice`);
    kept.set(name, textOf("http", `header ${quote(name)}`, value));
    units += name.length + value.length;
  }
  return kept.size === 0 ? { units } : { headers: Object.freeze(Object.fromEntries(kept)), units };
}

function invalid(kind: ActionKind, why: string): ConsentError {
  return new ConsentError(
    "action_invalid",
    `Cannot make ${kind === "http" ? "an" : "a"} ${kind} action: ${why}`,
  );
}
