/** What holds for every header, body and secret. */
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { signWebhook, verifyWebhook } from "../src/index.js";
import { readRetryAfter, retryDelayMs } from "../src/retry.js";

const nowMs = 1_768_473_000_000;
const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const secrets = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString("base64")}`);
const bodies = fc.oneof(fc.string({ unit: "binary" }), fc.json());
const seconds = fc.integer({ min: -300, max: 300 });
/** Text that looks like a signature header, more often than any text would. */
const pieces = fc.constantFrom(
  "v1",
  "v1a",
  "v2",
  ",",
  " ",
  "  ",
  "=",
  "A",
  "/",
  "+",
  "\u00e9",
  "\t",
  "x".repeat(43),
  `v1,${"A".repeat(43)}=`,
);
const noise = fc.oneof(
  fc.string(),
  fc.array(pieces, { maxLength: 80 }).map((parts) => parts.join("")),
);

beforeAll(() => void vi.useFakeTimers({ now: nowMs }));
afterAll(() => void vi.useRealTimers());

function isTakenByTheirs(
  headers: Readonly<Record<string, string>>,
  body: string,
  secret: string,
): boolean {
  try {
    new Webhook(secret).verify(body, { ...headers }, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

describe("signatures", () => {
  it("verify after signing, here and in standardwebhooks, and theirs here", () => {
    fc.assert(
      fc.property(
        ids,
        secrets,
        fc.string({ unit: "grapheme" }),
        seconds,
        (id, secret, body, offset) => {
          const timestampMs = nowMs + offset * 1000;
          const headers = signWebhook({ id, timestampMs, body }, secret);
          expect(verifyWebhook({ headers, body }, { secret, nowMs })).toEqual({ ok: true, id });
          expect(isTakenByTheirs(headers, body, secret)).toBe(true);
          expect(new Webhook(secret).sign(id, new Date(timestampMs), body)).toBe(
            headers["webhook-signature"],
          );
        },
      ),
    );
  });

  it("break with one changed byte of the body, the id, the time or the signature", () => {
    const flipped = (text: string, at: number): string => {
      const bytes = Buffer.from(text);
      const index = at % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      return bytes.toString("latin1");
    };
    const places = fc.constantFrom("body", "webhook-id", "webhook-timestamp", "webhook-signature");
    fc.assert(
      fc.property(
        ids,
        secrets,
        fc.stringMatching(/^[ -~]{1,100}$/),
        places,
        fc.nat(),
        (id, secret, body, place, at) => {
          const headers = signWebhook({ id, timestampMs: nowMs, body }, secret);
          const message =
            place === "body"
              ? { headers, body: flipped(body, at) }
              : { headers: { ...headers, [place]: flipped(headers[place], at) }, body };
          expect(verifyWebhook(message, { secret, nowMs }).ok).toBe(false);
        },
      ),
    );
  });

  it("are taken where one of them is right, whatever stands beside it", () => {
    fc.assert(
      fc.property(
        ids,
        secrets,
        bodies,
        fc.array(fc.stringMatching(/^[!-~]{0,60}$/), { maxLength: 10 }),
        fc.nat(),
        (id, secret, body, others, at) => {
          const headers = signWebhook({ id, timestampMs: nowMs, body }, secret);
          const all = [...others];
          all.splice(at % (others.length + 1), 0, headers["webhook-signature"]);
          const message = { headers: { ...headers, "webhook-signature": all.join(" ") }, body };
          expect(verifyWebhook(message, { secret, nowMs })).toEqual({ ok: true, id });
        },
      ),
    );
  });

  it("that nobody made are never taken, and headers of any kind break nothing", () => {
    const header = fc.option(fc.oneof(noise, fc.array(noise, { maxLength: 3 })), {
      nil: undefined,
    });
    fc.assert(
      fc.property(
        header,
        header,
        header,
        bodies,
        secrets,
        (id, timestamp, signature, body, secret) => {
          const headers = {
            "webhook-id": id,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature,
          };
          expect(verifyWebhook({ headers, body }, { secret, nowMs }).ok).toBe(false);
        },
      ),
    );
  });

  it("that we take, standardwebhooks takes too", () => {
    const times = fc.oneof(
      fc.integer({ min: nowMs / 1000 - 400, max: nowMs / 1000 + 400 }).map(String),
      fc.constantFrom(
        `${nowMs / 1000}.5`,
        ` ${nowMs / 1000}`,
        `+${nowMs / 1000}`,
        `${nowMs / 1000}e0`,
        "0x1",
        "1e9",
        "",
      ),
    );
    fc.assert(
      fc.property(
        ids,
        times,
        fc.string(),
        secrets,
        noise,
        (id, timestamp, body, secret, before) => {
          const right = new Webhook(secret).sign(
            id,
            new Date(Number.parseInt(timestamp, 10) * 1000 || 0),
            body,
          );
          const headers = {
            "webhook-id": id,
            "webhook-timestamp": timestamp,
            "webhook-signature": `${before} ${right}`,
          };
          if (verifyWebhook({ headers, body }, { secret, nowMs }).ok)
            expect(isTakenByTheirs(headers, body, secret)).toBe(true);
        },
      ),
    );
  });
});

describe("retries", () => {
  it("wait a finite time that is never less than asked for, whatever Retry-After says", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.nat().map(String), fc.date().map(String)),
        fc.integer({ min: 1, max: 1e6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (header, failed, random) => {
          const asked = readRetryAfter(header, nowMs);
          const waitMs = retryDelayMs(failed, asked, random);
          expect(Number.isFinite(waitMs) && waitMs >= asked && waitMs >= 4_000).toBe(true);
        },
      ),
    );
  });
});
