/**
 * Shared gate: what the gates of one process have of a home in common: its log, its channels with
 * their approve socket, and its record key. One process has one gate, or, as a resident, one a
 * client.
 */
import type { Socket } from "node:net";
import { join } from "node:path";
import type { RecoverOptions } from "@acp/audit";
import { createTerminalChannel } from "@acp/channel-terminal";
import type { TerminalChannel } from "@acp/channel-terminal";
import { asError } from "@acp/core";
import type {
  AuditSink,
  Channel,
  ConsentGate,
  GateOptions,
  Layer,
  PausedEnd,
  PendingRecord,
  QuestionRoom,
} from "@acp/core";
import { openRecordKey } from "@acp/home";
import type { Home, PendingFiles } from "@acp/home";
import type { Invocation } from "../command.js";
import { openChannels } from "./channels/open-channels.js";
import { openGateSink } from "./gate-sink.js";
import { checkWitnesses, lookAfterLogs } from "./home-logs.js";
import type { HomeConfig } from "./config.js";
import type { HomeKeys } from "./home-keys.js";
import { openHomeStore } from "./home-store.js";
import type { HomeStore } from "./home-store.js";
import { createNotices, isolationMark, sayHow } from "./notices.js";
import type { AgentHost, Notices, Way } from "./notices.js";
import { findEnded, lastEventOf } from "./other-logs.js";
import { patrolLogs } from "./patrol-log.js";
import { runDirectory } from "./run-directory.js";
import { removeStaleSockets } from "./stale-sockets.js";
import { latchLog } from "../logs/log-latch.js";
import { openHomeAudit } from "../logs/open-audit.js";
import type { RollbackGuard } from "../rollback/state-guard.js";
import { settleStates } from "../rollback/settle-states.js";
import { showsColour } from "../printer.js";

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
  /** What its open questions need a place of, beside the gate's own limits. */
  readonly questionRoom?: QuestionRoom;
  /** The file name of its approve socket. Default: the process's ID and `.sock`. */
  readonly socketName?: string;
  /** Whether who connected to that socket may be heard. Default: everybody who can open it. */
  readonly admits?: (socket: Socket) => Promise<boolean>;
  /** What the process took over from dead ones, where it did so already. */
  readonly left?: PendingFiles;
  /**
   * Whether a question of a call without an id is this gate's, where a dead process left it.
   * Default: where its agent is.
   */
  readonly isOwnQuestion?: (record: PendingRecord) => boolean;
}

/** What a gate is made of, apart from whose it is. */
export interface SharedGate {
  /** Of one gate. */
  readonly notices: Notices;
  /** Of one gate: how its agent is held, in each of its events. */
  readonly isolation: string;
  /** Of one gate. */
  readonly kept: HomeStore;
  /** Where gates write. */
  readonly sink: AuditSink;
  /** Where notices are written. */
  readonly audit: AuditSink;
  readonly recordKey: Uint8Array;
  readonly lastEventMs: number | undefined;
  readonly channel: Channel;
  /** Every gate of the process. */
  readonly gates: Set<ConsentGate>;
  /**
   * How many clients of the approve socket can answer; `undefined` where questions go another way.
   */
  attached(): number | undefined;
}

/**
 * Opens it, uses it, and closes it.
 *
 * @throws ConsentError what a part of the home throws that does not load; what `use` throws.
 */
export async function withSharedGate<T>(
  parts: WithGateParts,
  use: (shared: SharedGate) => Promise<T>,
): Promise<T> {
  const { invocation, home, source, homeKeys } = parts;
  const { print } = invocation;
  // Before the logs: what an earlier process left open and this or another one shows again has not
  // ended.
  const recordKey = await recordKeyOf(home, homeKeys);
  const { noted } = homeKeys;
  await using kept = await openHomeStore(home, recordKey, { noted, left: parts.left });
  const settings = { config: source.config?.audit, recover: recoverOf(home, kept) };
  await checkWitnesses(home, settings);
  // Also before the logs: opening them writes events of now.
  const lastEventMs = await lastEventOf(home);
  await using audit = await openHomeAudit(home, settings);
  noted?.own(audit);
  const { notices, isolation } = await openNotices(parts, audit);
  sayIgnored(notices, kept);
  heedGuard(kept.guard, audit, notices);
  if (homeKeys.guard !== undefined) heedGuard(homeKeys.guard, audit, notices);
  await settleStates(home, (events) => audit.append(events), homeKeys).catch(
    // A gate starts nonetheless: what it cannot hold against the logs does not count there.
    (error: unknown) => notices.tell("log_failed", asError(error).message),
  );
  await using _patrol = patrolLogs({
    home,
    own: audit.path,
    async onFault(path, bad) {
      await (path === audit.path ? audit.latch(bad) : latchLog(path, bad, Date.now()));
      print.notice(
        `${path}: ${bad.file ?? ""} line ${bad.line} is broken: ${bad.message} (${bad.code}); nothing is allowed until a person runs: acp doctor --fix`,
      );
    },
  });
  await using _logs = await lookAfterLogs({ home, audit, settings, notices, print });
  await using written = await openGateSink(audit, settings.config, print);
  const gates = new Set<ConsentGate>();
  const { makeTerminal, attached } = await terminalMaker(parts, notices, () => endPausedOf(gates));
  await using channels = await openChannels({
    source,
    keys: homeKeys.keys,
    claims: kept.store.claims,
    notices,
    makeTerminal,
  });
  const { channel } = channels;
  const { sink } = written;
  const known = { recordKey, lastEventMs, isolation };
  return await use({ ...known, notices, kept, audit, sink, channel, gates, attached });
}

/** The key of now of what gates of the home keep. */
export async function recordKeyOf(home: Home, { ring, keys }: HomeKeys): Promise<Uint8Array> {
  return ring?.recordKey() ?? (await openRecordKey(home, keys));
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
export async function openNotices(
  { invocation, host: asked, agentId, ways }: WithGateParts,
  audit: AuditSink,
): Promise<{ readonly notices: Notices; readonly isolation: string }> {
  const host = await asked;
  const isolation = isolationMark(host.sandbox);
  const notices = createNotices({ print: invocation.print, audit, agent: agentId, isolation });
  await sayHow(notices, host, ways);
  return { notices, isolation };
}

/**
 * What is in the home's stores and no gate of it wrote: it does not count, and somebody should
 * know.
 */
export function sayIgnored(
  notices: Notices,
  { ignored, onIgnoredGrants }: Pick<HomeStore, "ignored" | "onIgnoredGrants">,
): void {
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

/** What does not count is said, and saves are noted in this gate's log. */
export function heedGuard(guard: RollbackGuard, audit: AuditSink, notices: Notices): void {
  guard.heed(
    (events) => audit.append(events),
    (text) => notices.tell("rolled_back", text),
  );
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
  { home, invocation: { io, flags }, socketName = `${io.pid}.sock`, admits }: WithGateParts,
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
    socketPath: join(directory, socketName),
    color: showsColour({ isTTY: true, write: () => true }, io.env),
    endPaused,
    ...(admits !== undefined && { admits }),
    warn: (text: string) => notices.tell("socket_failed", text),
  };
  return {
    makeTerminal: () => (made = createTerminalChannel(options)),
    attached: () => made?.attached(),
  };
}
