import { describe, expect, it } from "vitest";
import { signWebhook, verifyWebhook } from "./signature.js";

const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;
const SECRET = secretOf(1);
const OLD = secretOf(2);
const nowMs = 1_768_473_000_000;
const body = '{"type":"consent_response"}';
const headers = signWebhook({ id: "msg_1", timestampMs: nowMs, body }, SECRET);

describe("signWebhook()", () => {
  it("signs with every secret, and a receiver that knows one of them is content", () => {
    const both = signWebhook({ id: "msg_1", timestampMs: nowMs, body }, [SECRET, OLD]);
    expect(both["webhook-signature"].split(" ")).toHaveLength(2);
    for (const secret of [SECRET, OLD])
      expect(verifyWebhook({ headers: both, body }, { secret, nowMs })).toEqual({
        ok: true,
        id: "msg_1",
      });
    expect(verifyWebhook({ headers: both, body }, { secret: secretOf(3), nowMs })).toMatchObject({
      code: "signature_invalid",
    });
  });

  it("signs text as its UTF-8 bytes", () => {
    const text = "grüße 🙂";
    const bytes = new TextEncoder().encode(text);
    expect(signWebhook({ id: "a", timestampMs: nowMs, body: text }, SECRET)).toEqual(
      signWebhook({ id: "a", timestampMs: nowMs, body: bytes }, SECRET),
    );
  });

  it.each([
    ["a full stop in the id", "msg.1", nowMs],
    ["no id", "", nowMs],
    ["an id that would start a new header", "a\r\nb", nowMs],
    ["a time before 1970", "msg_1", -5_000],
    ["no time", "msg_1", Number.NaN],
  ])("refuses %s", (_name, id, timestampMs) => {
    expect(() => signWebhook({ id, timestampMs, body }, SECRET)).toThrow(
      expect.objectContaining({ code: "message_invalid" }),
    );
  });
});

describe("verifyWebhook()", () => {
  it("knows any of its secrets, whichever stands first", () => {
    for (const secret of [
      [SECRET, OLD],
      [OLD, SECRET],
    ])
      expect(verifyWebhook({ headers, body }, { secret, nowMs })).toMatchObject({ ok: true });
  });

  it("takes a header that came as a list as no header it can read", () => {
    const twice = { ...headers, "webhook-id": ["msg_1", "msg_1"] };
    expect(verifyWebhook({ headers: twice, body }, { secret: SECRET, nowMs })).toEqual({
      ok: false,
      code: "headers_invalid",
    });
  });

  it("is outside its time where the clock is no number", () => {
    expect(verifyWebhook({ headers, body }, { secret: SECRET, nowMs: Number.NaN })).toMatchObject({
      code: "timestamp_outside_tolerance",
    });
  });

  it.each([-3_600_000, 86_400_000])("takes nothing while the clock is %i ms off", (offMs) => {
    expect(
      verifyWebhook({ headers, body }, { secret: SECRET, nowMs: nowMs + offMs }),
    ).toMatchObject({
      code: "timestamp_outside_tolerance",
    });
  });
});
