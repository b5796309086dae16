/**
 * Came back: what of consent a backup would put back in force that ended since: grants that were
 * revoked or used up, passkeys that were revoked, keys that were retired, secrets that were removed,
 * a policy that was replaced, a pause. Pure.
 */
import { isoTime, isJsonObject } from "@acp/core";
import type { Grant, JsonObject } from "@acp/core";
import { parseGrants, parsePasskeys, parsePublicKeys } from "@acp/home";
import type { PasskeyRecord } from "@acp/home";

/** The files that say it, in a home and in a backup. */
export const CONSENT_FILES = [
  "grants.json",
  "passkeys.json",
  "keys/public.key",
  "vault.json",
  "policy.yml",
  "config.yml",
  "paused.json",
] as const;

/** The text of each that is there. */
export type ConsentTexts = Readonly<Partial<Record<(typeof CONSENT_FILES)[number], string>>>;

/** Something that would come back. Plain JSON data. */
export interface CameBack {
  readonly kind: "grant" | "passkey" | "key" | "vault" | "policy" | "config" | "pause_ends";
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
    ...(now === undefined ? [] : changed(backup, now)),
  ];
}

function grantsBack(backup: ConsentTexts, now: ConsentTexts, nowMs: number): readonly CameBack[] {
  const current = new Map(grantsIn(now).map((grant) => [grant.id, grant]));
  return grantsIn(backup).flatMap((grant): readonly CameBack[] => {
    const { id, agentId, scope, expiresAtMs, usesLeft, approverIds } = grant;
    if (expiresAtMs <= nowMs) return [];
    const held = current.get(id);
    if (held !== undefined && (usesLeft ?? Infinity) <= (held.usesLeft ?? Infinity)) return [];
    const uses = usesLeft === undefined ? "" : `, ${usesLeft} uses left`;
    const why = held === undefined ? "not in force now" : `${held.usesLeft ?? "no"} uses left now`;
    const text = `grant ${id}: ${agentId} may ${JSON.stringify(scope)}, approved by ${approverIds.join(", ")}, until ${isoTime(expiresAtMs)}${uses} (${why})`;
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
  const differs = (name: keyof ConsentTexts): boolean =>
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
    differs("vault.json") && {
      kind: "vault",
      text: "vault: secrets that were removed or replaced since",
    },
    differs("policy.yml") && { kind: "policy", text: "policy.yml, as it was then" },
    differs("config.yml") && { kind: "config", text: "config.yml, as it was then" },
    now["paused.json"] !== undefined &&
      backup["paused.json"] === undefined && {
        kind: "pause_ends",
        text: "the pause of all questions ends",
      },
  ];
  return all.filter((each) => each !== false);
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
