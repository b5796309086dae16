/**
 * Channels of a gate: how people are reached, as config.yml says, as one channel. Their secrets are opened once, when the gate starts; of channels that
 * the file does not name they stay closed, and their code is not loaded.
 */
import { type RequestListener, createServer } from "node:http";
import { ConsentError, escalate, toAll } from "@acp/core";
import type { Channel, Claims } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { DEFAULT_CONFIG, channelsOf, openTelegramConfig, openWebhookConfig } from "@acp/home";
import type { ChannelName, Config, ListenAddress } from "@acp/home";
import { onFile } from "../failure.js";
import type { HomeConfig } from "./config.js";
import type { Notices } from "./notices.js";

/** Parts of {@link openChannels}. */
export interface ChannelsParts {
  readonly source: Pick<HomeConfig, "file" | "config">;
  /** Left out: the home has none. */
  readonly keys: KeyPair | undefined;
  /** The terminal, made where it is asked for. */
  readonly makeTerminal: () => Channel & AsyncDisposable;
  /** Where the ids of callbacks are kept that were taken. */
  readonly claims: Claims;
  readonly notices: Pick<Notices, "tell">;
}

/** One channel, however many it is made of, and what holds them. */
export interface Channels extends AsyncDisposable {
  readonly channel: Channel;
}

type Opened = Channel & AsyncDisposable;

/**
 * Opens every channel that the configuration names.
 *
 * @throws ConsentError `key_locked` or `vault_invalid` where a secret does not open, `config_invalid` where a channel cannot be made of its settings;
 * all name the file.
 */
export async function openChannels(parts: ChannelsParts): Promise<Channels> {
  const { stages } = parts.source.config ?? DEFAULT_CONFIG;
  const opened = new Map<ChannelName, Opened>();
  const close = async (): Promise<void> => {
    for (const channel of opened.values()) await channel[Symbol.asyncDispose]();
  };
  try {
    for (const name of channelsOf(stages)) opened.set(name, await OPENERS[name](parts));
    return { channel: compose(stages, (name) => mustGet(opened, name)), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

const OPENERS: Readonly<Record<ChannelName, (parts: ChannelsParts) => Promise<Opened>>> = {
  terminal: async ({ makeTerminal }) => makeTerminal(),
  telegram: openTelegram,
  webhook: openWebhook,
};

function compose(stages: Config["stages"], channelOf: (name: ChannelName) => Channel): Channel {
  const made = stages.map(({ channels, afterMs, approvers }) => {
    const [first, ...others] = channels.map(channelOf);
    if (first === undefined) throw new ConsentError("config_invalid", "Cannot ask anybody: a stage has no channel");
    const channel = others.length === 0 ? first : toAll(first, ...others);
    return { channel, afterMs, ...(approvers === undefined ? {} : { approvers }) };
  });
  const [only, ...later] = made;
  return only !== undefined && later.length === 0 && only.approvers === undefined ? only.channel : escalate(made);
}

function mustGet(opened: ReadonlyMap<ChannelName, Opened>, name: ChannelName): Opened {
  const channel = opened.get(name);
  if (channel === undefined) throw new ConsentError("config_invalid", `Cannot ask by ${name}: it is not open`);
  return channel;
}

/** Who of a channel may answer; `undefined` where the file names no approvers at all: then its own person may. */
function subjectsOf({ approvers }: Pick<Config, "approvers">, channel: ChannelName): { readonly approvers?: readonly string[] } {
  if (approvers === undefined) return {};
  return { approvers: approvers.filter((each) => each.channel === channel).map(({ subject }) => subject) };
}

/** The section of a channel that the file was checked to have. */
function sectionOf<K extends "telegram" | "webhook">(config: Config | undefined, key: K): NonNullable<Config[K]> {
  const section = config?.[key];
  if (section === undefined) throw new ConsentError("config_invalid", `Cannot ask by ${key}: there is no "${key}" with its settings`);
  return section;
}

async function openTelegram({ source: { file, config }, keys, notices }: ChannelsParts): Promise<Opened> {
  const { createTelegramChannel } = await import("@acp/channel-telegram");
  const channel = await onFile(file, () => {
    const { botToken, chatId, apiRoot } = openTelegramConfig(sectionOf(config, "telegram"), keys);
    return createTelegramChannel({
      token: botToken,
      chatId,
      ...subjectsOf(config ?? DEFAULT_CONFIG, "telegram"),
      ...(apiRoot === undefined ? {} : { apiRoot }),
      warn: (text) => notices.tell("channel_warning", text),
    });
  });
  // A gate starts without Telegram as well: what the policy allows goes on, and who asks is told what is wrong.
  channel.ready.catch((error: unknown) => notices.tell("channel_warning", error instanceof Error ? error.message : String(error)));
  return channel;
}

async function openWebhook({ source: { file, config }, keys, notices, claims }: ChannelsParts): Promise<Opened> {
  const { createWebhookChannel, toNodeHandler } = await import("@acp/channel-webhook");
  const settings = sectionOf(config, "webhook");
  const channel = await onFile(file, () => {
    const { url, secret, linkUrl, allowPrivateHosts } = openWebhookConfig(settings, keys);
    return createWebhookChannel({
      url,
      secret,
      claims,
      ...subjectsOf(config ?? DEFAULT_CONFIG, "webhook"),
      ...(linkUrl === undefined ? {} : { linkUrl }),
      ...(allowPrivateHosts === undefined ? {} : { allowPrivateHosts }),
      warn: (text) => notices.tell("channel_warning", text),
    });
  });
  const { listen: address } = settings;
  if (address === undefined) return channel;
  const listener = await onFile(file, () => listen(toNodeHandler(channel.handler), address));
  return {
    name: channel.name,
    deliver: (request, session) => channel.deliver(request, session),
    async [Symbol.asyncDispose]() {
      await channel.close();
      await listener[Symbol.asyncDispose]();
    },
  };
}

/** Where answers come in. */
async function listen(handler: RequestListener, { host, port }: ListenAddress): Promise<AsyncDisposable> {
  const server = createServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: Error) =>
      reject(new ConsentError("config_invalid", `Cannot listen on ${host} port ${port}: ${cause.message}`, { cause })),
    );
    server.listen({ host, port, exclusive: true }, resolve);
  });
  return {
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
