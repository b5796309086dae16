/**
 * Key clock: when a key of the home begins and ends, by its audit logs as well as by the machine's
 * clock, which may be wrong; and what the logs show that a key signed outside of its time.
 */
import { QUESTION_END_TYPES, readAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { isConsentError, isJsonList, isJsonObject, parseIsoTime } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import { importPublicKey, verifyConsentProof } from "@acp/core/proof";
import { isWithin, readPublicKeys } from "@acp/home";
import type { Home, KeyClock, KeyPeriod, SignedAt } from "@acp/home";
import { lastEventOf } from "../gate/other-logs.js";
import { readIndexKey } from "../logs/index-key.js";
import { listAuditFiles } from "../logs/log-files.js";
import { lastVaultCounter } from "../logs/vault-log.js";

/** Questions whose text is kept while their answer is looked for: a megabyte at most each. */
const OPEN_MAX = 1_000;

/** The log's time: the clock's, or just after the last event of the home's logs. */
export async function logNow(home: Home): Promise<number> {
  const lastMs = await lastEventOf(home);
  return Math.max(Date.now(), lastMs === undefined ? 0 : lastMs + 1);
}

/** The events that hold a signed answer, its question, or what ends a key. */
const SIGNED = {
  eventType: ["consent_requested", ...QUESTION_END_TYPES, "keys_rotated"],
};

/** What a rotation goes by; logs that cannot be read say nothing, and `onUnread` hears why. */
export function keyClock(home: Home, onUnread: (why: string) => void): KeyClock {
  let now: Promise<number> | undefined;
  const nowOnce = (): Promise<number> => (now ??= logNow(home));
  return {
    now: nowOnce,
    signed: async () => signedOutside(home, { untilMs: await nowOnce(), onUnread }),
    vaultCounter: () => lastVaultCounter(home),
  };
}

/** What {@link signedOutside} looks for. */
export interface OutsideParts {
  /** When the key in use is about to end; left out where it goes on. */
  readonly untilMs?: number;
  readonly onUnread: (why: string) => void;
}

/**
 * The signatures in the home's logs that are outside of their key's time. Each is verified with its
 * question, and counts only where no event before it says that its key was rotated away.
 */
export async function signedOutside(
  home: Home,
  { untilMs = Infinity, onUnread }: OutsideParts,
): Promise<readonly SignedAt[]> {
  const periods = await readPublicKeys(home);
  const indexKey = await readIndexKey(home);
  const found: SignedAt[] = [];
  for (const path of await listAuditFiles(home.dir)) {
    const look = createLook(endAt(periods, untilMs));
    try {
      for await (const event of readAuditLog(path, { filter: SIGNED, indexKey }))
        found.push(...(await look(event)));
    } catch (error) {
      if (!isConsentError(error)) throw error;
      onUnread(error.message);
    }
  }
  return found;
}

const endAt = ([current, ...older]: readonly KeyPeriod[], untilMs: number): readonly KeyPeriod[] =>
  current === undefined ? [] : [{ ...current, untilMs }, ...older];

/** Looks at the events of one log in their order. */
function createLook(
  periods: readonly KeyPeriod[],
): (event: AuditEvent) => Promise<readonly SignedAt[]> {
  const questions = new Map<string, JsonObject>();
  const trusted = new Set(periods.map(({ publicKey }) => publicKey));
  return async ({ eventType, requestId, metadata }) => {
    const { request, responses, from_key: retired } = metadata;
    if (eventType === "keys_rotated" && typeof retired === "string") trusted.delete(retired);
    if (eventType === "consent_requested" && isJsonObject(request)) {
      const [oldest] = questions.keys();
      if (questions.size >= OPEN_MAX && oldest !== undefined) questions.delete(oldest);
      questions.set(requestId, request);
    }
    if (!isJsonList(responses)) return [];
    const asked = questions.get(requestId);
    questions.delete(requestId);
    const outside: SignedAt[] = [];
    for (const response of responses) {
      const signed = readSigned(response);
      if (signed === undefined || !trusted.has(signed.publicKey) || isWithin(periods, signed))
        continue;
      const trustedKeys = [{ key: importPublicKey(signed.publicKey) }];
      const { ok } = await verifyConsentProof(response, asked, { trustedKeys });
      if (ok) outside.push(signed);
    }
    return outside;
  };
}

function readSigned(response: JsonValue): SignedAt | undefined {
  const proof = isJsonObject(response) ? response["proof"] : undefined;
  if (!isJsonObject(response) || !isJsonObject(proof)) return undefined;
  const { public_key: publicKey } = proof;
  const atMs =
    typeof response["timestamp"] === "string" ? parseIsoTime(response["timestamp"]) : undefined;
  return typeof publicKey === "string" && atMs !== undefined ? { publicKey, atMs } : undefined;
}
