/** @acp/core: a human's consent between an agent and everything it does. */
export { actionToJson, parametersOf, parseAction, withParameters } from "./action/action-json.js";
export type { FlatAction } from "./action/action-json.js";
export {
  httpAction,
  isAction,
  isHttpAction,
  isShellAction,
  isToolAction,
  shellAction,
  toolAction,
} from "./action/action.js";
export type {
  Action,
  ActionBrand,
  ActionKind,
  HttpAction,
  HttpActionOptions,
  ShellAction,
  ShellActionOptions,
  ToolAction,
} from "./action/action.js";
export { isReservedName, reservedName } from "./action/reserved.js";
export { actionDigest, sha256Digest } from "./action/digest.js";
export { addressKind } from "./action/address.js";
export type { AddressKind } from "./action/address.js";
export { normalizeHost, parseAuthority } from "./action/host.js";
export type { Authority } from "./action/host.js";
export { parseHttpUrl } from "./action/url.js";
export type { HttpUrl } from "./action/url.js";
export { CONFIRMATION_WORD, confirmationWord, isCritical } from "./approval/confirmation.js";
export { quoteText, escapeText } from "@acp/exec-safety/text";
export type { EscalationStep } from "./approval/escalation.js";
export { readFields } from "./approval/fields.js";
export type { FieldReader } from "./approval/fields.js";
export { compareScopes, scopeMayCover } from "./approval/grants.js";
export type { Grant } from "./approval/grants.js";
export { showDuration, showScope } from "./approval/offer-text.js";
export {
  callScope,
  type HostCover,
  hostScope,
  offerHost,
  siteScope,
  toolScope,
} from "./approval/offers.js";
export { reduce } from "./approval/machine.js";
export { isUnfinished, isUnrecorded, isUnreleased } from "./approval/pending-record.js";
export type { Reduction } from "./approval/machine.js";
export type { AnswerTerms, MachineEvent } from "./approval/machine-event.js";
export type {
  CountedApproval,
  PendingRecord,
  QuestionContext,
  RecordedEnd,
} from "./approval/pending-record.js";
export { CONSENT_OUTCOMES } from "./approval/consent-outcome.js";
export type { ConsentOutcome, ConsentOutcomeStatus } from "./approval/consent-outcome.js";
export { decodeRequest, encodeRequest, requestHash } from "./approval/request-codec.js";
export { MESSAGE_VERSION } from "./approval/request.js";
export type { ConsentRequest, RequestAction } from "./approval/request.js";
export { distinctPeople, includesPerson, isSamePerson, personKey } from "./approval/person.js";
export { makeResponse, parseResponse } from "./approval/response.js";
export type { AnswerParts, ConsentResponse } from "./approval/response.js";
export type { ConsentSigner, SignedParts } from "./consent-signer.js";
export { DENY_CODE_LIST, DENY_CODES } from "./deny-codes.js";
export type { DenyCode, DenyRow } from "./deny-codes.js";
export { asError, ConsentError, isConsentError } from "./errors.js";
export type { ConsentErrorCode, ConsentErrorOptions, TextPosition } from "./errors.js";
export { timeLeftMs } from "./boot-time.js";
export type { BootTime, KeptTime } from "./boot-time.js";
export type {
  Approver,
  ConsentGate,
  Evaluation,
  GateContext,
  GateOptions,
  LayerRuling,
  Performance,
  PerformOptions,
  ResumeOptions,
} from "./gate/consent-gate.js";
export type { Outcome, PausedEnd, ReportedOutcome } from "./gate/reports.js";
export { createConsentGate } from "./gate/gate.js";
export { ruleForSeveral } from "./gate/people.js";
export { createRecordCheck } from "./gate/record-mac.js";
export { refuseAnswer } from "./gate/refuse.js";
export { isGrantRevoked, revokeGrant } from "./gate/revoke-grant.js";
export type { RevokeParts } from "./gate/revoke-grant.js";
export { canonicalJson } from "./json/canonical.js";
export { copyJson } from "./json/copy.js";
export { parseJson, scanJson } from "./json/parse.js";
export type { JsonSpan, ParseJsonOptions, ScanJsonOptions, ScannedJson } from "./json/parse.js";
export { isJsonList, isJsonObject } from "./json/value.js";
export type { JsonObject, JsonValue } from "./json/value.js";
export type { AskTerms, Facts, Layer, Ruling } from "./layers.js";
export {
  ASK_TIMEOUT_MS_MAX,
  JSON_BYTES_MAX,
  POLICY_BYTES_MAX,
  REASON_CHARS_MAX,
  RESPONSE_BYTES_MAX,
} from "./limits.js";
export { logEvent } from "./log-event.js";
export { redeem } from "./permit.js";
export type { Classification, Policy, RuleSummary } from "./policy/policy.js";
export { nearest } from "@acp/exec-safety/text";
export type {
  AnswerReceipt,
  ArgumentCheck,
  AskSession,
  Assessor,
  AppendTerms,
  AuditSink,
  Channel,
  Claims,
  Ending,
  EvidenceResult,
  EvidenceVerifier,
  Grants,
  Limits,
  PendingStore,
  QuestionRoom,
  ReserveResult,
  Store,
  Vault,
} from "./ports.js";
export type {
  Enforcement,
  Sandbox,
  SandboxAspect,
  SandboxedProcess,
  SandboxExit,
  SandboxInside,
  SandboxItem,
  SandboxLevel,
  SandboxReport,
  SandboxSpawnOptions,
} from "./sandbox.js";
export type {
  CommandTrials,
  HeldTrial,
  KeptWrites,
  RunningTrial,
  TrialOrder,
  TrialState,
  TrialWrites,
} from "./trial.js";
export { memoryGrants } from "./stores/memory-grants.js";
export { memoryPending } from "./stores/memory-pending.js";
export { memoryStore } from "./stores/memory-store.js";
export { randomIds, systemClock } from "./system.js";
export { isoTime, parseIsoTime } from "./time.js";
export { parseToolDefinition } from "./tool-definition.js";
export type { Agent, ToolDefinition } from "./types/agent.js";
export { AUDIT_EVENT_TYPES } from "./types/audit-event.js";
export type {
  AuditEventInput,
  AuditEventType,
  AuditReceipt,
  LoggedAt,
} from "./types/audit-event.js";
export type { Clock, IdPrefix, Ids, SleepOptions } from "./types/clock.js";
export { END_STATUSES, REFUSAL_CODES } from "./types/ending.js";
export type { EndStatus, RefusalCode } from "./types/ending.js";
export type { PublicKey, Signer, TrustedKey } from "./types/keys.js";
export type { LimitClaim } from "./types/limit-claim.js";
export type { Masker, Permit, Release } from "./types/permit.js";
export type {
  ArgumentsScope,
  GrantOffer,
  GrantScope,
  HostScope,
  OfferTerms,
} from "./types/scope.js";
export { CATEGORIES, DECISIONS, EFFECTS, RISK_LEVELS } from "./types/words.js";
export type { Category, Decision, Effect, RiskLevel } from "./types/words.js";
export type { AllowCode, Allowed, Denied, Pending, RunResult, Verdict } from "./verdict.js";
