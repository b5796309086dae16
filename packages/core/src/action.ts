/**
 * Action: one side effect described as data before it happens.
 * Only the constructors and {@link parseAction} make one; it is normalised, frozen and digested. Format: spec/action.md.
 */
import { ConsentError } from "./errors.js";
import { parseAuthority } from "./host.js";
import { copyJson } from "./json/copy.js";
import type { JsonObject, JsonValue } from "./json/value.js";
import { ACTION_BYTES_MAX, NAME_CHARS_MAX } from "./limits.js";
import { quote } from "./quote.js";
import { parseHttpUrl } from "./url.js";

declare const actionBrand: unique symbol;

/** What every Action carries besides its data: proof at compile time that a constructor made it. */
export interface ActionBrand {
  readonly [actionBrand]: true;
}

/** The three kinds of Action. */
export type ActionKind = "tool" | "http" | "shell";

/** A tool call, e.g. over MCP. */
export interface ToolAction extends ActionBrand {
  /** The tool's name as its server knows it. */
  readonly name: string;
  readonly args: JsonObject;
  readonly meta: { readonly kind: "tool"; readonly server: string };
}

/** An HTTP request, or a CONNECT tunnel. */
export interface HttpAction extends ActionBrand {
  /** The method, upper case; `CONNECT` for a tunnel. */
  readonly name: string;
  /** Only headers that hold a secret's placeholder. */
  readonly args?: { readonly headers: Readonly<Record<string, string>> };
  readonly meta: {
    readonly kind: "http";
    /** Normalised: lower case, A-labels, no trailing dot, IPv6 in brackets. */
    readonly host: string;
    readonly port: number;
    readonly method: string;
    /** Normalised; absent for CONNECT. */
    readonly url?: string;
  };
}

/** A shell command. */
export interface ShellAction extends ActionBrand {
  /** The first word where the text is plain words, otherwise `""`. */
  readonly name: string;
  /** The whole command text. */
  readonly args: string;
  readonly meta: { readonly kind: "shell"; readonly cwd?: string; readonly shell?: string; readonly envDigest?: string };
}

/** One side effect, described before it happens. Narrow with {@link isToolAction}, {@link isHttpAction}, {@link isShellAction}. */
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
  readonly cwd?: string;
  /** Which shell reads the text, e.g. `"/bin/bash"`. */
  readonly shell?: string;
  /** `sha256:<hex>` over the environment. */
  readonly envDigest?: string;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const HEADER_CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const PLAIN_WORDS = /^[A-Za-z0-9_@%+=:,./\- \t]*$/;
const FIRST_WORD = /[^ \t]+/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const PLACEHOLDER = "{{secret:";

const made = new WeakSet<object>();

/**
 * A tool call.
 *
 * @throws ConsentError `action_invalid` for a bad name; `json_*` where `args` is not plain JSON data.
 */
export function toolAction(server: string, tool: string, args: unknown = {}): ToolAction {
  const copied = copyJson(args, { sizeMax: ACTION_BYTES_MAX });
  if (!isObject(copied)) throw invalid("make a tool action: its args are not an object");
  return brand<ToolAction>({ name: nameOf(tool, "tool"), args: copied, meta: { kind: "tool", server: nameOf(server, "server") } });
}

/**
 * An HTTP request; with method `CONNECT` a tunnel, whose `url` is `host:port`.
 *
 * @throws ConsentError `action_invalid` for a bad method or header; `host_invalid` for a bad URL or authority.
 */
export function httpAction(method: string, url: string, options: HttpActionOptions = {}): HttpAction {
  if (typeof method !== "string" || method.length > NAME_CHARS_MAX || !TOKEN.test(method)) throw invalid("make an http action: its method is not a token");
  const name = method.toUpperCase();
  const headers = placeholdersOf(options.headers ?? {});
  const args = Object.keys(headers).length === 0 ? {} : { args: { headers } };
  if (name === "CONNECT") {
    const { host, port } = parseAuthority(url);
    return brand<HttpAction>({ name, ...args, meta: { kind: "http", host, port, method: name } });
  }
  const target = parseHttpUrl(url);
  return brand<HttpAction>({ name, ...args, meta: { kind: "http", host: target.host, port: target.port, method: name, url: target.url } });
}

/**
 * A shell command.
 *
 * @throws ConsentError `action_invalid`; `json_lone_surrogate` or `json_too_large` for a bad text.
 */
export function shellAction(command: string, options: ShellActionOptions = {}): ShellAction {
  const args = textOf(command, "command");
  if (args.trim() === "") throw invalid("make a shell action: its command is empty");
  const { cwd, shell, envDigest } = options;
  if (envDigest !== undefined && !DIGEST.test(envDigest)) throw invalid("make a shell action: its envDigest is not sha256:<hex>");
  return brand<ShellAction>({
    name: programOf(args),
    args,
    meta: {
      kind: "shell",
      ...(cwd === undefined ? {} : { cwd: textOf(cwd, "cwd") }),
      ...(shell === undefined ? {} : { shell: textOf(shell, "shell") }),
      ...(envDigest === undefined ? {} : { envDigest }),
    },
  });
}

/** Whether a constructor of this copy of the package made `value`. */
export function isAction(value: unknown): value is Action {
  return typeof value === "object" && value !== null && made.has(value);
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

function brand<A extends Action>(data: Unbranded<A>): A {
  const action = copyJson(data, { sizeMax: ACTION_BYTES_MAX });
  if (typeof action !== "object" || action === null) throw invalid("make an action: it is not an object");
  made.add(action);
  return action as unknown as A; // a frozen copy of data that the type checker saw; the brand exists in types only
}

function nameOf(name: unknown, what: string): string {
  if (typeof name !== "string" || name === "") throw invalid(`make a tool action: its ${what} name is not a text of at least one character`);
  if (name.length > NAME_CHARS_MAX) throw invalid(`make a tool action: its ${what} name has more than ${NAME_CHARS_MAX} characters`);
  if (CONTROL.test(name)) throw invalid(`make a tool action: its ${what} name ${quote(name)} has a control character`);
  return name;
}

function textOf(text: unknown, what: string): string {
  if (typeof text !== "string" || text === "" || text.includes("\u0000")) throw invalid(`make a shell action: its ${what} is empty or not a text`);
  return text;
}

function programOf(command: string): string {
  const first = PLAIN_WORDS.test(command) ? (FIRST_WORD.exec(command)?.[0] ?? "") : "";
  return first.includes("=") ? "" : first;
}

function placeholdersOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (!TOKEN.test(header) || typeof value !== "string" || HEADER_CONTROL.test(value)) throw invalid(`make an http action: header ${quote(header)} is malformed`);
    if (!value.includes(PLACEHOLDER)) continue;
    const name = header.toLowerCase();
    if (Object.hasOwn(kept, name)) throw invalid(`make an http action: header ${quote(name)} stands twice`);
    kept[name] = value;
  }
  return kept;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(what: string): ConsentError {
  return new ConsentError("action_invalid", `Cannot ${what}`);
}
