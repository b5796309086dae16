/**
 * BotApi: one call of the Telegram Bot API, by fetch. It tries once, never throws, and lets the
 * token out of its hands only as part of the URL: no error, reply or notice of it carries the
 * token. Documentation of the methods: https://core.telegram.org/bots/api.
 */
import { type Clock, type JsonObject, type JsonValue, escapeText, parseJson } from "@acp/core";
import { readBody } from "./body.js";
import { cutAfter } from "./cut.js";
import { at, integerAt, textAt } from "./json.js";

/** Bytes of one reply: 100 updates at most, which the Bot API cuts at 4 MiB. */
const REPLY_BYTES_MAX: number = 8 * 1024 * 1024;
const CALL_TIMEOUT_MS = 30_000;
const WHY_CHARS_MAX = 200;

/** What a call gave. */
export type ApiReply = { readonly ok: true; readonly result: JsonValue } | ApiFailure;

/** Why a call gave nothing. */
export interface ApiFailure {
  readonly ok: false;
  /**
   * The HTTP status; 0 where no reply came, or none that can be read: the call may have been
   * carried out.
   */
  readonly status: number;
  /** One line that is safe to show. */
  readonly why: string;
  /** How long to wait before the next call. */
  readonly retryAfterMs?: number;
  /** The group became another chat. */
  readonly newChatId?: string;
}

/** A text that is uploaded as a file. */
export interface UploadedText {
  readonly name: string;
  readonly type: "text/plain" | "application/json";
  readonly text: string;
}

/** One call. */
export interface ApiCall {
  readonly method: string;
  readonly params: JsonObject;
  /** Goes along as the parameter `document`. */
  readonly document?: UploadedText;
  /** How long the reply may take; 30 s unless given. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

/** Calls the Bot API. */
export type BotApi = (call: ApiCall) => Promise<ApiReply>;

/** Parts of {@link createBotApi}. */
export interface BotApiOptions {
  readonly token: string;
  readonly apiRoot: string;
  readonly clock: Clock;
}

function encodeParams({ params, document }: ApiCall): Pick<RequestInit, "body" | "headers"> {
  if (document === undefined)
    return { body: JSON.stringify(params), headers: { "content-type": "application/json" } };
  const form = new FormData();
  for (const [key, value] of Object.entries(params))
    form.set(key, typeof value === "string" ? value : JSON.stringify(value));
  form.set("document", new Blob([document.text], { type: document.type }), document.name);
  return { body: form };
}

const failure = (status: number, why: string): ApiFailure => ({ ok: false, status, why });

/** Says why no reply came in words of our own: fetch's errors may carry the URL. */
function whyNoReply(error: unknown, isTimeout: boolean): string {
  if (isTimeout) return "no reply in time";
  const cause = error instanceof Error ? error.cause : undefined;
  const code =
    typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code)
    ? `no reply (${code})`
    : "no reply";
}

function readReply(
  status: number,
  bytes: Uint8Array | undefined,
  scrub: (text: string) => string,
): ApiReply {
  let reply: JsonValue;
  try {
    if (bytes === undefined) return failure(0, "the reply is too large");
    reply = parseJson(bytes, { bytesMax: REPLY_BYTES_MAX });
  } catch {
    return failure(status >= 400 ? status : 0, "the reply is not JSON");
  }
  const result = at(reply, "result");
  if (status === 200 && at(reply, "ok") === true && result !== undefined)
    return { ok: true, result };
  const retryAfterS = integerAt(reply, "parameters", "retry_after");
  const newChatId = integerAt(reply, "parameters", "migrate_to_chat_id");
  const description = textAt(reply, "description") ?? "no description";
  return {
    ...failure(
      status === 200 ? 0 : status,
      cutAfter(escapeText(scrub(description)), WHY_CHARS_MAX),
    ),
    ...(retryAfterS === undefined ? {} : { retryAfterMs: Math.max(1, retryAfterS) * 1_000 }),
    ...(newChatId === undefined ? {} : { newChatId: String(newChatId) }),
  };
}

/** A client for one bot. */
export function createBotApi({ token, apiRoot, clock }: BotApiOptions): BotApi {
  const secret = token.slice(token.indexOf(":") + 1);
  const scrub = (text: string): string => text.replaceAll(secret, "<token>");
  return async (call) => {
    if (call.signal.aborted) return failure(0, "given up");
    const end = new AbortController();
    const passOn = (): void => end.abort();
    call.signal.addEventListener("abort", passOn, { once: true });
    let isTimeout = false;
    const expire = async (): Promise<void> => {
      await clock.sleep(call.timeoutMs ?? CALL_TIMEOUT_MS, {
        signal: end.signal,
        background: true,
      });
      isTimeout = true;
      end.abort();
    };
    expire().catch(() => undefined);
    try {
      const response = await fetch(`${apiRoot}/bot${token}/${call.method}`, {
        method: "POST",
        redirect: "error",
        signal: end.signal,
        ...encodeParams(call),
      });
      return readReply(response.status, await readBody(response.body, REPLY_BYTES_MAX), scrub);
    } catch (error) {
      return failure(0, whyNoReply(error, isTimeout));
    } finally {
      call.signal.removeEventListener("abort", passOn);
      end.abort();
    }
  };
}
