/**
 * Locked: what a session answers while the home's keys need a passphrase that nobody has typed, or
 * the index of its logs is being made anew. What the policy or the guard denies is denied as ever;
 * everything else is answered at once with `key_locked`, whose remedy is `acp unlock`, or with
 * `index_rebuilding`. No gate and no log is open: both need the key and the index.
 */
import { DENY_CODES, createConsentGate, toolAction } from "@acp/core";
import type { Action, ConsentGate, Denied } from "@acp/core";
import { openHome, readPolicyFile, readUnlockKind } from "@acp/home";
import { refuseMcp } from "@acp/proxy-mcp";
import type { Invocation } from "../command.js";
import { AGENT_ID } from "../commands/mcp.js";
import { chooseServers, readHomeConfig } from "../gate/config.js";
import { openGuard } from "../gate/guard.js";
import { BUILT_IN_POLICY } from "../gate/policy-in-force.js";
import { exists } from "../home/exists.js";
import type { IndexRebuild } from "../logs/index-rebuild.js";
import { ownHomePath } from "../home/home-source.js";

/** Between the name of a server and that of its tool, where there are several. */
const SEPARATOR = "__";

/** Whether a passphrase is missing, rather than a file that is not the key's. */
export async function needsPassphrase(invocation: Invocation): Promise<boolean> {
  try {
    return (await readUnlockKind(await openHome(ownHomePath(invocation)))) === "passphrase";
  } catch {
    return false;
  }
}

/** Why nothing runs yet. */
export interface Wait {
  readonly code: "key_locked" | "index_rebuilding";
  readonly message: string | (() => string);
  /** Hears of each tool call; all are denied. */
  readonly onDenied?: ((agentId: string) => void) | undefined;
}

/** A key that a person has to unlock. */
export const lockedWait = (invocation: Invocation, onDenied: Wait["onDenied"]): Wait => ({
  code: "key_locked",
  onDenied,
  message: `The ACP gate's key is locked, so nothing runs. A person has to run: acp unlock --home ${ownHomePath(invocation)}. Then call again`,
});

/** An index that is being made. */
export const rebuildingWait = (
  { percent }: Pick<IndexRebuild, "percent">,
  onDenied: Wait["onDenied"],
): Wait => ({
  code: "index_rebuilding",
  onDenied,
  message: () =>
    `The index of the audit logs is being rebuilt, so nothing runs: ${percent() ?? 100} % are done. Call again later`,
});

/** Answers a client until it goes or the signal aborts. */
export type ServeLocked = (
  invocation: Invocation,
  wait: Wait,
  signal: AbortSignal,
) => Promise<void>;

/** The same for an MCP client. */
export const serveLocked: ServeLocked = async (invocation, { code, message, onDenied }, signal) => {
  const { io, values } = invocation;
  const judge = await openToolJudge(invocation);
  await refuseMcp({
    input: io.stdin,
    output: io.stdout,
    code,
    message,
    isRetryable: true,
    judge(name, args) {
      onDenied?.(values.agent ?? AGENT_ID);
      return judge(name, args);
    },
    signal,
  });
  io.stdin.destroy();
};

/** The denial that a call gets whoever unlocks the key. */
export type LockedJudge = (action: Action, agentId: string) => Denied | undefined;

/**
 * Opens what denies while the key is locked. What cannot be read denies nothing by itself, and
 * everything is denied then.
 */
export const openLockedJudge = (invocation: Invocation): Promise<LockedJudge> =>
  openJudge(invocation).catch(() => () => undefined);

/** The same for tools by the names that clients know. */
export async function openToolJudge(
  invocation: Invocation,
): Promise<(name: string, args: unknown) => Denied | undefined> {
  const judge = await openLockedJudge(invocation);
  const names = await serverNames(invocation).catch(() => []);
  const agentId = invocation.values.agent ?? AGENT_ID;
  return (name, args) => {
    try {
      return judge(toolAction(...whichTool(name, names), args), agentId);
    } catch {
      return undefined;
    }
  };
}

async function serverNames(invocation: Invocation): Promise<readonly string[]> {
  const home = await openHome(ownHomePath(invocation));
  const source = await readHomeConfig(home, invocation);
  return chooseServers(source, invocation).map(({ name }) => name);
}

async function openJudge(invocation: Invocation): Promise<LockedJudge> {
  const { io } = invocation;
  const home = await openHome(ownHomePath(invocation));
  const source = await readHomeConfig(home, invocation);
  const { policyFile, isPolicyNamed } = source;
  const places = { home: io.userHome, cwd: io.cwd };
  const policy =
    isPolicyNamed || (await exists(policyFile))
      ? await readPolicyFile(policyFile, places)
      : BUILT_IN_POLICY;
  const guard = await openGuard({ home, source, invocation });
  // Only its judgement is asked for: nothing is written, and nobody is asked.
  const gate = createConsentGate({
    policy,
    layers: [guard],
    channel: { name: "none", deliver: () => Promise.reject(new Error("the key is locked")) },
    audit: { append: () => Promise.reject(new Error("the key is locked")) },
  });
  return (action, agentId) => denialOf(gate, action, agentId);
}

/** The server and the tool of a call. */
function whichTool(name: string, [only, ...others]: readonly string[]): readonly [string, string] {
  if (others.length === 0) return [only ?? "", name];
  const end = name.indexOf(SEPARATOR);
  return [name.slice(0, Math.max(0, end)), name.slice(end + SEPARATOR.length)];
}

function denialOf(gate: ConsentGate, action: Action, agentId: string): Denied | undefined {
  const { ruling, failure } = gate.evaluate(action, { agent: { id: agentId } });
  if (ruling.effect !== "deny" || failure !== undefined) return undefined;
  const { reason, ruleId } = ruling;
  const code = "policy_denied";
  return { decision: "deny", code, reason, ...DENY_CODES[code], ruleId };
}
