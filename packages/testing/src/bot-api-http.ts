/**
 * BotApiHttp: reads a call of the Bot API from an HTTP request: the token and the method in the
 * path, the parameters in one of four ways.
 */
import type { IncomingMessage } from "node:http";
import { type JsonObject, type JsonValue, parseJson } from "@acp/core";
import type { UploadedFile } from "./bot-api-message.js";
import { RefusedCall, badRequest, isObject, readTextParam } from "./bot-api-rules.js";

/** A call of a Bot API method, as the server received it. */
export interface BotApiCall {
  /** Name of a Bot API method, such as `sendMessage`. */
  readonly method: string;
  /** Its parameters, decoded from JSON or a form. */
  readonly params: JsonObject;
  /** The document that was uploaded with it; `undefined` for none. */
  readonly file: UploadedFile | undefined;
}

const BODY_BYTES_MAX: number = 50 * 1024 * 1024;

async function readBytes(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.byteLength;
    if (size > BODY_BYTES_MAX)
      throw new RefusedCall({ status: 413, description: "Request Entity Too Large" });
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function readJson(bytes: Uint8Array): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(bytes);
  } catch {
    return badRequest("can't parse request body as JSON");
  }
  return isObject(value) ? value : badRequest("expected an object of parameters");
}

async function readForm(
  method: string,
  form: Iterable<readonly [string, unknown]>,
): Promise<Omit<BotApiCall, "method">> {
  const params: Record<string, JsonValue> = {};
  let file: UploadedFile | undefined;
  for (const [key, value] of form) {
    if (typeof value === "string") params[key] = readTextParam(method, key, value);
    else if (value instanceof File)
      file = { name: value.name, type: value.type, text: await value.text() };
  }
  return { params, file };
}

/**
 * Reads a call.
 *
 * @param token - The token that is good; `undefined` where none is.
 * @throws RefusedCall as the service refuses it.
 */
export async function readCall(
  request: IncomingMessage,
  token: string | undefined,
): Promise<BotApiCall> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const path = /^\/bot([^/]+)\/([^/]+)$/.exec(url.pathname);
  const bytes = await readBytes(request);
  if (path === null) throw new RefusedCall({ status: 404, description: "Not Found" });
  const [, given = "", method = ""] = path;
  if (token === undefined || given !== token)
    throw new RefusedCall({ status: 401, description: "Unauthorized" });
  const query = await readForm(method, url.searchParams);
  if (request.method === "GET") return { method, ...query };
  if (request.method !== "POST")
    throw new RefusedCall({ status: 405, description: "Method Not Allowed" });
  const type = request.headers["content-type"] ?? "";
  if (bytes.byteLength === 0) return { method, ...query };
  if (type.startsWith("application/json"))
    return { method, params: { ...query.params, ...readJson(bytes) }, file: undefined };
  if (!/^(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/.test(type))
    return badRequest(`unsupported content type "${type}"`);
  const form = await readForm(
    method,
    await new Response(bytes, { headers: { "content-type": type } }).formData(),
  );
  return { method, params: { ...query.params, ...form.params }, file: form.file };
}
