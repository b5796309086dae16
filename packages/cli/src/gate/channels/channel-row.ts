/**
 * Channel row: what a row of the table of channels holds, and what its opener gets. Types only, but
 * for two helpers that read the configuration.
 */
import type { Channel, Claims } from "@acp/core";
import { ConsentError } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { DEFAULT_CONFIG } from "@acp/home";
import type { ChannelName, Config } from "@acp/home";
import type { HomeConfig } from "../config.js";
import type { Notices } from "../notices.js";

/** What a channel is opened with. */
export interface ChannelParts {
  readonly source: Pick<HomeConfig, "file" | "config">;
  /** Left out: the home has none. */
  readonly keys: KeyPair | undefined;
  /** Makes the terminal's channel; its socket and its notices are the gate's. */
  readonly makeTerminal: () => OpenChannel;
  /** Where the ids of callbacks that were taken are kept. */
  readonly claims: Claims;
  readonly notices: Pick<Notices, "tell">;
}

/** A channel that is open until it is disposed of. */
export type OpenChannel = Channel & AsyncDisposable;

/** A row of the table of channels. */
export interface ChannelRow {
  /** Section of config.yml with its settings; left out: it has none. */
  readonly section?: "telegram" | "webhook";
  /** Opens it; its package is loaded only then. */
  readonly open: (parts: ChannelParts) => Promise<OpenChannel>;
}

/**
 * The people who may answer on a channel; nothing where the file names no approvers: then the
 * channel's own person may.
 */
export function subjectsOf(
  config: Config | undefined,
  channel: ChannelName,
): { readonly approvers?: readonly string[] } {
  const { approvers } = config ?? DEFAULT_CONFIG;
  if (approvers === undefined) return {};
  return {
    approvers: approvers.filter((each) => each.channel === channel).map(({ subject }) => subject),
  };
}

/**
 * The settings of a channel that the file was checked to have.
 *
 * @throws ConsentError `config_invalid` where they are missing.
 */
export function sectionOf<K extends "telegram" | "webhook">(
  config: Config | undefined,
  key: K,
): NonNullable<Config[K]> {
  const section = config?.[key];
  if (section === undefined) {
    throw new ConsentError(
      "config_invalid",
      `Cannot ask on ${key}: the section "${key}" with its settings is missing`,
    );
  }
  return section;
}
