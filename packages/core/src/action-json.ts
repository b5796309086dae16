/**
 * Actions as plain JSON: reading one back, S0's flat view, and an edited action. Format: spec/action.md §4, §5.
 */
import { httpAction, isAction, isHttpAction, isToolAction, shellAction, toolAction } from "./action.js";
import type { Action, HttpAction, ShellAction } from "./action.js";
import { ConsentError } from "./errors.js";
import { copyMeasured } from "./json/copy.js";
import { isJsonObject } from "./json/value.js";
import type { JsonObject, JsonValue } from "./json/value.js";
import { ACTION_BYTES_MAX } from "./limits.js";
import { quote } from "./quote.js";

/** S0's flat view of an Action of any kind. */
export interface FlatAction {
  /** The tool; the method; the program. */
  readonly tool: string;
  /** The server; the host; `"shell"`. */
  readonly server: string;
  /** Tool: its args. Http: `{ method, url, host, port }` and the headers that count. Shell: `{ command, cwd }` and what else is known. */
  readonly parameters: JsonObject;
}

/**
 * Reads `{ name, args?, meta }` as {@link actionToJson} writes it, and normalises it through the constructors. An Action is returned as it is.
 *
 * @throws ConsentError `action_invalid`, `host_invalid` or `json_*`.
 */
export function parseAction(value: unknown): Action {
  if (isAction(value)) return value;
  const { name, args, meta } = fieldsOf(copyMeasured(value, ACTION_BYTES_MAX).copy, "action", ["name", "args", "meta"]);
  const kind = isJsonObject(meta) ? meta.kind : undefined;
  switch (kind) {
    case "tool": {
      const { server } = fieldsOf(meta, "meta", ["kind", "server"]);
      return toolAction(text(server, "meta.server"), text(name, "name"), required(args, "args"));
    }
    case "http":
      return parseHttp(text(name, "name"), args, meta);
    case "shell": {
      const { cwd, shell, envDigest } = fieldsOf(meta, "meta", ["kind", "cwd", "shell", "envDigest"]);
      const action = shellAction(
        text(args, "args"),
        defined({ cwd: optional(cwd, "meta.cwd"), shell: optional(shell, "meta.shell"), envDigest: optional(envDigest, "meta.envDigest") }),
      );
      same(name, action.name, "name");
      return action;
    }
    default:
      throw invalid('"meta.kind" is not "tool", "http" or "shell"');
  }
}

function parseHttp(name: string, args: JsonValue | undefined, meta: JsonValue | undefined): Action {
  const { host, port, method, url } = fieldsOf(meta, "meta", ["kind", "host", "port", "method", "url"]);
  const headers = args === undefined ? undefined : headersOf(fieldsOf(args, "args", ["headers"]).headers);
  const action = httpFrom({ method: name, url, host, port, headers });
  same(typeof method === "string" ? method.toUpperCase() : method, action.name, "meta.method");
  return action;
}

/** The Action as plain JSON data; {@link parseAction} reads it back to the same digest. */
export function actionToJson(action: Action): JsonObject {
  const { name, args, meta } = action;
  return { name, ...(args === undefined ? {} : { args }), meta: { ...meta } };
}

/** S0's `tool`, `server` and `parameters` for any kind. Nothing of the Action is left out. */
export function parametersOf(action: Action): FlatAction {
  if (isToolAction(action)) return { tool: action.name, server: action.meta.server, parameters: action.args };
  if (isHttpAction(action)) {
    const { kind: _, ...parameters } = action.meta;
    return { tool: action.name, server: action.meta.host, parameters: { ...parameters, ...action.args } };
  }
  const { kind: _, ...rest } = action.meta;
  return { tool: action.name, server: "shell", parameters: { command: action.args, ...rest } };
}

/**
 * The edited Action: `parameters` replace those of {@link parametersOf} as a whole; kind, tool and server stay.
 *
 * @throws ConsentError `action_invalid`; its cause says more where the parameters are not plain JSON data or name a bad host.
 */
export function withParameters(action: Action, parameters: unknown): Action {
  try {
    const edited = copyMeasured(parameters, ACTION_BYTES_MAX).copy;
    if (isToolAction(action)) return toolAction(action.meta.server, action.name, edited);
    return isHttpAction(action) ? editHttp(action, edited) : editShell(edited);
  } catch (error) {
    if (error instanceof ConsentError && error.code === "action_invalid") throw error;
    throw new ConsentError("action_invalid", `Cannot edit an action: ${error instanceof Error ? error.message : "unknown cause"}`, {
      cause: error,
    });
  }
}

function editHttp(action: HttpAction, edited: JsonValue): HttpAction {
  const { method, url, host, port, headers } = fieldsOf(edited, "parameters", ["method", "url", "host", "port", "headers"]);
  const next = httpFrom({
    method: text(method, "method"),
    url,
    host,
    port,
    headers: headers === undefined ? undefined : headersOf(headers),
  });
  if ((next.name === "CONNECT") !== (action.name === "CONNECT")) throw invalid("a tunnel cannot become a request, nor a request a tunnel");
  return next;
}

function editShell(edited: JsonValue): ShellAction {
  const { command, cwd, shell, envDigest } = fieldsOf(edited, "parameters", ["command", "cwd", "shell", "envDigest"]);
  return shellAction(
    text(command, "command"),
    defined({ cwd: optional(cwd, "cwd"), shell: optional(shell, "shell"), envDigest: optional(envDigest, "envDigest") }),
  );
}

interface HttpFields {
  readonly method: string;
  readonly url: JsonValue | undefined;
  readonly host: JsonValue | undefined;
  readonly port: JsonValue | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** Host and port are repeated beside the URL; they must say the same. */
function httpFrom({ method, url, host, port, headers }: HttpFields): HttpAction {
  const tunnel = method.toUpperCase() === "CONNECT";
  if (tunnel && url !== undefined) throw invalid('a tunnel has no "url"');
  const target = tunnel ? `${text(host, "host")}:${typeof port === "number" ? port : ""}` : text(url, "url");
  const action = httpAction(method, target, headers === undefined ? {} : { headers });
  if (!tunnel) same(host, action.meta.host, "host");
  same(port, action.meta.port, "port");
  if (Object.keys(headers ?? {}).length !== Object.keys(action.args?.headers ?? {}).length)
    throw invalid('"headers" has one without a placeholder');
  return action;
}

function headersOf(value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (!isJsonObject(value) || Object.keys(value).length === 0) throw invalid('"headers" is not an object with at least one header');
  return Object.fromEntries(Object.entries(value).map(([name, header]) => [name, text(header, `headers.${quote(name)}`)]));
}

function fieldsOf(value: JsonValue | undefined, what: string, known: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw invalid(`"${what}" is not an object`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(`"${what}" has the unknown key ${quote(unknown)}`);
  return value;
}

function text(value: JsonValue | undefined, what: string): string {
  if (typeof value !== "string") throw invalid(`"${what}" is not a text`);
  return value;
}

function optional(value: JsonValue | undefined, what: string): string | undefined {
  return value === undefined ? undefined : text(value, what);
}

function required(value: JsonValue | undefined, what: string): JsonValue {
  if (value === undefined) throw invalid(`"${what}" is missing`);
  return value;
}

function same(given: JsonValue | undefined, normal: string | number, what: string): void {
  if (given !== normal) throw invalid(`"${what}" does not fit the rest`);
}

function defined(options: { readonly [key: string]: string | undefined }): { readonly [key: string]: string } {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(options)) if (value !== undefined) kept[key] = value;
  return kept;
}

function invalid(why: string): ConsentError {
  return new ConsentError("action_invalid", `Cannot read an action: ${why}`);
}
