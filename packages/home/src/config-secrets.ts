/**
 * Config, secrets: the fields that hold one and so may be encrypted, and opening them. Format:
 * spec/home.md §2.
 */
import { ConsentError, nearest, quoteText } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import type { Step } from "@acp/core/yaml";
import type { TelegramConfig, WebhookConfig } from "./config-channels.js";
import type { HttpAgentConfig } from "./config-proxy.js";
import type { UpstreamServer } from "./config-servers.js";
import { openConfigField } from "./encrypted-field.js";

/** As they are written; N is a place in the list, from 0, NAME a variable's or header's name. */
const FIELDS = [
  "telegram.bot_token",
  "webhook.secret",
  "proxy.upstream_servers[N].env.NAME",
  "proxy.http.agents[N].token",
  "proxy.upstream_servers[N].headers.NAME",
] as const;
const [BOT_TOKEN, WEBHOOK_SECRET] = FIELDS;
const INDEX = /\[(0|[1-9]\d{0,3})\]/;
const VARIABLE = /(?<=\.env\.)[A-Za-z_][A-Za-z0-9_]*$|(?<=\.headers\.)[A-Za-z][A-Za-z0-9-]*$/;

/** The field's form: `[3]` as `[N]`, a variable's name as `NAME`. */
function formOf(field: string): string {
  return field.replace(INDEX, "[N]").replace(VARIABLE, "NAME");
}

/** Whether a field holds a secret, and so may be encrypted. */
export function isSecretField(field: string): boolean {
  return FIELDS.some((form) => form === formOf(field));
}

/** Those fields, for a message. */
export const SECRET_FIELDS_TEXT: string = FIELDS.join(", ");

/**
 * The way to a field that holds a secret.
 *
 * @throws ConsentError `options_invalid` for any other field, with what was probably meant.
 */
export function secretFieldSteps(field: string): readonly Step[] {
  if (isSecretField(field))
    return field
      .split(/\.|(?=\[)/)
      .map((word) => (word.startsWith("[") ? Number(word.slice(1, -1)) : word));
  const form = nearest(formOf(field), FIELDS);
  const suggestion = form
    ?.replace("[N]", INDEX.exec(field)?.[0] ?? "[0]")
    .replace("NAME", VARIABLE.exec(field)?.[0] ?? "NAME");
  const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  throw new ConsentError(
    "options_invalid",
    `Cannot encrypt ${quoteText(field)}: it does not hold a secret; the fields that do are ${SECRET_FIELDS_TEXT}${hint}`,
    suggestion === undefined ? {} : { suggestion },
  );
}

/**
 * Returns the settings with their secret decrypted.
 *
 * @param keys - Keys of the home; `undefined` if it has none.
 * @throws ConsentError `key_locked` if the secret is encrypted and there are no keys;
 * `vault_invalid` if it does not open.
 */
export function openTelegramConfig(
  config: TelegramConfig,
  keys: KeyPair | undefined,
): TelegramConfig {
  return { ...config, botToken: openConfigField(config.botToken, BOT_TOKEN, keys) };
}

/** Like {@link openTelegramConfig}, for the shared secret of a webhook. */
export function openWebhookConfig(config: WebhookConfig, keys: KeyPair | undefined): WebhookConfig {
  return { ...config, secret: openConfigField(config.secret, WEBHOOK_SECRET, keys) };
}

/**
 * Like {@link openTelegramConfig}, for the environment variables or the headers of a server.
 *
 * @param index - The server's place in the file's list, from 0; an encrypted value is bound to it.
 */
export function openServerConfig(
  config: UpstreamServer,
  index: number,
  keys: KeyPair | undefined,
): UpstreamServer {
  const place = `proxy.upstream_servers[${index}]`;
  const opened = (key: string, values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        openConfigField(value, `${place}.${key}.${name}`, keys),
      ]),
    );
  if ("url" in config)
    return config.headers === undefined
      ? config
      : { ...config, headers: opened("headers", config.headers) };
  return config.env === undefined ? config : { ...config, env: opened("env", config.env) };
}

/** Like {@link openServerConfig}, for the token of an agent. */
export function openHttpAgentConfig(
  config: HttpAgentConfig,
  index: number,
  keys: KeyPair | undefined,
): HttpAgentConfig {
  return {
    ...config,
    token: openConfigField(config.token, `proxy.http.agents[${index}].token`, keys),
  };
}
