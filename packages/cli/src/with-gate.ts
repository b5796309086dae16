/**
 * With a gate: one gate of a home, put together from its configuration, keys, logs, stores, policy and channels, for as long as a proxy uses it.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { RecoverOptions } from "@acp/audit";
import { createTerminalChannel } from "@acp/channel-terminal";
import type { TerminalChannel } from "@acp/channel-terminal";
import { ConsentError, createConsentGate } from "@acp/core";
import type { ConsentGate, GateOptions, Policy } from "@acp/core";
import { filePasskeys, openHome } from "@acp/home";
import type { Home } from "@acp/home";
import type { Invocation } from "./command.js";
import { openChannels } from "./mcp/channels.js";
import { configWarnings, gateOptionsOf } from "./mcp/config.js";
import type { HomeConfig } from "./mcp/config.js";
import { openGateSink } from "./mcp/gate-sink.js";
import type { HomeKeys } from "./mcp/home-keys.js";
import { checkWitnesses, lookAfterLogs } from "./mcp/home-logs.js";
import { openHomeStore } from "./mcp/home-store.js";
import { createNotices, isolationMark, sayHow } from "./mcp/notices.js";
import type { AgentHost, Notices, Way } from "./mcp/notices.js";
import { findEnded } from "./mcp/other-logs.js";
import { openPolicyInForce } from "./mcp/policy-in-force.js";
import { heedRotation } from "./mcp/rotated-keys.js";
import { removeStaleSockets } from "./mcp/stale-sockets.js";
import { openHomeAudit } from "./open-audit.js";
import { passkeyVerifier } from "./passkeys.js";
import { showsColour } from "./printer.js";
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
  readonly host: AgentHost;
  /** Whose gate it is, in the log's notices. */
  readonly agentId: string;
  /** What passes through it. */
  readonly ways: readonly Way[];
  readonly defaultOffers?: GateOptions["defaultOffers"];
}

/** A gate in use. */
export interface GateInUse {
  readonly gate: ConsentGate;
  readonly notices: Notices;
  /** One more gate, which differs in its policy alone: the file's, which must be there. */
  gateWith(policyFile: string): Promise<ConsentGate>;
}

/** A gate works without `acp init`: the directory is all that it needs. */
export async function makeHome(directory: string): Promise<Home> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new ConsentError("home_invalid", `Cannot make home "${directory}": ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  return openHome(directory);
}

/**
 * Opens the gate, uses it, and closes it.
 *
 * @throws ConsentError what a part of the home throws that does not load; what `use` throws.
 */
export async function withGate<T>(parts: WithGateParts, use: (inUse: GateInUse) => Promise<T>): Promise<T> {
  const { invocation, home, source, homeKeys, host, agentId, ways } = parts;
  const { print } = invocation;
  // Before the logs: what an earlier process left open and this or another one shows again has not ended.
  await using kept = await openHomeStore(home);
  const recover: RecoverOptions = { pendingIds: kept.heldOpen, endedElsewhere: (ids) => findEnded(home, ids) };
  const settings = { config: source.config?.audit, recover };
  await checkWitnesses(home, settings);
  await using audit = await openHomeAudit(home, settings);
  const isolation = isolationMark(host.sandbox);
  const notices = createNotices({ print, audit, agent: agentId, isolation });
  await sayHow(notices, host, ways);
  await using _logs = await lookAfterLogs({ home, audit, settings, notices, print });
  await using written = await openGateSink(audit, settings.config, print);
  if (homeKeys.keys === undefined)
    await notices.say("unsigned", "No keys: answers are not signed and there is no vault; make them with acp init");
  for (const warning of configWarnings(source)) notices.tell("config_warning", warning);
  const policy = await policyOf(parts, notices, { file: source.policyFile, mustExist: source.isPolicyNamed });
  const makeTerminal = await terminalMaker(home, invocation, notices);
  await using channels = await openChannels({ source, keys: homeKeys.keys, claims: kept.store.claims, notices, makeTerminal });
  const passkeys = filePasskeys(home.passkeysPath);
  const options = {
    channel: channels.channel,
    audit: written.sink,
    store: kept.store,
    verifiers: [passkeyVerifier(() => passkeys.list())],
    isolation,
    ...(parts.defaultOffers !== undefined && { defaultOffers: parts.defaultOffers }),
    ...heedRotation({ home, ...homeKeys, notices }),
    ...gateOptionsOf(source),
  };
  await using others = keepGates(async (file) =>
    createConsentGate({ policy: await policyOf(parts, notices, { file, mustExist: true }), ...options }),
  );
  await using gate = createConsentGate({ policy, ...options });
  const shownAgain = await gate.resume();
  if (shownAgain > 0) print.notice(`${shownAgain} questions that an earlier gate left open are asked again`);
  return await use({ gate, notices, gateWith: (file) => others.open(file) });
}

function policyOf(
  { invocation: { io }, signal }: WithGateParts,
  notices: Notices,
  which: { readonly file: string; readonly mustExist: boolean },
): Promise<() => Policy> {
  return openPolicyInForce({ ...which, home: io.userHome, cwd: io.cwd, notices, signal });
}

interface KeptGates extends AsyncDisposable {
  open(file: string): Promise<ConsentGate>;
}

/** Gates that are closed together. */
function keepGates(make: (file: string) => Promise<ConsentGate>): KeptGates {
  const gates: ConsentGate[] = [];
  return {
    async open(file) {
      const gate = await make(file);
      gates.push(gate);
      return gate;
    },
    async [Symbol.asyncDispose]() {
      for (const gate of gates) await gate.close();
    },
  };
}

/** Makes the terminal's channel with its approve socket; sockets of dead gates are removed first. */
async function terminalMaker(home: Home, { io, flags }: Invocation, notices: Notices): Promise<() => TerminalChannel> {
  const directory = runDirectory(home.dir);
  await removeStaleSockets(directory, Date.now());
  return () =>
    createTerminalChannel({
      terminal: flags.has("tty") ? "/dev/tty" : false,
      socketPath: join(directory, `${io.pid}.sock`),
      color: showsColour({ isTTY: true, write: () => true }, io.env),
      warn: (text) => notices.tell("socket_failed", text),
    });
}
