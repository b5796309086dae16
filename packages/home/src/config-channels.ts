/** Config, channels: how people are reached, and in which order. */
import { ASK_TIMEOUT_MS_MAX, type JsonObject } from "@acp/core";
import { invalid, readText, type Spot } from "@acp/core/yaml";
import {
  list,
  number,
  onlyBeside,
  optional,
  refined,
  required,
  section,
  type Shape,
  shapeOf,
  text,
  word,
} from "@acp/core/unstable";
import { PORT, secret, url } from "./config-values.js";

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
  /** Hosts whose addresses may be in this machine's own network. */
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
const DELAY_S = { min: 1, max: ASK_TIMEOUT_MS_MAX / 1_000 } as const;
/** A port alone is this machine's: what is to be reached from elsewhere says so. */
const LOOPBACK = "127.0.0.1";
const LISTEN = /^(?:(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):)?([0-9]{1,5})$/;

const channelName: Shape<ChannelName> = refined(word(["prompt", ...CHANNEL_NAMES]), (written) =>
  written === "prompt" ? "terminal" : written,
);

const channelList: Shape<readonly ChannelName[]> = refined(
  list(channelName, { min: 1, problem: "it lists no channel" }),
  (names, spot) => {
    if (new Set(names).size < names.length) throw invalid(spot, "it lists a channel twice");
    return names;
  },
);

/** The key `channel`: one channel, or a list of them. */
export const channels: Shape<readonly ChannelName[]> = {
  schema: { anyOf: [channelName.schema, { ...channelList.schema, uniqueItems: true }] },
  read(spot, origins) {
    if (Array.isArray(spot.value)) return channelList.read(spot, origins);
    const one = channelName.read(spot, origins);
    return one.mistakes === undefined ? { value: [one.value] } : one;
  },
};

const stage: Shape<ChannelStage> = refined(
  section({
    channels: required("channel", channels, "The channels that show the question from then on."),
    afterSeconds: optional(
      "after_seconds",
      number(DELAY_S),
      "Seconds after the question was asked. The first stage has none, later ones ascend.",
    ),
    approvers: optional(
      "approvers",
      list(text(NAME_CHARS_MAX)),
      "IDs of approvers or names of groups who may answer from then on: in all stages or in none.",
    ),
  }),
  ({ afterSeconds = 0, ...rest }) => ({ ...rest, afterMs: Math.round(afterSeconds * 1_000) }),
);

/** The key `escalation`: stages in the order of their times. */
export const escalation: Shape<readonly ChannelStage[]> = refined(
  list(stage, { min: 1, max: STAGES_MAX, problem: `it does not have 1 to ${STAGES_MAX} stages` }),
  (stages, spot) => {
    for (const [at, { afterMs, approvers }] of stages.entries()) {
      const before = stages[at - 1];
      const here: Spot = { ...spot, path: [...spot.path, at] };
      if (before === undefined && afterMs > 0)
        throw invalid(here, 'the first stage starts at once; remove its "after_seconds"');
      if (before !== undefined && afterMs <= before.afterMs)
        throw invalid(here, 'the stages are not in ascending order of "after_seconds"');
      if (before !== undefined && (approvers === undefined) !== (before.approvers === undefined))
        throw invalid(
          here,
          "some stages name approvers and some do not; name them in all stages or in none",
        );
    }
    return stages;
  },
);

/** Returns every channel that the stages name, once each. */
export function channelsOf(stages: readonly ChannelStage[]): readonly ChannelName[] {
  return [...new Set(stages.flatMap(({ channels: named }) => named))];
}

/** A chat's number must be written as text: large ones are not exact as numbers. */
const chatId: Shape<string> = shapeOf(text(CHAT_CHARS_MAX).schema, (spot) => {
  if (typeof spot.value === "number")
    throw invalid(spot, "expected a string, got a number", { suggestion: `"${spot.value}"` });
  return readText(spot, CHAT_CHARS_MAX);
});

/** The section `telegram`. */
export const telegramShape: Shape<TelegramConfig> = section({
  botToken: required("bot_token", secret, "The bot token, plain or as encrypted:<…>."),
  chatId: required("chat_id", chatId, "ID of the chat that gets the questions, as a string."),
  apiRoot: optional("api_root", url, "URL of your own Bot API server. Default: Telegram's."),
});

const LISTEN_SCHEMA: JsonObject = {
  anyOf: [
    { type: "integer", minimum: PORT.min, maximum: PORT.max },
    { type: "string", pattern: LISTEN.source },
  ],
};

const listen: Shape<ListenAddress> = shapeOf(LISTEN_SCHEMA, (spot) => {
  const written =
    typeof spot.value === "number" ? String(spot.value) : readText(spot, HOST_CHARS_MAX + 8);
  const [, host = LOOPBACK, digits = ""] = LISTEN.exec(written) ?? [];
  const port = Number(digits);
  if (digits === "" || port < PORT.min || port > PORT.max)
    throw invalid(spot, "it is neither a port nor a host with a port, such as 127.0.0.1:8787");
  return { host: host.replaceAll(/^\[|\]$/g, ""), port };
});

/** The section `webhook`. */
export const webhookShape: Shape<WebhookConfig> = section(
  {
    url: required("url", url, "Where questions are sent: https, or http to this machine."),
    secret: required("secret", secret, "The shared secret (whsec_…), plain or as encrypted:<…>."),
    listen: optional(
      "listen",
      listen,
      "Where answers and browsers connect: a port of this machine, or host:port.",
    ),
    linkUrl: optional("link_url", url, "URL at which people reach the listener with a browser."),
    allowPrivateHosts: optional(
      "allow_private_hosts",
      list(text(HOST_CHARS_MAX)),
      "Hosts whose addresses may be in this machine's own network.",
    ),
  },
  [onlyBeside("listen", ["link_url"], () => '"link_url" does nothing without "listen"')],
);
