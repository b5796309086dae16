/**
 * Config: what to start, whom to ask, where the policy is. Strict: what is not understood does not
 * load. Accepts the files of the ACP specifications v0.2 §8.1 and v0.3 §7.1. Format: spec/home.md
 * §2.
 */
import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import {
  ASK_TIMEOUT_MS_MAX,
  type Approver,
  type ConsentError,
  type JsonObject,
  POLICY_BYTES_MAX,
  quoteText,
} from "@acp/core";
import {
  invalid,
  printPath,
  type Rate,
  readRate,
  readYaml,
  type Spot,
  type Subject,
} from "@acp/core/yaml";
import { isSealedField } from "@acp/core/vault";
import {
  asOneError,
  below,
  notBoth,
  number,
  optional,
  type Outcome,
  refined,
  section,
  type SectionOf,
  type Shape,
  shapeOf,
} from "@acp/core/unstable";
import { type AuditConfig, audit } from "./config-audit.js";
import {
  channels,
  channelsOf,
  type ChannelStage,
  escalation,
  telegramShape,
  type TelegramConfig,
  webhookShape,
  type WebhookConfig,
} from "./config-channels.js";
import { approvers, groupMistakes, groups, stageMistakes } from "./config-people.js";
import { proxy, type ProxyConfig } from "./config-proxy.js";
import { isSecretField, SECRET_FIELDS_TEXT } from "./config-secrets.js";
import { pathShape } from "./config-values.js";
import { encryptedSpots } from "./encrypted-field.js";
import { cannot } from "./errors.js";
import type { PathOrigins } from "./paths.js";
import { readOwnFile } from "./text-file.js";

/** The settings of a configuration file. All paths are absolute. Format: spec/home.md §2. */
export interface Config extends ProxyConfig {
  /**
   * Where questions are shown, ordered by time. A single stage unless the file has an `escalation`.
   */
  readonly stages: readonly ChannelStage[];
  /** Settings of the Telegram channel, if the file has them. */
  readonly telegram?: TelegramConfig;
  /** Settings of the webhook channel, if the file has them. */
  readonly webhook?: WebhookConfig;
  /** How long a question stays open unless a rule says otherwise, in milliseconds. */
  readonly askTimeoutMs?: number;
  /**
   * How many questions one agent may ask within a time; further ones are denied with
   * `too_many_questions`. `none` means no limit.
   */
  readonly promptLimit?: Rate | "none";
  /** How long the key of a resident gate stays open after `acp unlock`, in milliseconds. */
  readonly unlockTtlMs?: number;
  /** Path of the policy file. Absent: `policy.yml` of the home. */
  readonly policyPath?: string;
  /** Who may answer. Absent: the channel's own authenticated person. Empty: nobody. */
  readonly approvers?: readonly Approver[];
  /** Approver IDs of each group, by the group's name; rules refer to groups. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** Settings of the audit logs. Absent: {@link DEFAULT_AUDIT_CONFIG}. */
  readonly audit?: AuditConfig;
  /** One line for each setting that loaded but deserves attention. */
  readonly warnings: readonly string[];
}

/** The settings without a file: the terminal channel, and no servers. */
export const DEFAULT_CONFIG: Config = {
  stages: [{ channels: ["terminal"], afterMs: 0 }],
  servers: [],
  groups: {},
  warnings: [],
};

const SUBJECT: Subject = { name: "config", code: "config_invalid" };
const VERSION = "1";

const version: Shape<string> = shapeOf({ const: VERSION }, (spot) => {
  if (spot.value !== VERSION)
    throw invalid(spot, `this reads version "${VERSION}" only`, { suggestion: `"${VERSION}"` });
  return VERSION;
});

const RATE_SCHEMA: JsonObject = { pattern: "^[1-9][0-9]{0,6}/(second|minute|hour|day)$" };

const promptLimit: Shape<Rate | "none"> = shapeOf(
  { type: "string", anyOf: [{ const: "none" }, RATE_SCHEMA] },
  (spot) => (spot.value === "none" ? "none" : readRate(spot)),
);

/** A week. */
const UNLOCK_TTL_SECONDS_MAX = 604_800;

const defaults: Shape<
  Pick<Config, "askTimeoutMs" | "promptLimit" | "unlockTtlMs" | "policyPath">,
  PathOrigins
> = section({
  askTimeoutMs: optional(
    "timeout_seconds",
    refined(number({ min: 1, max: ASK_TIMEOUT_MS_MAX / 1_000 }), (seconds) =>
      Math.round(seconds * 1_000),
    ),
    "Seconds that a question stays open unless a rule says otherwise. Default: 120.",
  ),
  promptLimit: optional(
    "prompt_limit",
    promptLimit,
    "How many questions one agent may ask, such as 30/hour; none means no limit.",
  ),
  unlockTtlMs: optional(
    "unlock_ttl_seconds",
    refined(number({ min: 60, max: UNLOCK_TTL_SECONDS_MAX }), (seconds) =>
      Math.round(seconds * 1_000),
    ),
    "Seconds that the key of a resident gate stays open after acp unlock. Default: 28800 (8 hours).",
  ),
  policyPath: optional(
    "policy",
    pathShape,
    "The policy file. Default: policy.yml beside this file.",
  ),
});

const FIELDS = {
  version: optional("version", version, 'Version of this format: "1".'),
  channel: optional("channel", channels, "Where questions are shown. Default: prompt."),
  escalation: optional("escalation", escalation, "Channels by time, instead of channel."),
  telegram: optional("telegram", telegramShape, "The Telegram channel."),
  webhook: optional("webhook", webhookShape, "The webhook channel."),
  proxy: optional("proxy", proxy, "The proxies and the servers behind them."),
  defaults: optional("defaults", defaults, "What holds unless a rule says otherwise."),
  approvers: optional(
    "approvers",
    approvers,
    "Who may answer. Default: the channel's own authenticated person. An empty list means that nobody may.",
  ),
  groups: optional("groups", groups, "Lists of approver IDs, by the name that rules use."),
  audit: optional("audit", audit, "The audit logs."),
} as const;

const file: Shape<SectionOf<typeof FIELDS>, PathOrigins> = section(FIELDS, [
  notBoth("escalation", "channel", 'its stages name the channels, so remove "channel"'),
]);

/**
 * The JSON Schema of `config.yml`, draft 2020-12, for editors and other programs. It is made of the
 * tables that {@link parseConfig} reads by: it refuses nothing that loads. What a schema cannot say
 * (that a host or a path can be used, that names are unique) only the parser refuses. Published as
 * spec/schemas/config.schema.json.
 */
export function configSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:acp:config:1",
    title: "config.yml of ACP (Agent Consent Protocol)",
    ...file.schema,
  };
}

/**
 * Reads a configuration file. Format: spec/home.md §2.
 *
 * @param origins - What `~` means; relative paths in the file start at its directory unless `cwd`
 * is given.
 * @throws ConsentError `config_invalid` with line and column; `home_invalid` if the file is
 * missing, if others may write it, or if it contains secrets and others may read it.
 */
export async function readConfig(
  path: string,
  { homeDir, cwd = resolve(dirname(path)) }: PathOrigins,
): Promise<LoadedConfig> {
  const { text, isPrivate } = await readOwnFile(path, POLICY_BYTES_MAX);
  const config = parseConfig(text, { homeDir, cwd });
  if (!isPrivate && holdsSecrets(config))
    throw cannot(
      "read",
      path,
    )(`it contains secrets and other users can read it; run: chmod 600 ${quoteText(path)}`);
  return { ...config, hash: `sha256:${createHash("sha256").update(text).digest("hex")}` };
}

/** The settings of a file, and which text they are. */
export interface LoadedConfig extends Config {
  /** SHA-256 of the file's text: `sha256:<hex>`. Logs name the text by it. */
  readonly hash: string;
}

/** Whether a secret stands in the file as it is. */
function holdsSecrets({ telegram, webhook, servers, http }: Config): boolean {
  const variables = servers.flatMap((server) =>
    Object.values(("command" in server ? server.env : server.headers) ?? {}),
  );
  const tokens = (http?.agents ?? []).map(({ token }) => token);
  const secrets = [telegram?.botToken, webhook?.secret, ...variables, ...tokens].filter(
    (secret) => secret !== undefined,
  );
  return secrets.some((secret) => !isSealedField(secret));
}

/** What would be taken for the text that it is must not look as if it were protected. */
function* encryptionMistakes(root: Spot): Generator<ConsentError> {
  for (const spot of encryptedSpots(root))
    if (!isSecretField(printPath(spot.path)))
      yield invalid(spot, `only ${SECRET_FIELDS_TEXT} can be encrypted`);
}

/**
 * Parses the YAML text of a configuration. Format: spec/home.md §2.
 *
 * @param origins - Where `~` and relative paths start.
 * @throws ConsentError `config_invalid` that names every mistake in the text, in its order; its
 * `position`, `path` and `suggestion` are those of the first.
 */
export function parseConfig(text: string, origins: PathOrigins): Config {
  const root = readYaml(text, SUBJECT);
  const { value, mistakes } = readRoot(root, origins);
  if (mistakes !== undefined) throw asOneError(mistakes, SUBJECT);
  return value;
}

function readRoot(root: Spot, origins: PathOrigins): Outcome<Config> {
  const outcome = file.read(root, origins);
  const encryption = [...encryptionMistakes(root)];
  if (outcome.mistakes !== undefined) return { mistakes: [...outcome.mistakes, ...encryption] };
  const config = assemble(outcome.value);
  const mistakes = [...encryption, ...togetherMistakes(root, config)];
  return mistakes.length > 0 ? { mistakes } : { value: config };
}

function assemble({
  version: written,
  channel = ["terminal"],
  escalation: stages = [{ channels: channel, afterMs: 0 }],
  proxy: proxied = {},
  defaults: given,
  groups: named = {},
  ...own
}: SectionOf<typeof FIELDS>): Config {
  const { servers = [], ...rest } = proxied;
  const settings = { ...own, ...given, ...rest, stages, servers, groups: named };
  return {
    ...settings,
    warnings: warningsAbout(written, settings),
  };
}

/** What sections say that does not fit together. */
function* togetherMistakes(root: Spot, config: Config): Generator<ConsentError> {
  const people = { approvers: config.approvers ?? [], groups: config.groups };
  yield* groupMistakes(below(root, "groups"), people);
  yield* stageMistakes(below(root, "escalation"), config.stages, people);
  for (const channel of channelsOf(config.stages))
    if (channel !== "terminal" && config[channel] === undefined)
      yield invalid(
        root,
        `the channel is ${channel}, but the section "${channel}" with its settings is missing`,
      );
}

function warningsAbout(
  given: string | undefined,
  config: Pick<Config, "telegram" | "webhook">,
): readonly string[] {
  const isPlain = (secret: string | undefined): boolean =>
    secret !== undefined && !isSealedField(secret);
  return [
    ...(given === undefined ? ['"version" is missing; write version: "1"'] : []),
    ...(isPlain(config.telegram?.botToken) ? ["telegram.bot_token is written in plain text"] : []),
    ...(isPlain(config.webhook?.secret) ? ["webhook.secret is written in plain text"] : []),
  ];
}
