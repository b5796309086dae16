/**
 * Serve a run: the gate of an agent that a client of the resident holds. The client keeps the
 * sandbox, the terminal, the workspace and ports; only the bytes of the agent's connections come
 * here. What it says of itself is its word. Format: spec/resident.md §4.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { ConsentError, isConsentError } from "@acp/core";
import type { Home } from "@acp/home";
import { joinView } from "@acp/sandbox-linux";
import type { Invocation } from "../command.js";
import type { GatesOfHome } from "../commands/mcp.js";
import { openEnvironments, readHomeConfig } from "../gate/config.js";
import type { HomeConfig } from "../gate/config.js";
import type { HomeKeys } from "../gate/home-keys.js";
import { createNotices, isolationMark } from "../gate/notices.js";
import type { GateInUse } from "../gate/with-gate.js";
import { makeHome } from "../home/make-home.js";
import { ownHomePath } from "../home/home-source.js";
import { hostOffers, modelOffers } from "../http/settings.js";
import { readKnownPlaces } from "../run/known-places.js";
import { openRunGate } from "../run/open-run-gate.js";
import type { OpenedRunGate } from "../run/open-run-gate.js";
import { modelTunnels } from "../run/model-hosts.js";
import { ownPackages } from "../run/own-packages.js";
import { ownPaths } from "../run/own-paths.js";
import { readPlan } from "../run/plan.js";
import type { RunPlan } from "../run/plan.js";
import { agentOfRun, hostOfRun, tellApprovers } from "../run/run-gate.js";
import { checkAgentId } from "../servers/agent-id.js";
import type { Door, Doors } from "./doors.js";
import { lockedWait, needsPassphrase } from "./locked.js";
import type { RunClient } from "./run-client.js";
import type { HeldRun, RunNote } from "./run-frames.js";

/** What a run is served with. */
export interface ServeRunParts {
  readonly gates: GatesOfHome;
  readonly doors: Doors;
  readonly run: RunClient;
}

/** The door of the agent's connections, and that of its standard input and output. */
export const RUN_DOORS = { agent: "agent", mcp: "mcp" } as const;
/** Whoever gives way to another resident ends by itself before this is over. */
const HELD_MS = 60_000;

/**
 * Serves it until the client goes.
 *
 * @throws ConsentError what a home throws that does not load; what servers throw that cannot be
 *   held; `key_locked` where a person has to unlock the key.
 */
export async function serveRun(invocation: Invocation, parts: ServeRunParts): Promise<void> {
  const { io, values } = invocation;
  if (values.agent !== undefined) checkAgentId(values.agent);
  const held = await parts.run.held;
  const home = await makeHome(ownHomePath(invocation));
  const source = await readHomeConfig(home, invocation);
  const plan = await planOf(invocation, held, home);
  const homeKeys = await openKeys(invocation, parts, home);
  const agentId = agentOfRun(invocation, plan).id;
  const tunnels = modelTunnels({ plan, io });
  await parts.gates.withGate(
    {
      invocation,
      signal: io.onStop(),
      home,
      source,
      homeKeys,
      host: hostOfRun(held.report),
      agentId,
      ways: ["http", "mcp"],
      defaultOffers: modelOffers(hostOffers(io.env, source), tunnels),
    },
    (inUse) => serveHeld({ ...parts, invocation, held, home, source, plan, homeKeys, inUse }),
  );
}

/** As the client's command line says it, in the workspace that it holds. */
async function planOf(
  invocation: Invocation,
  { workspace }: HeldRun,
  home: Home,
): Promise<RunPlan> {
  const { workspace: _named, ...plan } = readPlan(invocation);
  if (workspace === undefined) return plan;
  if (workspace.access !== "read-write") return { ...plan, workspace };
  const known = await readKnownPlaces(home, workspace.path);
  return { ...plan, workspace: { ...workspace, known } };
}

async function openKeys(
  invocation: Invocation,
  { gates }: ServeRunParts,
  home: Home,
): Promise<HomeKeys> {
  try {
    return await gates.keys(home, invocation);
  } catch (error) {
    if (!isConsentError(error, "key_locked") || !(await needsPassphrase(invocation))) throw error;
    const { code, message } = lockedWait(invocation, undefined);
    throw new ConsentError("key_locked", typeof message === "string" ? message : code, {
      cause: error,
    });
  }
}

interface ServeHeldParts extends ServeRunParts {
  readonly invocation: Invocation;
  readonly held: HeldRun;
  readonly home: Home;
  readonly source: HomeConfig;
  readonly plan: RunPlan;
  readonly homeKeys: HomeKeys;
  readonly inUse: GateInUse;
}

async function serveHeld(parts: ServeHeldParts): Promise<void> {
  const { invocation, held, home, source, plan, homeKeys, inUse, gates, doors, run } = parts;
  const { io } = invocation;
  const signal = io.onStop();
  // Nobody is left who could use a server, and nothing that could be shown to one.
  const hasEnded = held.state === "ended";
  const servers = await openEnvironments(hasEnded ? [] : (source.config?.servers ?? []), {
    file: source.file,
    keys: homeKeys.keys,
    env: {},
  });
  using view = held.view === undefined || hasEnded ? undefined : joinView(held.view);
  if (held.state === "held") tellApprovers(invocation, home, source);
  await using opened = await openRunGate({
    invocation,
    plan,
    home,
    source,
    homeKeys,
    servers,
    hidden: joined(held.hidden, await ownPaths({ home, source, invocation })),
    programs: joined(held.programs, ownPackages()),
    agent: agentOfRun(invocation, plan),
    tunnels: modelTunnels({ plan, io }),
    inUse,
    report: held.report,
    view: view?.view,
    signal,
    isQuiet: held.isQuiet,
    shared: gates,
  });
  doors.held.addEventListener("abort", () => opened.drain(HELD_MS), { once: true });
  run.onNote((note) => takeNote(note, parts));
  await doors.open(doorsOf(opened, parts));
  if (held.state === "held") await opened.ready();
  run.go();
  io.stdin.resume();
  await Promise.race([once(io.stdin, "end", { signal }), aborted(signal)]).catch(() => undefined);
  // What was shown of the overlay is over before anybody looks at what is in it.
  await opened.endServers();
  view?.[Symbol.dispose]();
  run.ended();
  await aborted(signal);
}

function doorsOf(opened: OpenedRunGate, { invocation, held, plan }: ServeHeldParts): Door[] {
  const speak = async (socket: Socket): Promise<void> => {
    const why = await opened.speakMcp({ input: socket, output: socket });
    if (why !== undefined && !held.isQuiet) invocation.print.notice(why);
    socket.destroySoon();
  };
  const agent: Door = { name: RUN_DOORS.agent, port: 0, take: (socket) => opened.attach(socket) };
  if (!plan.speaksMcp) return [agent];
  return [agent, { name: RUN_DOORS.mcp, port: 0, take: (socket) => void speak(socket) }];
}

/** Into the log that counts what this client writes; its own process tells the person. */
async function takeNote({ code, text }: RunNote, parts: ServeHeldParts): Promise<void> {
  const { invocation, plan, held, inUse, gates } = parts;
  const agentId = agentOfRun(invocation, plan).id;
  const room = gates.roomOf?.(agentId);
  const place = room?.enter({ bytes: Buffer.byteLength(text), isCall: true });
  if (place !== undefined && "full" in place)
    throw new ConsentError("audit_failed", `Cannot log what the run says: ${place.full}`);
  try {
    const notices = createNotices({
      print: invocation.print,
      audit: inUse.log,
      agent: agentId,
      isolation: isolationMark(held.report),
    });
    await notices.log(code, text);
  } finally {
    place?.leave();
  }
}

const joined = (some: readonly string[], others: readonly string[]): readonly string[] => [
  ...new Set([...some, ...others]),
];

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
