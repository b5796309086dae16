/**
 * Client features: how a client can be told that a person has to answer. A stateful client says it in
 * `initialize`, a stateless one in each request. What is not said is not there. Sources: MCP 2025-11-25
 * and 2026-07-28, "Elicitation"; the extension `io.modelcontextprotocol/tasks`.
 */
import { isRecord } from "../message.js";

/** What a client can do. */
export interface ClientFeatures {
  /** It shows its user an address, and opens it if they agree. */
  readonly url: boolean;
  /** It asks again for what became of a call; in a session, of one that it sent with `task`. */
  readonly tasks: boolean;
}

/** Name of the extension in the capabilities of both sides. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
/** The first revision that knows addresses. */
const URL_FROM = "2025-11-25";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const DATE = /^\d{4}-\d{2}-\d{2}$/;

const none: ClientFeatures = { url: false, tasks: false };

function declaresUrl(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities["elicitation"] : undefined;
  return isRecord(elicitation) && isRecord(elicitation["url"]);
}

function metaOf(params: unknown): Readonly<Record<string, unknown>> {
  const meta = isRecord(params) ? params["_meta"] : undefined;
  return isRecord(meta) ? meta : {};
}

/** Whether a request is one of the stateless era. */
export const isStateless = (params: unknown): boolean =>
  typeof metaOf(params)[VERSION_KEY] === "string";

/** What the client of a stateless request can do; nothing where it is not one. */
export function featuresOfRequest(params: unknown): ClientFeatures {
  if (!isStateless(params)) return none;
  const capabilities = metaOf(params)[CAPABILITIES_KEY];
  const extensions = isRecord(capabilities) ? capabilities["extensions"] : undefined;
  return {
    url: declaresUrl(capabilities),
    tasks: isRecord(extensions) && isRecord(extensions[TASKS_EXTENSION]),
  };
}

/** Whether calls may become tasks in a session, as the client was told: others ignore `task`. */
function declaresTasks(capabilities: unknown): boolean {
  let at = capabilities;
  for (const key of ["tasks", "requests", "tools", "call"]) at = isRecord(at) ? at[key] : undefined;
  return isRecord(at);
}

/**
 * What a stateful client can do.
 *
 * @param params - Of its `initialize`.
 * @param result - What that was answered with.
 */
export function featuresOfSession(params: unknown, result: unknown): ClientFeatures {
  if (!isRecord(result)) return none;
  const { protocolVersion: version } = result;
  if (typeof version !== "string" || !DATE.test(version) || version < URL_FROM) return none;
  const capabilities = isRecord(params) ? params["capabilities"] : undefined;
  return { url: declaresUrl(capabilities), tasks: declaresTasks(result["capabilities"]) };
}
