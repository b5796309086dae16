/**
 * Channels of a gate: how people are reached, as config.yml says, as one channel. Their secrets are
 * opened once, when the gate starts; of channels that the file does not name they stay closed, and
 * their code is not loaded.
 */
import { asError, ConsentError, isConsentError } from "@acp/core";
import { escalate, toAll } from "@acp/core/channels";
import type { Channel } from "@acp/core";
import { DEFAULT_CONFIG, channelsOf } from "@acp/home";
import type { ChannelName, Config } from "@acp/home";
import type { ChannelParts, OpenChannel } from "./channel-row.js";
import { CHANNELS } from "./channel-table.js";

/** One channel, however many it is made of, and what holds them. */
export interface Channels extends AsyncDisposable {
  readonly channel: Channel;
}

/**
 * Opens every channel that the configuration names. One whose secret does not open reaches nobody;
 * whoever asks there is told why.
 *
 * @throws ConsentError `key_locked` where the home has no keys, `config_invalid` where a channel
 *   cannot be made of its settings; all name the file.
 */
export async function openChannels(parts: ChannelParts): Promise<Channels> {
  const { stages } = parts.source.config ?? DEFAULT_CONFIG;
  const opened = new Map<ChannelName, OpenChannel>();
  const close = async (): Promise<void> => {
    for (const channel of opened.values()) await channel[Symbol.asyncDispose]();
  };
  try {
    for (const name of channelsOf(stages)) opened.set(name, await openOne(name, parts));
    return {
      channel: compose(stages, (name) => mustGet(opened, name)),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An older file, or keys that are not those in use: what cannot be asked there is denied. */
async function openOne(name: ChannelName, parts: ChannelParts): Promise<OpenChannel> {
  try {
    return await CHANNELS[name].open(parts);
  } catch (cause) {
    if (!isConsentError(cause, "vault_invalid")) throw cause;
    const error = asError(cause);
    parts.notices.tell("channel_warning", error.message);
    return {
      name,
      deliver: () => Promise.reject(error),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
}

function compose(stages: Config["stages"], channelOf: (name: ChannelName) => Channel): Channel {
  const made = stages.map(({ channels, afterMs, approvers }) => {
    const [first, ...others] = channels.map(channelOf);
    if (first === undefined)
      throw new ConsentError("config_invalid", "Cannot ask anybody: a stage has no channel");
    const channel = others.length === 0 ? first : toAll(first, ...others);
    return { channel, afterMs, ...(approvers === undefined ? {} : { approvers }) };
  });
  const [only, ...later] = made;
  return only !== undefined && later.length === 0 && only.approvers === undefined
    ? only.channel
    : escalate(made);
}

function mustGet(opened: ReadonlyMap<ChannelName, OpenChannel>, name: ChannelName): OpenChannel {
  const channel = opened.get(name);
  if (channel === undefined)
    throw new ConsentError("config_invalid", `Cannot ask on ${name}: it is not open`);
  return channel;
}
