/**
 * Notices: what the operator must know about a running gate. Each goes to stderr and, as a
 * `gate_notice` event, into the log.
 */
import { isConsentError, logEvent, randomIds, systemClock } from "@acp/core";
import type { AuditEventInput, AuditSink, JsonObject, SandboxReport } from "@acp/core";
import { sharedUidNotice } from "@acp/channel-terminal";
import type { Printer } from "../printer.js";

/** Stable names of notices, for those who search a log. */
export type NoticeCode =
  | "isolation"
  | "isolation_advisory"
  | "isolation_none"
  | "resources"
  | "shared_uid"
  | "unsigned"
  | "keys_rotated"
  | "config_warning"
  | "config_loaded"
  | "config_reloaded"
  | "config_seen_before"
  | "policy_builtin"
  | "policy_loaded"
  | "policy_seen_before"
  | "policy_warning"
  | "policy_reloaded"
  | "policy_kept"
  | "log_failed"
  | "records_ignored"
  | "rolled_back"
  | "channel_warning"
  | "http_proxy"
  | "left_behind"
  | "held_replaced"
  | "host_ports"
  | "server_isolation"
  | "review"
  | "server_packages"
  | "server_authorization"
  | "server_changed"
  | "servers_changed"
  | "servers_kept"
  | "tools_seen"
  | "tools_changed"
  | "resources_unpinned"
  | "socket_failed"
  | "client_limited"
  | "denied_while_locked"
  | "denied_while_rebuilding";

/** What passes through a gate. */
export type Way = "mcp" | "http" | "hook";

/** What a gate has to say whose agent runs in no sandbox of ours. */
const ISOLATION_NOTICES: Readonly<Record<Way, string>> = {
  mcp: "No isolation: the gate sees what the client sends to its MCP servers, but nothing that the agent does without them",
  http: "No isolation: the gate sees what programs send to its HTTP proxy, but nothing that bypasses it; programs that run as this user could also answer their own questions",
  hook: "No isolation: the gate sees the commands that a coding agent's hook passes in, but nothing that the agent does without its hook",
};

/** Says things. */
export interface Notices {
  /**
   * To stderr and into the log; rejects where the log does not take it. About the gate's own agent,
   * unless somebody else is named.
   */
  say(
    code: NoticeCode,
    text: string,
    about?: Pick<NoticeParts, "agent" | "isolation">,
  ): Promise<void>;
  /** The same where nobody waits: a log that does not take it is said on stderr. */
  tell(code: NoticeCode, text: string, more?: JsonObject): void;
  /** Into the log alone: what nobody has to read now. Rejects where the log does not take it. */
  log(code: NoticeCode, text: string, more?: JsonObject): Promise<void>;
}

/** Parts of notices. */
export interface NoticeParts {
  readonly print: Printer;
  readonly audit: AuditSink;
  readonly agent: string;
  /** What is written into every event, see {@link isolationMark}. */
  readonly isolation: string;
}

/** Makes the notices of one gate. */
export function createNotices({ print, audit, agent, isolation }: NoticeParts): Notices {
  const log = async (said: JsonObject, about = { agent, isolation }): Promise<void> => {
    await audit.append([noticeEvent(about, said)]);
  };
  return {
    log: (code, text, more) => log({ ...more, notice: code, text }),
    say(code, text, about) {
      print.notice(text);
      return log({ notice: code, text }, about);
    },
    tell(code, text, more) {
      print.notice(text);
      log({ ...more, notice: code, text }).catch((error: unknown) =>
        print.notice(
          isConsentError(error) ? error.message : `Cannot log a notice: ${String(error)}`,
        ),
      );
    },
  };
}

function noticeEvent(
  { agent, isolation }: Pick<NoticeParts, "agent" | "isolation">,
  said: JsonObject,
): AuditEventInput {
  const stamp = { id: randomIds.next("ae"), atMs: systemClock.now() };
  return { ...logEvent("gate_notice", stamp, { isolation, ...said }), agent };
}

/**
 * What every event of a gate says about the sandbox that its agent runs in: level and name, `none`
 * where nothing holds the agent.
 */
export function isolationMark(sandbox: SandboxReport | undefined): string {
  return sandbox === undefined || sandbox.level === "none"
    ? "none"
    : `${sandbox.level}:${sandbox.sandbox}`;
}

/** What is known of how an agent runs. */
export interface AgentHost {
  readonly sharesUid: boolean;
  /** Left out: it was not started by us. */
  readonly sandbox?: SandboxReport;
}

/** What is said before the first call. */
export async function sayHow(
  notices: Notices,
  { sharesUid, sandbox }: AgentHost,
  ways: readonly Way[],
): Promise<void> {
  if (sandbox === undefined)
    for (const way of ways) await notices.say("isolation_none", ISOLATION_NOTICES[way]);
  else await notices.say(...sandboxNotice(sandbox));
  const unlimited = sandbox === undefined ? undefined : resourceNotice(sandbox);
  if (unlimited !== undefined) await notices.say("resources", unlimited);
  if (sharesUid) await notices.say("shared_uid", sharedUidNotice);
}

/** What a barrier lets an agent use up; of what is none, that is said already. */
function resourceNotice({ level, items }: SandboxReport): string | undefined {
  const caps = items.find(({ aspect }) => aspect === "resource_caps");
  if (
    caps === undefined ||
    caps.enforcement === "enforced" ||
    level === "none" ||
    level === "advisory"
  )
    return undefined;
  return `The agent can use up more than it should: ${caps.reason}${caps.fix === undefined ? "" : `. ${caps.fix}`}`;
}

function sandboxNotice({
  sandbox,
  level,
  reason,
  fix,
  dns,
}: SandboxReport): readonly [NoticeCode, string] {
  if (level === "none")
    return ["isolation_none", `No isolation: sandbox "${sandbox}" enforces nothing: ${reason}`];
  if (level === "advisory")
    return ["isolation_advisory", `No barrier: sandbox "${sandbox}" is advisory: ${reason}`];
  const names =
    dns === "open"
      ? "; it asks the host's name servers past the gate, and what it asks can carry anything out"
      : "";
  const hint = fix === undefined ? "" : `. ${fix}`;
  return [
    "isolation",
    `The agent runs in sandbox "${sandbox}", level ${level}: ${reason}${names}${hint}`,
  ];
}
