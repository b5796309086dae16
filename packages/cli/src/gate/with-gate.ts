/**
 * With a gate: one gate of a home, put together from its configuration, keys, logs, stores, policy
 * and channels, for as long as a proxy uses it.
 */
import { createConsentGate } from "@acp/core";
import type { AuditSink, ConsentGate, Layer, Policy, ResumeOptions } from "@acp/core";
import { machineClock } from "@acp/home";
import { createArgumentCheck } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import { openGuard } from "./guard.js";
import { loggedOf } from "./forwarded.js";
import { checkSeveral, configWarnings, gateOptionsOf } from "./config.js";
import { sayConfig } from "./config-in-force.js";
import type { Notices } from "./notices.js";
import { createOtherGates } from "./other-gates.js";
import type { MoreGates } from "./other-gates.js";
import { openPolicyInForce } from "./policy-in-force.js";
import type { PolicyParts } from "./policy-in-force.js";
import { heedRotation } from "./rotated-keys.js";
import { passkeyVerifier } from "./passkeys.js";
import { withSharedGate } from "./shared-gate.js";
import type { SharedGate, WithGateParts } from "./shared-gate.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { guardedPasskeys } from "../logs/logged-passkeys.js";
import { askAboutChanges } from "../servers/ask-change.js";

/** A gate in use. */
export interface GateInUse extends MoreGates {
  readonly gate: ConsentGate;
  /** What the gate judges before any policy. */
  readonly guard: Layer;
  readonly notices: Notices;
  /** Holds the files that carry consent against the home's logs. */
  readonly rollback: RollbackGuard;
  /** Where the gate writes. */
  readonly log: AuditSink;
  /**
   * Has a listener called after another policy came into force, of this gate or of another one of
   * `gateWith`; returns how to end that.
   */
  onPolicyChange(listener: () => void): () => void;
  /**
   * How many clients of the approve socket can answer; `undefined` where questions go another way.
   */
  attached(): number | undefined;
}

/**
 * Opens the gate, uses it, and closes it.
 *
 * @throws ConsentError what a part of the home throws that does not load; what `use` throws.
 */
export function withGate<T>(
  parts: WithGateParts,
  use: (inUse: GateInUse) => Promise<T>,
): Promise<T> {
  return withSharedGate(parts, (shared) => withGateOf(shared, parts, use));
}

/**
 * Opens one gate on what the gates of this process share, uses it, and closes it.
 *
 * @param shared - With the notices, the mark and the store of this gate.
 * @throws ConsentError as {@link withGate}.
 */
export async function withGateOf<T>(
  shared: SharedGate,
  parts: WithGateParts,
  use: (inUse: GateInUse) => Promise<T>,
): Promise<T> {
  const { invocation, home, source, homeKeys, layers = [] } = parts;
  const { print } = invocation;
  const { notices, isolation, kept, sink, recordKey, lastEventMs, gates, attached } = shared;
  await sayMissing(notices, parts);
  await sayConfig(notices, home.dir, source);
  const listeners = new Set<() => void>();
  const reload = (): void => {
    for (const listener of listeners) listener();
  };
  const named = { file: source.policyFile, mustExist: source.isPolicyNamed, onReload: reload };
  const policy =
    parts.layers === undefined ? { policy: await policyOf(parts, notices, named) } : {};
  const passkeys = guardedPasskeys(home, kept.guard);
  const guard = await openGuard({ home, source, invocation });
  using rotation = heedRotation({ home, ...homeKeys, notices });
  const options = {
    layers: [guard, askAboutChanges, ...layers],
    channel: shared.channel,
    audit: sink,
    store: kept.store,
    clock: machineClock,
    recordKey,
    ...(lastEventMs !== undefined && { lastEventMs }),
    argumentCheck: createArgumentCheck({ log: (line) => print.notice(line) }),
    verifiers: [passkeyVerifier(() => passkeys.list())],
    isolation,
    ...(parts.defaultOffers !== undefined && { defaultOffers: parts.defaultOffers }),
    ...(parts.questionRoom !== undefined && { questionRoom: parts.questionRoom }),
    ...rotation.options,
    ...gateOptionsOf(source),
  };
  await using others = createOtherGates(gates, {
    options: { ...policy, ...options },
    policyOf: (file) => policyOf(parts, notices, { file, mustExist: true, onReload: reload }),
  });
  await using gate = createConsentGate({ ...policy, ...options });
  gates.add(gate);
  try {
    await askAgain(gate, { print, logged: await loggedOf(home.dir, kept.store.pending) });
    const { gateWith, gateFor } = others;
    const { guard: rollback } = kept;
    const onPolicyChange = (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
    const inUse = { gate, guard, notices, rollback, log: sink, attached, onPolicyChange };
    return await use({ ...inUse, gateWith, gateFor });
  } finally {
    gates.delete(gate);
  }
}

/** Asks again what an earlier gate of this home left open. */
async function askAgain(
  gate: ConsentGate,
  { print, logged }: Pick<Invocation, "print"> & { readonly logged: ResumeOptions },
): Promise<void> {
  const count = await gate.resume(logged);
  if (count > 0) print.notice(`${count} questions that an earlier gate left open are asked again`);
}

/** What the home lacks, or sets so that it may surprise. */
async function sayMissing(notices: Notices, { homeKeys, source }: WithGateParts): Promise<void> {
  if (homeKeys.keys === undefined)
    await notices.say(
      "unsigned",
      "This home has no keys: answers are not signed and there is no vault; acp init creates them",
    );
  for (const warning of configWarnings(source)) notices.tell("config_warning", warning);
}

/**
 * @throws ConsentError `config_invalid` where a rule asks several people and the configuration
 * names nobody.
 */
async function policyOf(
  { home, invocation: { io }, signal, source }: WithGateParts,
  notices: Notices,
  which: Pick<PolicyParts, "file" | "mustExist" | "onReload">,
): Promise<() => Policy> {
  const policy = await openPolicyInForce({
    ...which,
    homeDir: home.dir,
    home: io.userHome,
    cwd: io.cwd,
    notices,
    signal,
  });
  await checkSeveral(policy(), { ...source, policyFile: which.file });
  return policy;
}
