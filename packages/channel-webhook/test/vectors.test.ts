/**
 * Our vectors, which any language can check; and the npm package of Standard Webhooks as a second
 * opinion on the signed ones.
 */
import { readFileSync } from "node:fs";
import { askDouble, manualClock, sampleRequest } from "@acp/testing";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { signWebhook, verifyWebhook } from "../src/index.js";
import { createQuestions } from "../src/questions.js";
import { receive } from "../src/receive.js";
import { replaySet } from "../src/replay-set.js";
import { readSecrets } from "../src/secret.js";
import { SECRET, signed } from "./receiver.js";

const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../spec/vectors/${file}`, import.meta.url), "utf8"));

interface MessageCase {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly now: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly body_base64?: string;
  readonly expect: string;
}

const messages = read("webhook.json") as {
  readonly secrets: Readonly<Record<string, string>>;
  readonly cases: readonly MessageCase[];
};
const secretsOf = ({ secrets }: MessageCase): string[] =>
  secrets.map((name) => messages.secrets[name] ?? "");
const bodyOf = ({ body, body_base64: base64 }: MessageCase): Buffer =>
  base64 === undefined ? Buffer.from(body ?? "") : Buffer.from(base64, "base64");

afterEach(() => {
  vi.useRealTimers();
});

describe("spec/vectors/webhook.json", () => {
  it.each(messages.cases)("verifyWebhook() $name", (each) => {
    const check = verifyWebhook(
      { headers: each.headers, body: bodyOf(each) },
      { secret: secretsOf(each), nowMs: each.now * 1000 + 999 },
    );
    expect(check).toEqual(
      each.expect === "ok"
        ? { ok: true, id: each.headers["webhook-id"] }
        : { ok: false, code: each.expect },
    );
  });

  it.each(messages.cases.filter((each) => each.expect === "ok"))(
    "signWebhook() writes what is verified: $name",
    (each) => {
      const {
        "webhook-id": id = "",
        "webhook-timestamp": seconds,
        "webhook-signature": signature = "",
      } = each.headers;
      const made = secretsOf(each).map(
        (secret) =>
          signWebhook(
            { id, timestampMs: Number(seconds) * 1000 + 500, body: bodyOf(each) },
            secret,
          )["webhook-signature"],
      );
      expect(signature.split(" ")).toEqual(
        expect.arrayContaining(made.filter((one) => signature.includes(one))),
      );
      expect(made.some((one) => signature.split(" ").includes(one))).toBe(true);
    },
  );

  // What the package takes and we refuse, each for its reason. Nothing is the other way round.
  const STRICTER: Readonly<Record<string, string>> = {
    "a full stop in the id": "id, time and body could be cut apart in two ways",
    "an id of 257 characters": "bounded memory",
    "a time with letters at its end": "one spelling",
    "a time with zeros before it": "one spelling",
    "a sign before the time": "one spelling",
    "milliseconds as a fraction": "one spelling",
    "two times": "one time",
    "33 signatures, the last one right": "bounded work",
    "a signature header of more than 4,096 characters": "bounded work",
    "a comma between signatures": "one spelling",
  };

  it("agrees with standardwebhooks on every case but those that we refuse for a reason", () => {
    const wrong: string[] = [];
    let agreed = 0;
    const excluded: string[] = [];
    for (const each of messages.cases) {
      // Its text form of a body is UTF-8 with replacements.
      if (each.body === undefined) {
        excluded.push(`${each.name}: the package signs texts only`);
        continue;
      }
      vi.useFakeTimers({ now: each.now * 1000 });
      const theirs = secretsOf(each).some((secret) => {
        try {
          new Webhook(secret).verify(bodyOf(each), { ...each.headers }, { jsonParse: false });
          return true;
        } catch {
          return false;
        }
      });
      if (theirs === (each.expect === "ok")) agreed++;
      else if (theirs && STRICTER[each.name] !== undefined)
        excluded.push(`${each.name}: ${STRICTER[each.name]}`);
      else wrong.push(each.name);
    }
    process.stdout.write(
      `standardwebhooks agrees: ${agreed}/${agreed + wrong.length}${excluded.map((one) => `\n  excluded ${one}`).join("")}\n`,
    );
    expect(wrong).toEqual([]);
    expect(agreed).toBeGreaterThanOrEqual(40);
  });
});

interface AnswerCase {
  readonly name: string;
  readonly body: string;
  readonly approvers?: readonly string[];
  readonly expect:
    | { readonly subject: string; readonly decision: string }
    | { readonly refused: string };
}

describe("spec/vectors/webhook-answers.json", () => {
  const { request, cases } = read("webhook-answers.json") as {
    readonly request: { readonly id: string; readonly nonce: string };
    readonly cases: readonly AnswerCase[];
  };

  it.each(cases)("$name", async ({ body, approvers, expect: want }) => {
    const ask = askDouble(sampleRequest(request));
    const questions = createQuestions();
    questions.put(ask);
    const clock = manualClock();
    const parts = {
      keys: readSecrets(SECRET),
      claims: replaySet(clock),
      questions,
      approvers: approvers === undefined ? undefined : new Set(approvers),
      now: () => clock.now(),
    };
    const received = await receive(parts, signed(body, { nowMs: clock.now() }));
    if ("refused" in want) {
      expect(received).toMatchObject({
        ok: true,
        receipt: { status: "refused", code: want.refused },
      });
      expect(ask.ending()).toBeUndefined();
    } else {
      expect(received).toEqual({ ok: true, receipt: { status: "final", outcome: want.decision } });
      expect(ask.submissions.map(({ subject }) => subject)).toEqual([want.subject]);
    }
  });
});
