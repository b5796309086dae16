/**
 * With a gate: one gate of a home, put together from its configuration, keys, logs, stores, policy
 * and channels, for as long as a proxy uses it.
 */
import { join } from "node:path";
import type { RecoverOptions } from "@acp/audit";
import { createTerminalChannel } from "@acp/channel-terminal";
import type { TerminalChannel } from "@acp/channel-terminal";
import { createConsentGate } from "@acp/core";
import type { AuditSink, ConsentGate, GateOptions, Layer, PausedEnd, Policy } from "@acp/core";
import { filePasskeys, machineClock, openRecordKey } from "@acp/home";
import type { Home } from "@acp/home";
import { createArgumentCheck } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import { openGuard } from "./guard.js";
import { openChannels } from "./channels/open-channels.js";
import { checkSeveral, configWarnings, gateOptionsOf } from "./config.js";
import type { HomeConfig } from "./config.js";
import { openGateSink } from "./gate-sink.js";
import type { HomeKeys } from "./home-keys.js";
import { checkWitnesses, lookAfterLogs } from "./home-logs.js";
import { openHomeStore } from "./home-store.js";
import type { HomeStore } from "./home-store.js";
import { createNotices, isolationMark, sayHow } from "./notices.js";
import type { AgentHost, Notices, Way } from "./notices.js";
import { createOtherGates } from "./other-gates.js";
import type { MoreGates } from "./other-gates.js";
import { findEnded, lastEventOf } from "./other-logs.js";
import { openPolicyInForce } from "./policy-in-force.js";
import { heedRotation } from "./rotated-keys.js";
import { removeStaleSockets } from "./stale-sockets.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { passkeyVerifier } from "./passkeys.js";
import { showsColour } from "../printer.js";
import { askAboutChanges } from "../servers/ask-change.js";
import { runDirectory } from "./run-directory.js";

/** What a gate is put together from. */
export interface WithGateParts {
  readonly invocation: Invocation;
  /** Aborts when the process is told to end. */
  readonly signal: AbortSignal;
  readonly home: Home;
  readonly source: HomeConfig;
  readonly homeKeys: HomeKeys;
  /** What is known of the agent's process, and what holds it. */
  readonly host: AgentHost | Promise<AgentHost>;
  /** Whose gate it is, in the log's notices. */
  readonly agentId: string;
  /** What passes through it. */
  readonly ways: readonly Way[];
  readonly defaultOffers?: GateOptions["defaultOffers"];
  /** What judges instead of the home's policy, which then says nothing. */
  readonly layers?: readonly Layer[];
}

/** A gate in use. */
export interface GateInUse extends MoreGates {
  readonly gate: ConsentGate;
  /** What the gate judges before any policy. */
  readonly guard: Layer;
  readonly notices: Notices;
  /** Where the gate writes. */
  readonly log: AuditSink;
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
export async function withGate<T>(
  parts: WithGateParts,
  use: (inUse: GateInUse) => Promise<T>,
): Promise<T> {
  const { invocation, home, source, homeKeys, layers = [] } = parts;
  const { print } = invocation;
  // Before the logs: what an earlier process left open and this or another one shows again has not
  // ended.
  const recordKey = await openRecordKey(home, homeKeys.keys);
  await using kept = await openHomeStore(home, recordKey);
  const settings = { config: source.config?.audit, recover: recoverOf(home, kept) };
  await checkWitnesses(home, settings);
  // Also before the logs: opening them writes events of now.
  const lastEventMs = await lastEventOf(home);
  await using audit = await openHomeAudit(home, settings);
  const { notices, isolation } = await openNotices(parts, audit);
  sayIgnored(notices, kept);
  await using _logs = await lookAfterLogs({ home, audit, settings, notices, print });
  await using written = await openGateSink(audit, settings.config, print);
  await sayMissing(notices, parts);
  const named = { file: source.policyFile, mustExist: source.isPolicyNamed };
  const policy =
    parts.layers === undefined ? { policy: await policyOf(parts, notices, named) } : {};
  const gates = new Set<ConsentGate>();
  const { makeTerminal, attached } = await terminalMaker(parts, notices, () => endPausedOf(gates));
  await using channels = await openChannels({
    source,
    keys: homeKeys.keys,
    claims: kept.store.claims,
    notices,
    makeTerminal,
  });
  const passkeys = filePasskeys(home.passkeysPath);
  const guard = await openGuard({ home, source, invocation });
  using rotation = heedRotation({ home, ...homeKeys, notices });
  const options = {
    layers: [guard, askAboutChanges, ...layers],
    channel: channels.channel,
    audit: written.sink,
    store: kept.store,
    clock: machineClock,
    recordKey,
    ...(lastEventMs !== undefined && { lastEventMs }),
    argumentCheck: createArgumentCheck({ log: (line) => print.notice(line) }),
    verifiers: [passkeyVerifier(() => passkeys.list())],
    isolation,
    ...(parts.defaultOffers !== undefined && { defaultOffers: parts.defaultOffers }),
    ...rotation.options,
    ...gateOptionsOf(source),
  };
  await using others = createOtherGates(gates, {
    options: { ...policy, ...options },
    policyOf: (file) => policyOf(parts, notices, { file, mustExist: true }),
  });
  await using gate = createConsentGate({ ...policy, ...options });
  gates.add(gate);
  await askAgain(gate, print);
  const { gateWith, gateFor } = others;
  return await use({ gate, guard, notices, log: written.sink, attached, gateWith, gateFor });
}

/** Asks again what an earlier gate of this home left open. */
async function askAgain(gate: ConsentGate, print: Invocation["print"]): Promise<void> {
  const count = await gate.resume();
  if (count > 0) print.notice(`${count} questions that an earlier gate left open are asked again`);
}

/** What the log takes for open, rather than cut off by the end of an earlier process. */
function recoverOf(home: Home, { known }: HomeStore): RecoverOptions {
  return {
    pendingIds: known.held,
    untakenIds: known.untaken,
    endedElsewhere: (ids, isEnd) => findEnded(home, ids, isEnd),
  };
}

/** The notices of this gate, the first of which says how the agent is held. */
async function openNotices(
  { invocation, host: asked, agentId, ways }: WithGateParts,
  audit: AuditSink,
): Promise<{ readonly notices: Notices; readonly isolation: string }> {
  const host = await asked;
  const isolation = isolationMark(host.sandbox);
  const notices = createNotices({ print: invocation.print, audit, agent: agentId, isolation });
  await sayHow(notices, host, ways);
  return { notices, isolation };
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
 * What is in the home's stores and no gate of it wrote: it does not count, and somebody should
 * know.
 */
function sayIgnored(notices: Notices, { ignored, onIgnoredGrants }: HomeStore): void {
  const why =
    "no gate with this home's key wrote them; they come from an older version or another key, or somebody changed them";
  if (ignored > 0)
    notices.tell("records_ignored", `${ignored} lines of saved questions are ignored: ${why}`);
  onIgnoredGrants((count) =>
    notices.tell(
      "records_ignored",
      `${count} entries of the grants file are not grants: somebody changed the file`,
    ),
  );
}

/**
 * @throws ConsentError `config_invalid` where a rule asks several people and the configuration
 * names nobody.
 */
async function policyOf(
  { home, invocation: { io }, signal, source }: WithGateParts,
  notices: Notices,
  which: { readonly file: string; readonly mustExist: boolean },
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

/** What the gates of this process ended together. */
async function endPausedOf(gates: ReadonlySet<ConsentGate>): Promise<PausedEnd> {
  const ends = await Promise.all(Array.from(gates, (gate) => gate.endPaused()));
  return {
    ended: ends.reduce((sum, { ended }) => sum + ended, 0),
    left: ends.reduce((sum, { left }) => sum + left, 0),
  };
}

/**
 * Makes the terminal's channel with its approve socket; sockets of dead gates are removed first.
 */
async function terminalMaker(
  { home, invocation: { io, flags } }: WithGateParts,
  notices: Notices,
  endPaused: () => Promise<PausedEnd>,
): Promise<{
  readonly makeTerminal: () => TerminalChannel;
  readonly attached: () => number | undefined;
}> {
  const directory = runDirectory(home.dir);
  await removeStaleSockets(directory, Date.now());
  let made: TerminalChannel | undefined;
  const options = {
    terminal: flags.has("tty") ? "/dev/tty" : (false as const),
    socketPath: join(directory, `${io.pid}.sock`),
    color: showsColour({ isTTY: true, write: () => true }, io.env),
    endPaused,
    warn: (text: string) => notices.tell("socket_failed", text),
  };
  return {
    makeTerminal: () => (made = createTerminalChannel(options)),
    attached: () => made?.attached(),
  };
}
