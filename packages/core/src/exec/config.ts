/**
 * Config: how commands of one profile are approved (S3). Strict: what is not understood does not
 * load. Format: spec/exec-config.md. Vectors: spec/vectors/exec-config.json.
 */
import type { Allowlist } from "@acp/exec-safety";
import type { JsonObject } from "../json/value.js";
import { isJsonObject } from "../json/value.js";
import { ASK_TIMEOUT_MS_MAX } from "../limits.js";
import { invalid, readList, readMap, readNumber, readOneOf } from "../policy/spot.js";
import type { Spot, Subject } from "../policy/spot.js";
import { nearest } from "@acp/exec-safety/text";
import { quote } from "@acp/exec-safety/text";
import { readAllowlist } from "./allowlist.js";
import { spotOfData } from "./config-spot.js";

const SECURITY = ["deny", "allowlist", "full"] as const;
/**
 * Which commands may run without a person's approval. `deny`: no command runs at all. `allowlist`:
 * those that are safe or listed; `ask` decides about the others. `full`: all of them, unless `ask`
 * is `always`.
 */
export type ExecSecurity = (typeof SECURITY)[number];

const ASK = ["off", "on-miss", "always"] as const;
/**
 * When a person is asked. `off`: never, and what may not run by itself is denied. `on-miss`: about
 * what may not run by itself. `always`: about everything.
 */
export type ExecAsk = (typeof ASK)[number];

const FALLBACK = ["deny", "allowlist", "full"] as const;
/**
 * What happens to a command whose question nobody answered in time. `deny`: it is denied.
 * `allowlist`: it runs if all of it is listed. `full`: it runs. A dangerous command is always
 * denied.
 */
export type ExecAskFallback = (typeof FALLBACK)[number];

/**
 * How commands are approved: the section `execApproval` with its defaults. Format:
 * spec/exec-config.md.
 */
export interface ExecApprovalConfig {
  /** Which commands may run without a person's approval; `allowlist` unless given. */
  readonly security: ExecSecurity;
  /** When a person is asked; `on-miss` unless given. */
  readonly ask: ExecAsk;
  /** How long a question stays open, in milliseconds: 60,000 unless given, at most a week. */
  readonly timeoutMs: number;
  /** What happens to a command whose question nobody answered in time; `deny` unless given. */
  readonly askFallback: ExecAskFallback;
  /** Commands that run without a question; none unless given. */
  readonly allowlist: Allowlist;
  /** Ports of this machine that `curl` may send requests to without a question; at most 32. */
  readonly loopbackPorts: readonly number[];
  /** Whether `askFallback` may be `full`. Without it such a configuration does not load. */
  readonly dangerouslyAllowOnTimeout: boolean;
  /**
   * Whether a command that a person would be asked about may first run offline in a throwaway copy,
   * in programs that can do that; false unless given.
   */
  readonly trials: boolean;
}

/**
 * A profile's configuration file: the section about commands, and everything else as it stands
 * there.
 */
export interface ProfileConfig {
  /** The section about commands, with its defaults filled in. */
  readonly execApproval: ExecApprovalConfig;
  /** The whole document, frozen; its other keys belong to other programs and are not checked. */
  readonly document: JsonObject;
}

const SECTION = "execApproval";
const KEYS = [
  "security",
  "ask",
  "timeoutMs",
  "askFallback",
  "allowlist",
  "loopbackPorts",
  "dangerouslyAllowOnTimeout",
  "trials",
] as const;
const TIMEOUT_MS = 60_000;
const CONFIG: Subject = { name: "exec approval config", code: "config_invalid" };
const PROFILE: Subject = { name: "profile config", code: "config_invalid" };

/**
 * Reads the section `execApproval`. A key that is left out gets its default.
 *
 * @throws ConsentError `config_invalid` with `path` and, where there is one, `suggestion`.
 */
export function parseExecApprovalConfig(value: unknown): ExecApprovalConfig {
  return readExecApproval(spotOfData(value, CONFIG));
}

/**
 * Reads a profile's configuration file. Without the section every default applies; a key that looks
 * like a misspelling of it is refused.
 *
 * @throws ConsentError `config_invalid` with `path` and, where there is one, `suggestion`.
 */
export function parseProfileConfig(value: unknown): ProfileConfig {
  const root = spotOfData(value, PROFILE);
  const entries = readMap(root);
  const section = entries.get(SECTION);
  for (const [key, spot] of entries) {
    if (key !== SECTION && nearest(key, [SECTION]) !== undefined) {
      throw invalid(spot, `unknown key ${quote(key)}`, { suggestion: SECTION, part: "key" });
    }
  }
  const document = isJsonObject(root.value) ? root.value : {};
  return Object.freeze({
    execApproval: section === undefined ? parseExecApprovalConfig({}) : readExecApproval(section),
    document,
  });
}

function readExecApproval(spot: Spot): ExecApprovalConfig {
  const entries = readMap(spot, KEYS);
  const given = <T>(key: (typeof KEYS)[number], read: (each: Spot) => T, absent: T): T => {
    const each = entries.get(key);
    return each === undefined ? absent : read(each);
  };
  const config: ExecApprovalConfig = {
    security: given("security", (each) => readOneOf(each, SECURITY), "allowlist"),
    ask: given("ask", (each) => readOneOf(each, ASK), "on-miss"),
    timeoutMs: given(
      "timeoutMs",
      (each) => readNumber(each, { min: 1, max: ASK_TIMEOUT_MS_MAX, whole: true }),
      TIMEOUT_MS,
    ),
    askFallback: given("askFallback", (each) => readOneOf(each, FALLBACK), "deny"),
    allowlist: given("allowlist", readAllowlist, NO_ENTRIES),
    loopbackPorts: given("loopbackPorts", readPorts, []),
    dangerouslyAllowOnTimeout: given("dangerouslyAllowOnTimeout", readFlag, false),
    trials: given("trials", readFlag, false),
  };
  if (config.askFallback === "full" && !config.dangerouslyAllowOnTimeout) {
    throw invalid(
      entries.get("askFallback") ?? spot,
      '"full" allows commands that nobody answered for; it loads only with "dangerouslyAllowOnTimeout": true',
    );
  }
  return Object.freeze(config);
}

const NO_ENTRIES: Allowlist = Object.freeze({ entries: Object.freeze([]), find: () => undefined });

/** Ports that one configuration names. */
const PORTS_MAX = 32;

function readPorts(spot: Spot): readonly number[] {
  const spots = readList(spot);
  if (spots.length > PORTS_MAX) throw invalid(spot, `there are more than ${PORTS_MAX} ports`);
  return Object.freeze(spots.map((each) => readNumber(each, { min: 1, max: 65_535, whole: true })));
}

function readFlag(spot: Spot): boolean {
  const { value } = spot;
  if (typeof value === "boolean") return value;
  throw invalid(spot, "expected true or false");
}
