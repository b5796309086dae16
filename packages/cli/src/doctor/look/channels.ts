/**
 * Examination of the channels: their secrets open, somebody can answer on each, and with --online
 * the services answer. No secret stands in a finding.
 */
import { asError } from "@acp/core";
import { connect } from "node:net";
import { openTelegramConfig, openWebhookConfig } from "@acp/home";
import type { Config, TelegramConfig } from "@acp/home";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";

/** Channels. */
export const channelsExamination: Examination = {
  id: "channels",
  looksAt: "Channels have what they need to ask",
  async look(context) {
    const config = await context.config();
    if (config === undefined || config instanceof Error) return [];
    return [
      ...nobody(config),
      ...(await telegram(context, config)),
      ...(await webhook(context, config)),
    ];
  },
};

const TOKEN = /^\d{3,20}:[\w-]{20,100}$/;
const TIMEOUT_MS = 5_000;
const TELEGRAM = "https://api.telegram.org";

function nobody({ stages, approvers }: Config): readonly Found[] {
  if (approvers === undefined) return [];
  const used = new Set(stages.flatMap(({ channels }) => channels));
  return [...used]
    .filter((channel) => !approvers.some((approver) => approver.channel === channel))
    .map((channel) =>
      makeFound("channel_nobody", {
        found: `Questions go to ${channel}, and approvers has nobody with channel ${channel}`,
      }),
    );
}

/** What opens a field, or the finding that it does not; with locked keys nothing is known. */
async function opened<T>(
  { keys, home }: DoctorContext,
  field: string,
  open: (keys: Parameters<typeof openTelegramConfig>[1]) => T,
): Promise<T | Found | undefined> {
  const pair = await keys();
  if (pair instanceof Error) return undefined;
  try {
    return open(pair);
  } catch (error) {
    return makeFound("channel_secret_broken", {
      path: home.configPath,
      found: asError(error).message,
      command: `acp config encrypt ${field}`,
    });
  }
}

async function telegram(context: DoctorContext, config: Config): Promise<readonly Found[]> {
  const { telegram: section } = config;
  if (section === undefined) return [];
  const field = "telegram.bot_token";
  const open = await opened(context, field, (keys) => openTelegramConfig(section, keys));
  if (open === undefined) return [];
  if ("finding" in open) return [open];
  if (!TOKEN.test(open.botToken))
    return [
      makeFound("channel_secret_broken", {
        path: context.home.configPath,
        found: "telegram.bot_token does not look like a bot token (digits, colon, letters)",
        command: `acp config encrypt ${field}`,
      }),
    ];
  return context.isOnline ? askTelegram(open) : [];
}

async function askTelegram({ botToken, apiRoot = TELEGRAM }: TelegramConfig): Promise<Found[]> {
  const { host } = new URL(apiRoot);
  try {
    const response = await fetch(`${apiRoot}/bot${botToken}/getMe`, {
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.ok) return [];
    const found = `${host} answered with status ${response.status} to the bot's token`;
    const isRefused = response.status === 401 || response.status === 404;
    return [makeFound(isRefused ? "channel_refused" : "channel_unreachable", { found })];
  } catch {
    // The error's text may hold the address, and that the token.
    return [makeFound("channel_unreachable", { found: `${host} cannot be reached` })];
  }
}

async function webhook(context: DoctorContext, config: Config): Promise<readonly Found[]> {
  const { webhook: section } = config;
  if (section === undefined) return [];
  const open = await opened(context, "webhook.secret", (keys) => openWebhookConfig(section, keys));
  if (open === undefined) return [];
  if ("finding" in open) return [open];
  if (!context.isOnline) return [];
  const { hostname, protocol, port } = new URL(open.url);
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  if (await reaches(host, number)) return [];
  return [makeFound("channel_unreachable", { found: `${host}:${number} cannot be reached` })];
}

function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => settle(true));
    socket.once("timeout", () => settle(false));
    socket.once("error", () => settle(false));
  });
}
