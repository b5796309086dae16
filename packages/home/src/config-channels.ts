/** Config, channels: how people are reached, and in which order. */
import { ASK_TIMEOUT_MS_MAX } from "@acp/core";
import {
  type Spot,
  invalid,
  readList,
  readMap,
  readNumber,
  readOneOf,
  readText,
} from "@acp/core/yaml";
import { ifGiven, readSecret, readUrl, required } from "./config-values.js";

/** Channels that a configuration can name; `prompt` in the file means `terminal`. */
export const CHANNEL_NAMES = ["terminal", "telegram", "webhook"] as const;

/** One of {@link CHANNEL_NAMES}. */
export type ChannelName = (typeof CHANNEL_NAMES)[number];

/** One stage of an escalation: when a question is shown, where, and who may answer from then on. */
export interface ChannelStage {
  /** Channels that all show the question; the first answer counts. */
  readonly channels: readonly ChannelName[];
  /** Milliseconds after the question was asked at which the stage begins. */
  readonly afterMs: number;
  /** IDs of approvers or names of groups. Absent: everyone who may answer. */
  readonly approvers?: readonly string[];
}

/** Settings of the Telegram channel. */
export interface TelegramConfig {
  /** The bot token, plain or as `encrypted:<…>`. */
  readonly botToken: string;
  /** ID of the chat that gets the questions. */
  readonly chatId: string;
  /** URL of your own Bot API server. Absent: Telegram's. */
  readonly apiRoot?: string;
}

/** Settings of the webhook channel. */
export interface WebhookConfig {
  /** Where questions are sent: https, or http to this machine. */
  readonly url: string;
  /** The shared secret (`whsec_…`), plain or as `encrypted:<…>`. */
  readonly secret: string;
  /** Where answers and browsers connect. Absent: only the replies to questions are answers. */
  readonly listen?: ListenAddress;
  /** URL at which people reach the listener with a browser. */
  readonly linkUrl?: string;
  /** Hosts that may have addresses of this machine's own network. */
  readonly allowPrivateHosts?: readonly string[];
}

/** An address of this machine to listen on. */
export interface ListenAddress {
  /** Host name or IP address. */
  readonly host: string;
  /** Port number. */
  readonly port: number;
}

const CHAT_CHARS_MAX = 64;
const HOST_CHARS_MAX = 253;
const NAME_CHARS_MAX = 256;
const STAGES_MAX = 16;
const SPELLINGS = ["prompt", ...CHANNEL_NAMES] as const;
const DELAY_S = { min: 1, max: ASK_TIMEOUT_MS_MAX / 1_000 } as const;
/** A port alone is this machine's: what is to be reached from elsewhere says so. */
const LOOPBACK = "127.0.0.1";

/** The stages of `channel`, or of `escalation`; the terminal unless the file says otherwise. */
export function readStages(entries: ReadonlyMap<string, Spot>): readonly ChannelStage[] {
  const [channel, escalation] = [entries.get("channel"), entries.get("escalation")];
  if (escalation === undefined)
    return [{ channels: ifGiven(channel, readChannels) ?? ["terminal"], afterMs: 0 }];
  if (channel !== undefined)
    throw invalid(escalation, 'there is a "channel" too: its stages name the channels', {
      part: "key",
    });
  return readEscalation(escalation);
}

/** Returns every channel that the stages name, once each. */
export function channelsOf(stages: readonly ChannelStage[]): readonly ChannelName[] {
  return [...new Set(stages.flatMap(({ channels }) => channels))];
}

function readChannels(spot: Spot): readonly ChannelName[] {
  if (!Array.isArray(spot.value)) return [readName(spot)];
  const each = readList(spot);
  if (each.length === 0) throw invalid(spot, "there is no channel in it");
  const names = each.map(readName);
  if (new Set(names).size < names.length) throw invalid(spot, "a channel is in it twice");
  return names;
}

function readName(spot: Spot): ChannelName {
  const written = readOneOf(spot, SPELLINGS);
  return written === "prompt" ? "terminal" : written;
}

function readEscalation(spot: Spot): readonly ChannelStage[] {
  const each = readList(spot);
  if (each.length === 0 || each.length > STAGES_MAX)
    throw invalid(spot, `it has not 1 to ${STAGES_MAX} stages`);
  const stages = each.map(readStage);
  for (const [at, { afterMs, approvers }] of stages.entries()) {
    const [before, here] = [stages[at - 1], each[at] ?? spot];
    if (before === undefined && afterMs > 0) throw invalid(here, "the first stage starts at once");
    if (before !== undefined && afterMs <= before.afterMs)
      throw invalid(here, "the stages are not in the order of their times");
    if (before !== undefined && (approvers === undefined) !== (before.approvers === undefined))
      throw invalid(here, "some stages name approvers and some do not");
  }
  return stages;
}

function readStage(spot: Spot): ChannelStage {
  const entries = readMap(spot, ["channel", "after_seconds", "approvers"]);
  const seconds = ifGiven(entries.get("after_seconds"), (each) => readNumber(each, DELAY_S)) ?? 0;
  const approvers = ifGiven(entries.get("approvers"), (each) =>
    readList(each).map((id) => readText(id, NAME_CHARS_MAX)),
  );
  return {
    channels: readChannels(required(spot, entries, "channel")),
    afterMs: Math.round(seconds * 1_000),
    ...(approvers === undefined ? {} : { approvers }),
  };
}

/** The section `telegram`. */
export function readTelegram(spot: Spot): TelegramConfig {
  const entries = readMap(spot, ["bot_token", "chat_id", "api_root"]);
  const apiRoot = ifGiven(entries.get("api_root"), readUrl);
  return {
    botToken: readSecret(required(spot, entries, "bot_token")),
    chatId: readChatId(required(spot, entries, "chat_id")),
    ...(apiRoot === undefined ? {} : { apiRoot }),
  };
}

/** A chat's number must be written as text: large ones are not exact as numbers. */
function readChatId(spot: Spot): string {
  if (typeof spot.value === "number")
    throw invalid(spot, "expected a text, got a number", { suggestion: `"${spot.value}"` });
  return readText(spot, CHAT_CHARS_MAX);
}

/** The section `webhook`. */
export function readWebhook(spot: Spot): WebhookConfig {
  const entries = readMap(spot, ["url", "secret", "listen", "link_url", "allow_private_hosts"]);
  const listen = ifGiven(entries.get("listen"), readListen);
  const linkUrl = ifGiven(entries.get("link_url"), readUrl);
  const hosts = ifGiven(entries.get("allow_private_hosts"), (each) =>
    readList(each).map((host) => readText(host, HOST_CHARS_MAX)),
  );
  if (linkUrl !== undefined && listen === undefined)
    throw invalid(spot, 'a "link_url" leads nowhere without "listen"');
  return {
    url: readUrl(required(spot, entries, "url")),
    secret: readSecret(required(spot, entries, "secret")),
    ...(listen === undefined ? {} : { listen }),
    ...(linkUrl === undefined ? {} : { linkUrl }),
    ...(hosts === undefined ? {} : { allowPrivateHosts: hosts }),
  };
}

/** A port, or `host:port`. */
function readListen(spot: Spot): ListenAddress {
  const text =
    typeof spot.value === "number" ? String(spot.value) : readText(spot, HOST_CHARS_MAX + 8);
  const [, host = LOOPBACK, digits = ""] =
    /^(?:(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):)?([0-9]{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port < 1 || port > 65_535)
    throw invalid(spot, "it is no port and no address with a port, as 127.0.0.1:8787 is");
  return { host: host.replaceAll(/^\[|\]$/g, ""), port };
}
