/**
 * Codec of ConsentRequest: S0 §4.1's JSON on the wire, plus the fields that document lacks. Format:
 * spec/consent.md §2.
 */
import { canonicalJson } from "../json/canonical.js";
import { sha256Hex } from "#crypto";
import {
  ACTION_BYTES_MAX,
  ASK_TIMEOUT_MS_MAX,
  GRANT_TTL_MS_MAX,
  TEXT_UNITS_MAX,
} from "../limits.js";
import { ConsentError } from "../errors.js";
import type { JsonObject, JsonValue } from "../json/value.js";
import type { Agent } from "../types/agent.js";
import type { GrantOffer, GrantScope } from "../types/scope.js";
import { CATEGORIES, RISK_LEVELS } from "../types/words.js";
import { isoTime } from "../time.js";
import { type FieldReader, readFields } from "./fields.js";
import type { EscalationStep } from "./escalation.js";
import { type ConsentRequest, MESSAGE_VERSION } from "./request.js";

const encodeScope = (scope: GrantScope): JsonObject => ({ ...scope });

function encodeOffer(offer: GrantOffer): JsonObject {
  return {
    id: offer.id,
    scope: encodeScope(offer.scope),
    ttl_ms: offer.ttlMs,
    ...(offer.uses === undefined ? {} : { uses: offer.uses }),
  };
}

function decodeHost(fields: FieldReader): GrantScope {
  const twin = fields.optionalText("twin");
  const methods = fields.optionalTexts("methods");
  const host = {
    kind: "host",
    host: fields.text("host"),
    port: fields.integer("port", 1, 65_535),
  } as const;
  return {
    ...host,
    ...(methods === undefined ? {} : { methods }),
    ...(twin === undefined ? {} : { twin }),
  };
}

function decodeScope(fields: FieldReader): GrantScope {
  const kind = fields.oneOf("kind", ["action", "shell", "arguments", "tool", "host"] as const);
  const scope = ((): GrantScope => {
    switch (kind) {
      case "action":
        return { kind, digest: fields.text("digest") };
      case "shell":
        return {
          kind,
          command: fields.text("command", ACTION_BYTES_MAX),
          digest: fields.text("digest"),
        };
      case "arguments":
        return {
          kind,
          server: fields.text("server"),
          name: fields.text("name"),
          args: fields.raw("args"),
        };
      case "tool":
        return { kind, server: fields.text("server"), name: fields.text("name") };
      case "host":
        return decodeHost(fields);
      default:
        return kind satisfies never;
    }
  })();
  fields.done();
  return scope;
}

function decodeOffer(fields: FieldReader): GrantOffer {
  const uses = fields.optionalInteger("uses", 1, Number.MAX_SAFE_INTEGER);
  const offer = {
    id: fields.text("id", 64),
    scope: decodeScope(fields.object("scope")),
    ttlMs: fields.integer("ttl_ms", 1, GRANT_TTL_MS_MAX),
  };
  fields.done();
  return uses === undefined ? offer : { ...offer, uses };
}

function encodeStep({ afterMs, approvers, channel }: EscalationStep): JsonObject {
  return {
    after_ms: afterMs,
    ...(approvers === undefined ? {} : { approvers }),
    ...(channel === undefined ? {} : { channel }),
  };
}

function decodeStep(fields: FieldReader): EscalationStep {
  const approvers = fields.optionalTexts("approvers");
  const channel = fields.optionalText("channel");
  const afterMs = fields.integer("after_ms", 1, ASK_TIMEOUT_MS_MAX);
  fields.done();
  return {
    afterMs,
    ...(approvers === undefined ? {} : { approvers }),
    ...(channel === undefined ? {} : { channel }),
  };
}

function encodeAgent(agent: Agent): JsonObject {
  const parents =
    agent.parents === undefined || agent.parents.length === 0 ? {} : { parents: agent.parents };
  return { id: agent.id, name: agent.name ?? agent.id, command: agent.command ?? "", ...parents };
}

function decodeAgent(fields: FieldReader): Agent {
  const parents = fields.optionalTexts("parents");
  const agent = {
    id: fields.text("id"),
    name: fields.text("name"),
    command: fields.text("command"),
  };
  fields.done();
  return parents === undefined ? agent : { ...agent, parents };
}

/**
 * The request as the JSON that is sent: ACP v0.2 §4.1's message with the fields of spec/consent.md
 * §2.
 */
export function encodeRequest(request: ConsentRequest): JsonObject {
  const { action, policy } = request;
  return {
    type: "consent_request",
    version: MESSAGE_VERSION,
    id: request.id,
    timestamp: isoTime(request.createdAtMs),
    expires_at: isoTime(request.expiresAtMs),
    agent: encodeAgent(request.agent),
    action: {
      tool: action.tool,
      server: action.server,
      category: action.category,
      risk_level: action.riskLevel,
      parameters: action.parameters,
      description: action.description,
    },
    policy: {
      rule_id: policy.ruleId,
      rule_name: policy.ruleName,
      required_level: policy.requiredLevel,
    },
    nonce: request.nonce,
    action_digest: request.actionDigest,
    text: request.text,
    ...(request.approvers === undefined ? {} : { approvers: request.approvers }),
    ...(request.escalation === undefined ? {} : { escalation: request.escalation.map(encodeStep) }),
    quorum: request.quorum,
    evidence: request.evidence,
    offers: request.offers.map(encodeOffer),
    secrets: request.secrets,
  };
}

function decodeAction(fields: FieldReader): ConsentRequest["action"] {
  const action = {
    tool: fields.text("tool"),
    server: fields.text("server"),
    category: fields.oneOf("category", CATEGORIES),
    riskLevel: fields.oneOf("risk_level", RISK_LEVELS),
    parameters: fields.raw("parameters"),
    description: fields.text("description"),
  };
  fields.done();
  return action;
}

/**
 * Reads the JSON of {@link encodeRequest} back, strictly. The result is frozen.
 *
 * @throws ConsentError `message_invalid`, naming the path: an unknown key, a wrong type, another
 *   version, or an end that is not within a week after the start.
 */
export function decodeRequest(wire: JsonValue): ConsentRequest {
  const fields = readFields(wire, "consent_request");
  fields.oneOf("type", ["consent_request"]);
  fields.oneOf("version", [MESSAGE_VERSION]);
  const policy = fields.object("policy");
  const approvers = fields.optionalTexts("approvers");
  const escalation = fields.optionalObjects("escalation")?.map(decodeStep);
  const request = {
    id: fields.text("id"),
    createdAtMs: fields.time("timestamp"),
    expiresAtMs: fields.time("expires_at"),
    agent: decodeAgent(fields.object("agent")),
    action: decodeAction(fields.object("action")),
    policy: {
      ruleId: policy.text("rule_id"),
      ruleName: policy.text("rule_name"),
      requiredLevel: policy.oneOf("required_level", RISK_LEVELS),
    },
    nonce: fields.text("nonce"),
    actionDigest: fields.text("action_digest"),
    text: fields.text("text", TEXT_UNITS_MAX),
    quorum: fields.integer("quorum", 1, 1_000),
    evidence: fields.oneOf("evidence", ["any", "passkey"] as const),
    offers: fields.objects("offers").map(decodeOffer),
    secrets: fields.texts("secrets"),
  };
  policy.done();
  fields.done();
  if (
    request.expiresAtMs - request.createdAtMs > ASK_TIMEOUT_MS_MAX ||
    request.expiresAtMs <= request.createdAtMs
  )
    throw new ConsentError(
      "message_invalid",
      `Cannot read "consent_request.expires_at": it is not within a week after "timestamp"`,
    );
  return Object.freeze({
    ...request,
    ...(approvers === undefined ? {} : { approvers }),
    ...(escalation === undefined ? {} : { escalation }),
  });
}

/**
 * Hash of the whole question with the text that was shown: `sha256:<hex>` over the canonical JSON
 * of {@link encodeRequest}.
 */
export function requestHash(request: ConsentRequest): string {
  return `sha256:${sha256Hex(canonicalJson(encodeRequest(request)))}`;
}
