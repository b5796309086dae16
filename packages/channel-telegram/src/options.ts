/**
 * Options: what a Telegram channel is given, checked once. Whoever is not named here never decides.
 */
import { type Clock, ConsentError, systemClock } from "@acp/core";

/** How Telegram sends updates to a webhook. */
export interface TelegramWebhook {
  /**
   * The HTTPS address that Telegram calls; it must lead to {@link TelegramChannel.handle}. The
   * channel registers it.
   */
  readonly url: string;
  /** Proves that a request comes from Telegram: 32 to 256 letters, digits, `_` and `-`. */
  readonly secretToken: string;
}

/** Options of {@link createTelegramChannel}. */
export interface TelegramChannelOptions {
  /** The bot's token, as BotFather gave it. */
  readonly token: string;
  /** The chat's number: the user's own for a private chat, negative for a group. */
  readonly chatId: string;
  /**
   * Numbers of the users who may answer. Absent: the user of a private chat; required for a group.
   * Empty: nobody.
   */
  readonly approvers?: readonly string[];
  /**
   * Address of another Bot API server, with https unless it is on this machine; Telegram's unless
   * given.
   */
  readonly apiRoot?: string;
  /** Takes updates by webhook; they are polled unless given. */
  readonly webhook?: TelegramWebhook;
  /**
   * Called about what a person must look at: a refused token, another program that reads the bot's
   * updates, taps of strangers. The message never has the token.
   */
  readonly warn?: (message: string) => void;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** The same, complete. */
export interface Settings {
  readonly token: string;
  readonly chatId: string;
  readonly approvers: ReadonlySet<string>;
  readonly apiRoot: string;
  readonly webhook: TelegramWebhook | undefined;
  readonly warn: (message: string) => void;
  readonly clock: Clock;
}

const API_ROOT = "https://api.telegram.org";
const TOKEN = /^[1-9]\d{0,15}:[A-Za-z0-9_-]{8,100}$/;
const CHAT_ID = /^-?[1-9]\d{0,15}$/;
const USER_ID = /^[1-9]\d{0,15}$/;
/** Telegram takes shorter ones; they could be guessed. */
const SECRET_TOKEN = /^[A-Za-z0-9_-]{32,256}$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function required(holds: boolean, why: string): void {
  if (!holds)
    throw new ConsentError("options_invalid", `Cannot create the Telegram channel: ${why}`);
}

const isText = (value: unknown, form: RegExp): boolean =>
  typeof value === "string" && form.test(value);

/** Whether an address keeps what is sent to it from others: HTTPS, or this machine. */
function isConfidential(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, search, hash } = new URL(address);
  if (username !== "" || search !== "" || hash !== "") return false;
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
}

function readApprovers({ chatId, approvers }: TelegramChannelOptions): ReadonlySet<string> {
  if (approvers === undefined) {
    required(
      !chatId.startsWith("-"),
      `the chat is a group; name in "approvers" who of it may answer`,
    );
    return new Set([chatId]);
  }
  required(
    Array.isArray(approvers) && approvers.every((id) => isText(id, USER_ID)),
    `"approvers" is not a list of users' numbers, as strings`,
  );
  return new Set(approvers);
}

/**
 * Checks the options and completes them.
 *
 * @throws ConsentError `options_invalid`; its text never has the token.
 */
export function readOptions(options: TelegramChannelOptions): Settings {
  const {
    token,
    chatId,
    apiRoot = API_ROOT,
    webhook,
    warn = () => undefined,
    clock = systemClock,
  } = options;
  required(isText(token, TOKEN), `"token" is not of the form 123456:letters-and-digits`);
  required(isText(chatId, CHAT_ID), `"chatId" is not a chat's number, as a string`);
  required(
    isConfidential(apiRoot),
    `"apiRoot" is neither an HTTPS address nor one of this machine; the token is part of every call`,
  );
  if (webhook !== undefined) {
    required(
      isConfidential(webhook.url),
      `"webhook.url" is neither an HTTPS address nor one of this machine`,
    );
    required(
      isText(webhook.secretToken, SECRET_TOKEN),
      `"webhook.secretToken" is not 32 to 256 letters, digits, "_" and "-"`,
    );
  }
  return {
    token,
    chatId,
    approvers: readApprovers(options),
    apiRoot: apiRoot.replace(/\/+$/, ""),
    webhook,
    warn,
    clock,
  };
}
