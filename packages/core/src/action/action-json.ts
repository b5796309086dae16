/**
 * Actions as plain JSON: reading one back, the flat view of ACP v0.2, and an edited action. Format:
 * spec/action.md §4, §5.
 */
import {
  httpAction,
  isAction,
  isHttpAction,
  isToolAction,
  shellAction,
  toolAction,
} from "./action.js";
import type { Action, HttpAction, ShellAction } from "./action.js";
import { ConsentError } from "../errors.js";
import { normalizeHost } from "./host.js";
import { copyMeasured } from "../json/copy.js";
import { isJsonObject } from "../json/value.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import { ACTION_BYTES_MAX } from "../limits.js";
import { quote } from "@acp/exec-safety/text";

/**
 * The flat view of an Action of any kind: `tool`, `server` and `parameters`, as in ACP v0.2 §4.1.
 */
export interface FlatAction {
  /** The tool's name; of an HTTP request, the method; of a command, its program or `""`. */
  readonly tool: string;
  /** The server's name; of an HTTP request, the host; of a command, `"shell"`. */
  readonly server: string;
  /**
   * Of a tool call, its `args`. Of an HTTP request, `{ method, url?, host, port, headers? }`. Of a
   * command, `{ command, cwd?, shell?, envDigest? }`.
   */
  readonly parameters: JsonObject;
}

/**
 * Reads `{ name, args?, meta }` as {@link actionToJson} writes it, and normalizes it through the
 * constructors. An Action is returned as it is. Source: spec/action.md §4.
 *
 * @throws ConsentError `action_invalid` for an unknown key, a wrong type, or parts that contradict
 *   each other; `host_invalid`; `json_*` where the value is not plain JSON data or is too large.
 */
export function parseAction(value: unknown): Action {
  if (isAction(value)) return value;
  const { name, args, meta } = fieldsOf(copyMeasured(value, ACTION_BYTES_MAX).copy, "action", [
    "name",
    "args",
    "meta",
  ]);
  if (!isJsonObject(meta)) throw invalid('"meta" is not an object');
  switch (meta.kind) {
    case "tool":
      return parseTool(text(name, "name"), args, fieldsOf(meta, "meta", ["kind", "server"]));
    case "http":
      return parseHttp(
        text(name, "name"),
        args,
        fieldsOf(meta, "meta", ["kind", "host", "port", "method", "url"]),
      );
    case "shell":
      return parseShell(
        text(name, "name"),
        args,
        fieldsOf(meta, "meta", ["kind", "cwd", "shell", "envDigest"]),
      );
    default:
      throw invalid('"meta.kind" is not "tool", "http" or "shell"');
  }
}

/** The Action as plain JSON data; {@link parseAction} reads it back to the same digest. */
export function actionToJson(action: Action): JsonObject {
  const { name, args, meta } = action;
  return { name, ...(args === undefined ? {} : { args }), meta: { ...meta } };
}

/**
 * The flat view of an Action, as a question and the log show it. Nothing of the Action is left out.
 */
export function parametersOf(action: Action): FlatAction {
  const tool = action.name;
  if (isToolAction(action)) return { tool, server: action.meta.server, parameters: action.args };
  if (isHttpAction(action)) {
    const { method, url, host, port } = action.meta;
    return {
      tool,
      server: host,
      parameters: { method, ...(url === undefined ? {} : { url }), host, port, ...action.args },
    };
  }
  const { kind: _, ...rest } = action.meta;
  return { tool, server: "shell", parameters: { command: action.args, ...rest } };
}

/**
 * The Action with other parameters: `parameters` replace all of those of {@link parametersOf}. The
 * kind stays the same, and so do a tool call's tool and server; a request cannot become a tunnel,
 * nor a tunnel a request.
 *
 * @throws ConsentError `action_invalid`; its `cause` says more where the parameters are not plain
 *   JSON data or name a bad host.
 */
export function withParameters(action: Action, parameters: unknown): Action {
  if (!isAction(action)) throw invalid("no constructor made it");
  try {
    const edited = copyMeasured(parameters, ACTION_BYTES_MAX).copy;
    if (isToolAction(action)) return toolAction(action.meta.server, action.name, edited);
    return isHttpAction(action) ? editHttp(action, edited) : editShell(edited);
  } catch (error) {
    if (!(error instanceof ConsentError) || error.code === "action_invalid") throw error;
    throw new ConsentError("action_invalid", `Cannot edit an action: ${error.message}`, {
      cause: error,
    });
  }
}

function parseTool(name: string, args: JsonValue | undefined, meta: JsonObject): Action {
  if (!isJsonObject(args)) throw invalid('"args" is not an object');
  return toolAction(text(meta.server, "meta.server"), name, args);
}

function parseHttp(name: string, args: JsonValue | undefined, meta: JsonObject): Action {
  const { headers } = args === undefined ? {} : fieldsOf(args, "args", ["headers"]);
  if (args !== undefined && headers === undefined) throw invalid('"args" has no headers');
  const action = httpFrom({ ...meta, ...(headers === undefined ? {} : { headers }) });
  same(name.toUpperCase(), action.name, "name");
  return action;
}

function parseShell(name: string, args: JsonValue | undefined, meta: JsonObject): Action {
  const action = shellFrom(text(args, "args"), meta);
  same(name, action.name, "name");
  return action;
}

function editHttp(action: HttpAction, edited: JsonValue): HttpAction {
  const next = httpFrom(
    fieldsOf(edited, "parameters", ["method", "url", "host", "port", "headers"]),
  );
  if ((next.name === "CONNECT") !== (action.name === "CONNECT"))
    throw invalid("a tunnel cannot become a request, nor a request a tunnel");
  return next;
}

function editShell(edited: JsonValue): ShellAction {
  const fields = fieldsOf(edited, "parameters", ["command", "cwd", "shell", "envDigest"]);
  return shellFrom(text(fields.command, "command"), fields);
}

/** Host and port are repeated beside the URL; they must say the same. */
function httpFrom({ method, url, host, port, headers }: JsonObject): HttpAction {
  const name = text(method, "method").toUpperCase();
  const normalHost = normalizeHost(text(host, "host"));
  if (typeof port !== "number") throw invalid('"port" is not a number');
  if (name === "CONNECT" && url !== undefined) throw invalid('a tunnel has no "url"');
  const target = name === "CONNECT" ? `${normalHost}:${port}` : text(url, "url");
  const action = httpAction(
    name,
    target,
    headers === undefined ? {} : { headers: headersOf(headers) },
  );
  same(normalHost, action.meta.host, "host");
  same(port, action.meta.port, "port");
  const placeholders = Object.keys(action.args?.headers ?? {}).length;
  if (isJsonObject(headers) && Object.keys(headers).length !== placeholders)
    throw invalid('"headers" has one without a placeholder');
  return action;
}

function headersOf(headers: JsonValue): Readonly<Record<string, string>> {
  if (!isJsonObject(headers) || Object.keys(headers).length === 0)
    throw invalid('"headers" is not an object with at least one header');
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, text(value, "headers")]),
  );
}

function shellFrom(command: string, { cwd, shell, envDigest }: JsonObject): ShellAction {
  return shellAction(command, {
    ...(cwd === undefined ? {} : { cwd: text(cwd, "cwd") }),
    ...(shell === undefined ? {} : { shell: text(shell, "shell") }),
    ...(envDigest === undefined ? {} : { envDigest: text(envDigest, "envDigest") }),
  });
}

function fieldsOf(value: JsonValue, what: string, known: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw invalid(`"${what}" is not an object`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw invalid(`"${what}" has the unknown key ${quote(unknown)}`);
  return value;
}

function text(value: JsonValue | undefined, what: string): string {
  if (typeof value !== "string") throw invalid(`"${what}" is not a string`);
  return value;
}

function same(given: string | number, normal: string | number, what: string): void {
  if (given !== normal) throw invalid(`"${what}" does not fit the rest`);
}

function invalid(why: string): ConsentError {
  return new ConsentError("action_invalid", `Cannot read an action: ${why}`);
}
