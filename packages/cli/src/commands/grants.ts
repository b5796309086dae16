/**
 * `acp grants` and `acp grants revoke`: earlier consents that still hold, for every gate of the
 * home.
 */
import {
  ConsentError,
  escapeText,
  isGrantRevoked,
  revokeGrant,
  showScope,
  timeLeftMs,
} from "@acp/core";
import type { Claims, Grant, Grants, JsonObject } from "@acp/core";
import { machineClock } from "@acp/home";
import type { Home } from "@acp/home";
import { readAuditConfig } from "../logs/log-settings.js";
import type { Run } from "../command.js";
import { showDuration } from "../duration.js";
import { homeOf } from "../home/home-source.js";
import { homeClaims } from "../gate/home-store.js";
import { loggedGrants } from "../logs/logged-grants.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { createRollbackGuard, nothingSaved } from "../rollback/state-guard.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import type { Printer } from "../printer.js";

/** Runs `acp grants`. */
export const grantsList: Run = async (invocation) => {
  const { print } = invocation;
  const home = await homeOf(invocation);
  const guard = createRollbackGuard(home);
  guard.heed(nothingSaved, (text) => print.notice(text));
  const { grants, claims } = storesOf(home, guard);
  const live: Grant[] = [];
  for (const grant of (await grants.list()).filter(isLive))
    if (!(await isGrantRevoked(claims, grant.id))) live.push(grant);
  print.result({ grants: live.map(toJson) }, () =>
    live.length === 0
      ? ["No earlier consent is in force"]
      : live.map((grant) => describe(grant, print)),
  );
  return "ok";
};

/** Runs `acp grants revoke`. */
export const grantsRevoke: Run = async (invocation) => {
  const { operands, flags, print, io } = invocation;
  const [id] = operands;
  if ((id === undefined) === !flags.has("all"))
    throw new ConsentError(
      "options_invalid",
      "Cannot revoke: name one grant, acp grants revoke ID, or all of them with --all",
    );
  const home = await homeOf(invocation);
  await using audit = await openHomeAudit(home, { config: await readAuditConfig({ home, io }) });
  const guard = createRollbackGuard(home);
  guard.heed(
    (events) => audit.append(events),
    (text) => print.notice(text),
  );
  const { grants, claims } = storesOf(home, guard);
  const wanted = id === undefined ? (await grants.list()).map((grant) => grant.id) : [id];
  const revoked: string[] = [];
  for (const each of wanted)
    if ((await revokeGrant({ grants, claims, audit }, each, "acp grants revoke")) !== undefined)
      revoked.push(each);
  print.result({ revoked }, () =>
    revoked.map((each) => `${print.tone("green", "revoked")} ${each}`),
  );
  if (revoked.length > 0) return "ok";
  print.notice(
    id === undefined
      ? "There was nothing to revoke"
      : `There is no grant with the ID ${escapeText(id)}; acp grants shows them`,
  );
  return "nothing";
};

const storesOf = (
  home: Home,
  guard: RollbackGuard,
): { readonly grants: Grants; readonly claims: Claims } => ({
  grants: loggedGrants(home, { guard }),
  claims: homeClaims(home),
});

const isLive = (grant: Grant): boolean => leftMs(grant) > 0 && grant.usesLeft !== 0;

/**
 * Where the log ends is not looked up here: a gate may know that the wall clock was set back, and
 * then counts less.
 */
function leftMs({ createdAtMs, expiresAtMs, created }: Grant): number {
  return timeLeftMs(
    { fromMs: createdAtMs, untilMs: expiresAtMs, began: created },
    machineClock,
    createdAtMs,
  );
}

function describe(grant: Grant, print: Printer): string {
  const { id, agentId, scope, approverIds, usesLeft, requestId } = grant;
  const uses = usesLeft === undefined ? "" : `, ${usesLeft} ${usesLeft === 1 ? "use" : "uses"}`;
  const left = print.tone("dim", `${showDuration(leftMs(grant))}${uses} left, from ${requestId}`);
  return `${id}  ${escapeText(agentId)} may: ${showScope(scope)}  by ${approverIds.map(escapeText).join(", ")}  ${left}`;
}

/**
 * What a person wants to know of a grant: not the question and the answers that it carries, nor
 * what only a gate reads.
 */
function toJson({
  scope,
  created: _created,
  logged: _logged,
  mac: _mac,
  request: _request,
  responses: _responses,
  ...grant
}: Grant): JsonObject {
  return { ...grant, scope: { ...scope }, covers: showScope(scope) };
}
