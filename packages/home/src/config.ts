/**
 * Config: what to start, whom to ask, where the policy is. Strict: what is not understood does not
 * load. Accepts the files of the ACP specifications v0.2 §8.1 and v0.3 §7.1. Format: spec/home.md
 * §2.
 */
import { dirname, resolve } from "node:path";
import { ASK_TIMEOUT_MS_MAX, type Approver, POLICY_BYTES_MAX, quoteText } from "@acp/core";
import {
  type Rate,
  type Spot,
  type Subject,
  invalid,
  printPath,
  readMap,
  readNumber,
  readRate,
  readYaml,
} from "@acp/core/yaml";
import { isSealedField } from "@acp/core/vault";
import { type AuditConfig, readAudit } from "./config-audit.js";
import {
  type ChannelStage,
  type TelegramConfig,
  type WebhookConfig,
  channelsOf,
  readStages,
  readTelegram,
  readWebhook,
} from "./config-channels.js";
import { checkPeople, readApprovers, readGroups } from "./config-people.js";
import { type ProxyConfig, readProxy } from "./config-proxy.js";
import { ifGiven, readPath } from "./config-values.js";
import { isSecretField, SECRET_FIELDS_TEXT } from "./config-secrets.js";
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
  /**
   * Paths of the keys that this version reads but cannot act on yet, such as `proxy.port`. Refuse
   * to start, or report them.
   */
  readonly unsupported: readonly string[];
}

/** The settings without a file: the terminal channel, and no servers. */
export const DEFAULT_CONFIG: Config = {
  stages: [{ channels: ["terminal"], afterMs: 0 }],
  servers: [],
  groups: {},
  warnings: [],
  unsupported: [],
};

const SUBJECT: Subject = { name: "config", code: "config_invalid" };
const KEYS = [
  "version",
  "channel",
  "escalation",
  "telegram",
  "webhook",
  "proxy",
  "defaults",
  "approvers",
  "groups",
  "audit",
] as const;
const VERSION = "1";

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
): Promise<Config> {
  const { text, isPrivate } = await readOwnFile(path, POLICY_BYTES_MAX);
  const config = parseConfig(text, { homeDir, cwd });
  if (!isPrivate && holdsSecrets(config))
    throw cannot(
      "read",
      path,
    )(`it holds secrets and others may read it; run: chmod 600 ${quoteText(path)}`);
  return config;
}

/** Whether a secret stands in the file as it is. */
function holdsSecrets({ telegram, webhook, servers, http }: Config): boolean {
  const variables = servers.flatMap((server) =>
    "command" in server ? Object.values(server.env ?? {}) : [],
  );
  const tokens = (http?.agents ?? []).map(({ token }) => token);
  const secrets = [telegram?.botToken, webhook?.secret, ...variables, ...tokens].filter(
    (secret) => secret !== undefined,
  );
  return secrets.some((secret) => !isSealedField(secret));
}

/** What would be taken for the text that it is must not look as if it were protected. */
function checkEncrypted(root: Spot): void {
  for (const spot of encryptedSpots(root))
    if (!isSecretField(printPath(spot.path)))
      throw invalid(spot, `only ${SECRET_FIELDS_TEXT} can be encrypted`);
}

/**
 * Parses the YAML text of a configuration. Format: spec/home.md §2.
 *
 * @param origins - Where `~` and relative paths start.
 * @throws ConsentError `config_invalid` with `position`, and with `path` and `suggestion` if there
 * are any.
 */
export function parseConfig(text: string, origins: PathOrigins): Config {
  const root = readYaml(text, SUBJECT);
  checkEncrypted(root);
  const entries = readMap(root, KEYS);
  const warnings: string[] = [];
  const unsupported: string[] = [];
  checkVersion(entries.get("version"), warnings);
  const stages = readStages(entries);
  const approvers = ifGiven(entries.get("approvers"), readApprovers);
  const telegram = ifGiven(entries.get("telegram"), readTelegram);
  const webhook = ifGiven(entries.get("webhook"), readWebhook);
  const audit = ifGiven(entries.get("audit"), (each) => readAudit(each, origins));
  const groups = readGroups(entries.get("groups"), approvers ?? []);
  checkPeople(entries.get("escalation"), stages, { approvers, groups });
  for (const channel of channelsOf(stages))
    if (channel !== "terminal" && !entries.has(channel))
      throw invalid(
        root,
        `the channel is ${channel}, but there is no "${channel}" with its settings`,
      );
  if (telegram !== undefined && !isSealedField(telegram.botToken))
    warnings.push("telegram.bot_token is written in plain text");
  if (webhook !== undefined && !isSealedField(webhook.secret))
    warnings.push("webhook.secret is written in plain text");
  return {
    stages,
    ...(telegram === undefined ? {} : { telegram }),
    ...(webhook === undefined ? {} : { webhook }),
    ...(approvers === undefined ? {} : { approvers }),
    groups,
    ...readProxy(entries.get("proxy"), origins, unsupported),
    ...readDefaults(entries.get("defaults"), origins),
    ...(audit === undefined ? {} : { audit }),
    warnings,
    unsupported,
  };
}

function checkVersion(spot: Spot | undefined, warnings: string[]): void {
  if (spot === undefined) warnings.push('there is no version; write version: "1"');
  else if (spot.value !== VERSION)
    throw invalid(spot, `this reads version "${VERSION}" only`, { suggestion: `"${VERSION}"` });
}

function readDefaults(
  spot: Spot | undefined,
  origins: PathOrigins,
): Pick<Config, "askTimeoutMs" | "promptLimit" | "policyPath"> {
  if (spot === undefined) return {};
  const entries = readMap(spot, ["timeout_seconds", "prompt_limit", "policy"]);
  const seconds = ifGiven(entries.get("timeout_seconds"), (each) =>
    readNumber(each, { min: 1, max: ASK_TIMEOUT_MS_MAX / 1_000 }),
  );
  const promptLimit = ifGiven(entries.get("prompt_limit"), (each) =>
    each.value === "none" ? "none" : readRate(each),
  );
  const policyPath = ifGiven(entries.get("policy"), (each) => readPath(each, origins));
  return {
    ...(seconds === undefined ? {} : { askTimeoutMs: Math.round(seconds * 1_000) }),
    ...(promptLimit === undefined ? {} : { promptLimit }),
    ...(policyPath === undefined ? {} : { policyPath }),
  };
}
