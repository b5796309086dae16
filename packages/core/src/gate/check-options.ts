/** Checking what createConsentGate is given: each option by itself, and those that need each other. */
import { channelName } from "../channels/composite.js";
import { isConsentSigner } from "../consent-signer.js";
import { isFromAnotherCopy, OTHER_COPY } from "../copies.js";
import {
  ASK_TIMEOUT_MS_MAX,
  PROMPT_WINDOW_MS_MAX,
  RECORD_KEY_BYTES_MIN,
  RETRY_WINDOW_MS_MAX,
} from "../limits.js";
import type { GateOptions } from "./consent-gate.js";
import { checkPeople, requireOption } from "./people.js";

/** What another copy of the package made would fail later, with a message that does not help. */
function checkCopies({ signer, vault }: GateOptions): void {
  requireOption(
    !isFromAnotherCopy(signer, "signer"),
    `\`signer\` is not of this @acp/core: ${OTHER_COPY}`,
  );
  requireOption(
    !isFromAnotherCopy(vault, "vault"),
    `\`vault\` is not of this @acp/core: ${OTHER_COPY}`,
  );
}

function checkKept({ recordKey, lastEventMs }: GateOptions): void {
  requireOption(
    recordKey === undefined ||
      typeof recordKey === "function" ||
      (recordKey instanceof Uint8Array && recordKey.length >= RECORD_KEY_BYTES_MIN),
    `"recordKey" is not at least ${RECORD_KEY_BYTES_MIN} bytes`,
  );
  requireOption(
    lastEventMs === undefined || Number.isFinite(lastEventMs),
    `"lastEventMs" is not a time in milliseconds`,
  );
}

function checkEach({
  channel,
  audit,
  policy,
  approvers,
  groups,
  signer,
  askTimeoutMs,
  promptLimit,
  retryWindowMs,
}: GateOptions): void {
  requireOption(
    typeof audit?.append === "function",
    "`audit` is not an AuditSink: it has no append()",
  );
  requireOption(
    typeof channel?.deliver === "function",
    "`channel` is not a Channel: it has no deliver()",
  );
  channelName(channel);
  requireOption(
    signer === undefined || isConsentSigner(signer),
    `"signer" is not what createConsentSigner of "@acp/core/proof" made`,
  );
  requireOption(
    askTimeoutMs === undefined || (askTimeoutMs > 0 && askTimeoutMs <= ASK_TIMEOUT_MS_MAX),
    `"askTimeoutMs" is not between 1 ms and a week`,
  );
  requireOption(
    promptLimit === undefined ||
      promptLimit === "none" ||
      (Number.isSafeInteger(promptLimit.max) &&
        promptLimit.max > 0 &&
        promptLimit.windowMs > 0 &&
        promptLimit.windowMs <= PROMPT_WINDOW_MS_MAX),
    `"promptLimit" is neither "none" nor at least one question in at most a day`,
  );
  requireOption(
    retryWindowMs === undefined ||
      (Number.isSafeInteger(retryWindowMs) &&
        retryWindowMs >= 0 &&
        retryWindowMs <= RETRY_WINDOW_MS_MAX),
    `"retryWindowMs" is not between 0 ms and 10 minutes`,
  );
  checkPeople({ policy, approvers, groups });
}

/**
 * Checks the options of a gate.
 *
 * @throws ConsentError `options_invalid` with the first option that does not fit.
 */
export function checkOptions(options: GateOptions): void {
  checkCopies(options);
  checkEach(options);
  checkKept(options);
}
