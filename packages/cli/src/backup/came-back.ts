/**
 * Came back: what of consent a backup would put back in force that ended since: grants that were
 * revoked, passkeys that were revoked, keys that were retired, what opened them before,
 * secrets that were removed, a policy that was replaced, pauses that end. Pure.
 */
import { isoTime, isJsonObject, parseIsoTime } from "@acp/core";
import type { Grant, JsonObject } from "@acp/core";
import { parseGrants, parsePasskeys, parsePublicKeys } from "@acp/home";
import type { PasskeyRecord } from "@acp/home";

/** The files that say it, in a home and in a backup. */
export const CONSENT_FILES = [
  "grants.json",
  "passkeys.json",
  "keys/public.key",
  "keys/private.key",
  "keys/checkpoint.key",
  "vault.json",
  "policy.yml",
  "config.yml",
  "paused.json",
] as const;

/** The pause of one agent, relative to the home. */
export const AGENT_PAUSE: RegExp = /^paused-agents\/[0-9a-f]{64}\.json$/;

/** The text of each that is there. */
export type ConsentTexts = Readonly<Partial<Record<string, string>>>;

/** Something that would come back. Plain JSON data. */
export interface CameBack {
  readonly kind:
    | "grant"
    | "passkey"
    | "key"
    | "unlock"
    | "checkpoint_key"
    | "vault"
    | "policy"
    | "config"
    | "pause_ends";
  /** Of a grant, passkey or key, and of the agent whose pause ends. */
  readonly id?: string;
  /** For a person. */
  readonly text: string;
}

/**
 * What would come back.
 *
 * @param now - The home's files; without a home, everything that the backup holds comes back.
 */
export function cameBack(
  backup: ConsentTexts,
  now: ConsentTexts | undefined,
  nowMs: number,
): readonly CameBack[] {
  return [
    ...grantsBack(backup, now ?? {}, nowMs),
    ...passkeysBack(backup, now ?? {}),
    ...(now === undefined ? [] : [...changed(backup, now), ...pausesEnd(backup, now, nowMs)]),
  ];
}

function grantsBack(backup: ConsentTexts, now: ConsentTexts, nowMs: number): readonly CameBack[] {
  const current = new Set(grantsIn(now).map(({ id }) => id));
  return grantsIn(backup).flatMap((grant): readonly CameBack[] => {
    const { id, agentId, scope, expiresAtMs, usesLeft, approverIds } = grant;
    if (expiresAtMs <= nowMs) return [];
    // Uses stay used (keep-claims.ts).
    if (current.has(id)) return [];
    const uses = usesLeft === undefined ? "" : `, ${usesLeft} uses left`;
    const text = `grant ${id}: ${agentId} may ${JSON.stringify(scope)}, approved by ${approverIds.join(", ")}, until ${isoTime(expiresAtMs)}${uses} (not in force now)`;
    return [{ kind: "grant", id, text }];
  });
}

const grantsIn = (texts: ConsentTexts): readonly Grant[] =>
  parseGrants(texts["grants.json"] ?? "") ?? [];

function passkeysBack(backup: ConsentTexts, now: ConsentTexts): readonly CameBack[] {
  const current = new Map(passkeysIn(now).map((passkey) => [passkey.id, passkey]));
  return passkeysIn(backup).flatMap((passkey): readonly CameBack[] => {
    const { id, approver, label, revokedAtMs } = passkey;
    const held = current.get(id);
    if (revokedAtMs !== undefined || (held !== undefined && held.revokedAtMs === undefined))
      return [];
    const since = held?.revokedAtMs;
    const why = since === undefined ? "not in this home now" : `revoked at ${isoTime(since)}`;
    return [{ kind: "passkey", id, text: `passkey "${label}" of ${approver} (${why})` }];
  });
}

/** A file that cannot be read proves nothing, so everything in the backup would be new. */
function passkeysIn(texts: ConsentTexts): readonly PasskeyRecord[] {
  try {
    return parsePasskeys(texts["passkeys.json"] ?? "");
  } catch {
    return [];
  }
}

function changed(backup: ConsentTexts, now: ConsentTexts): readonly CameBack[] {
  const differs = (name: (typeof CONSENT_FILES)[number]): boolean =>
    now[name] !== undefined && backup[name] !== undefined && now[name] !== backup[name];
  const [then, current] = [backup, now].map((texts) => keyIn(texts["keys/public.key"]));
  const all: (CameBack | false)[] = [
    then !== undefined &&
      current !== undefined &&
      then !== current && {
        kind: "key",
        id: then,
        text: `key ${then.slice(0, 16)}… signs again instead of ${current.slice(0, 16)}…`,
      },
    then === current &&
      differs("keys/private.key") && {
        kind: "unlock",
        text: "the private key opens with the passphrase or key file of then",
      },
    differs("keys/checkpoint.key") && {
      kind: "checkpoint_key",
      text: "the checkpoint key of then signs again",
    },
    differs("vault.json") && {
      kind: "vault",
      text: "vault: secrets that were removed or replaced since",
    },
    differs("policy.yml") && { kind: "policy", text: "policy.yml, as it was then" },
    differs("config.yml") && { kind: "config", text: "config.yml, as it was then" },
  ];
  return all.filter((each) => each !== false);
}

function pausesEnd(backup: ConsentTexts, now: ConsentTexts, nowMs: number): readonly CameBack[] {
  return Object.entries(now).flatMap(([name, text]): readonly CameBack[] => {
    if (name !== "paused.json" && !AGENT_PAUSE.test(name)) return [];
    const end = pauseEnd(text);
    if (end <= nowMs || pauseEnd(backup[name]) >= end) return [];
    if (name === "paused.json")
      return [{ kind: "pause_ends", text: "the pause of all questions ends, or ends earlier" }];
    const agent = objectIn(text)["agent"];
    const id = typeof agent === "string" ? agent : name;
    return [{ kind: "pause_ends", id, text: `the pause of agent ${id} ends, or ends earlier` }];
  });
}

/** What cannot be understood means paused. */
function pauseEnd(text: string | undefined): number {
  if (text === undefined) return -Infinity;
  const { until } = objectIn(text);
  return (typeof until === "string" ? parseIsoTime(until) : undefined) ?? Infinity;
}

function objectIn(text: string | undefined): JsonObject {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function keyIn(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : parsePublicKeys(text)[0]?.publicKey;
  } catch {
    return undefined;
  }
}

/** As the log keeps it. */
export function cameBackMetadata(all: readonly CameBack[]): readonly JsonObject[] {
  return all
    .map(({ kind, id }): unknown => ({ kind, ...(id !== undefined && { id }) }))
    .filter(isJsonObject);
}
