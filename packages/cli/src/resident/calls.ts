/**
 * Calls: the ids of one client's tool calls. A client numbers its calls; what stands in the log is
 * made here of the number and the client's secret, so that no client can name another's call, and
 * no text of a client's gets into the log. Format: spec/resident.md §5.
 */
import { createHash, hash, randomBytes } from "node:crypto";
import type { AskedCall } from "../gate/forwarded.js";
import { isRecord, recordIn } from "./wire.js";

/** The calls of one session. */
export interface ClientCalls {
  /** What the ids of this client's calls end with. */
  readonly client: string;
  /** Takes a frame `call`; false where it is none that may come now. */
  take(body: Buffer): boolean;
  /** The id of the call with this id of its request; once. */
  callOf(requestId: string | number): string | undefined;
  /** The id of a call that its client does not know of. */
  make(): string;
  /** The calls that a frame `asks` names, by number; undefined where it is none. */
  asked(body: Buffer): ReadonlyMap<number, AskedCall> | undefined;
}

/**
 * Calls whose line has not come yet. More lines than this do not fit into the room for input, so
 * older ones are of lines that were answered without a call: they are forgotten, as many at a time.
 */
const WAITING_MAX = 32_768;
/** As many as a client can have under way. */
const ASKED_MAX = 10_000;
/** Hex digits of each half of an id. */
const HALF = 16;

/** No call has been made in this session. */
export function createClientCalls(secret: string): ClientCalls {
  const client = createHash("sha256").update(`client ${secret}`).digest("hex").slice(0, HALF);
  const hmac = hmacOf(secret);
  const idOf = (n: number): string => `cc_${hmac(`call ${n}`).slice(0, HALF)}${client}`;
  let waiting = new Map<string, number>();
  let older = new Map<string, number>();
  let last = 0;
  return {
    client,
    take(body) {
      const { id, n } = recordIn(body) ?? {};
      // Each number once a session, so that no two calls have one id.
      if (!isRequestId(id) || !isNumber(n) || n <= last) return false;
      last = n;
      // Not the oldest alone, which a map that many were taken out of takes long to find.
      if (waiting.size >= WAITING_MAX) {
        older = waiting;
        waiting = new Map();
      }
      waiting.set(JSON.stringify(id), n);
      return true;
    },
    callOf(requestId) {
      const key = JSON.stringify(requestId);
      const n = waiting.get(key) ?? older.get(key);
      waiting.delete(key);
      older.delete(key);
      return n === undefined ? undefined : idOf(n);
    },
    make: () => `cc_${randomBytes(HALF / 2).toString("hex")}${client}`,
    asked(body) {
      const { calls } = recordIn(body) ?? {};
      if (!Array.isArray(calls) || calls.length > ASKED_MAX) return undefined;
      const asked = new Map<number, AskedCall>();
      for (const each of calls) {
        const { n, ms }: Readonly<Record<string, unknown>> = isRecord(each) ? each : {};
        if (!isNumber(n) || typeof ms !== "number" || !(ms >= 0)) return undefined;
        asked.set(n, { call: idOf(n), agoMs: ms });
      }
      return asked;
    },
  };
}

const BLOCK_BYTES = 64;

/**
 * HMAC-SHA-256 of short texts, in hex (RFC 2104): the same as `createHmac`, which takes several
 * times as long to make an object for each.
 */
function hmacOf(secret: string): (text: string) => string {
  const raw = Buffer.from(secret);
  const key = raw.length > BLOCK_BYTES ? hash("sha256", raw, "buffer") : raw;
  const pad = (by: number): Buffer =>
    Buffer.from(Array.from({ length: BLOCK_BYTES }, (_, at) => (key[at] ?? 0) ^ by));
  const [inner, outer] = [pad(0x36), pad(0x5c)];
  return (text) =>
    hash(
      "sha256",
      Buffer.concat([outer, hash("sha256", Buffer.concat([inner, Buffer.from(text)]), "buffer")]),
      "hex",
    );
}

const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0;

const isRequestId = (value: unknown): value is string | number =>
  typeof value === "string" || Number.isSafeInteger(value);
