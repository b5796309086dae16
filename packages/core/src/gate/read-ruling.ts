/**
 * Reading a ruling: what a layer or an assessor returned, as data of the gate's own. A judge may be
 * somebody's JavaScript: whatever is not a Ruling to the last member is a broken judge, and a
 * broken judge denies.
 */
import { copyJson } from "../json/copy.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.js";
import type { Ruling } from "../layers.js";
import { NAME_CHARS_MAX, RULING_REASON_CHARS_MAX } from "../limits.js";
import { cutText } from "@acp/exec-safety/text";
import { EFFECTS, RISK_LEVELS } from "../types/words.js";

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === "string";
const isName: Check = (value) => typeof value === "string" && value !== "";
const isNumber: Check = (value) => typeof value === "number";
const isWordOf =
  (words: readonly string[]): Check =>
  (value) =>
    typeof value === "string" && words.includes(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Every member that a check names, as it wants it; those without a `?` must be there. */
function isRecordOf(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks).map(([key, check]) => ({
    key: key.replace("?", ""),
    isOptional: key.endsWith("?"),
    check,
  }));
  return (value) =>
    isJsonObject(value) &&
    entries.every(({ key, isOptional, check }) => {
      const member = Object.hasOwn(value, key) ? value[key] : undefined;
      return member === undefined ? isOptional : check(member);
    });
}

const isStep = isRecordOf({
  afterMs: isNumber,
  "approvers?": isListOf(isName),
  "channel?": isName,
});
const isOffer = isRecordOf({
  scope: isRecordOf({ kind: isName }),
  ttlMs: isNumber,
  "uses?": isNumber,
});
/** Ranges are for whoever merges the terms. */
const isAsk = isRecordOf({
  "timeoutMs?": isNumber,
  "approvers?": isListOf(isName),
  "escalate?": isListOf(isStep),
  "quorum?": isNumber,
  "evidence?": isWordOf(["any", "passkey"]),
  "offers?": isListOf(isOffer),
});
/** An amount below zero would give an allowance back. */
const isClaim: Check = (value) =>
  isRecordOf({ key: isName, amount: isNumber, max: isNumber, windowMs: isNumber })(value) &&
  isJsonObject(value) &&
  Number(value["amount"]) >= 0 &&
  Number(value["max"]) >= 0 &&
  Number(value["windowMs"]) > 0;
const MEMBERS: Readonly<Record<string, Check>> = {
  effect: isWordOf(EFFECTS),
  ruleId: isText,
  reason: isText,
  "ruleName?": isText,
  "level?": isWordOf(RISK_LEVELS),
  "ask?": isAsk,
  "limits?": isListOf(isClaim),
  "secrets?": isListOf(isName),
};

/** The members that are there; one that is `undefined` is not. What it is an instance of stays. */
function presentMembers(given: object): unknown {
  return Object.create(
    Reflect.getPrototypeOf(given),
    Object.fromEntries(
      Object.entries(Object.getOwnPropertyDescriptors(given)).filter(
        ([, each]) => !("value" in each) || each.value !== undefined,
      ),
    ),
  );
}

function isRuling(value: JsonObject): value is JsonObject & Ruling {
  return isRecordOf(MEMBERS)(value);
}

/**
 * A copy of what a judge returned; `undefined` where it abstains.
 *
 * @throws TypeError, or ConsentError `json_*`, for anything else: `null`, a promise, a misspelt
 *   effect, a list where a word belongs, a getter.
 */
export function readRuling(given: unknown): Ruling | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "object" || given === null) throw new TypeError("it returned no ruling");
  const copy = copyJson(presentMembers(given));
  if (!isJsonObject(copy) || !isRuling(copy)) throw new TypeError("it returned no ruling");
  return {
    ...copy,
    ruleId: cutText(copy.ruleId, NAME_CHARS_MAX),
    reason: cutText(copy.reason, RULING_REASON_CHARS_MAX),
    ...(copy.ruleName === undefined ? {} : { ruleName: cutText(copy.ruleName, NAME_CHARS_MAX) }),
  };
}
