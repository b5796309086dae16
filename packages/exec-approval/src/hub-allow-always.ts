/**
 * HubAllowAlways: keeps `<program> **` in the profile's allowlist after a person's `allow-always`,
 * and says what was kept or why nothing was. The log knows it first. A pattern never clears what is
 * dangerous: such commands are asked about all the same.
 */
import { type AuditSink, type Clock, type ConsentRequest, type Ids, logEvent } from "@acp/core";
import {
  type CommandSafety,
  type ExecApprovalConfig,
  execEffect,
  storablePattern,
} from "@acp/core/exec";
import type { OpenApproval } from "./hub-channel.js";
import { askingRule } from "./hub-question.js";
import type { Remembered } from "./hub-resolve.js";
import type { ExecProfile } from "./profile-config.js";

/** What keeping needs. */
export interface RememberParts {
  /** Absent where the configuration is no profile's. */
  readonly profile: ExecProfile | undefined;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly isolation: string;
  /** How the question's command is judged now. */
  readonly judge: (request: ConsentRequest) => CommandSafety;
  /** The configuration as it stands now. */
  readonly read: () => ExecApprovalConfig;
}

/** What a reply may hold, with room for what stands in front. */
const WHY_CHARS_MAX = 900;

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, WHY_CHARS_MAX);
const overlaps = (a: CommandSafety["commands"][number]["span"], b: typeof a): boolean =>
  a.start < b.end && b.start < a.end;

/**
 * The one program that a yes is about: of the commands that something was said about, or of all
 * where nothing was.
 */
function programOf({
  commands,
  reasons,
}: CommandSafety):
  | { readonly program: string }
  | { readonly program?: undefined; readonly why: string } {
  const asked = commands.filter(({ span }) =>
    reasons.some((reason) => overlaps(reason.span, span)),
  );
  const programs = new Set((asked.length === 0 ? commands : asked).map(({ program }) => program));
  const [only, ...others] = programs;
  if (others.length > 0)
    return { why: "the command runs several programs, and one entry is for one of them" };
  return only === undefined
    ? { why: "which program the command runs is not known before it runs" }
    : { program: only };
}

/** Writes down what happens to the allowlist. */
async function note(
  { audit, clock, ids, isolation }: RememberParts,
  { request }: OpenApproval,
  metadata: Record<string, string>,
): Promise<void> {
  const event = logEvent(
    "gate_notice",
    { id: ids.next("ae"), atMs: clock.now() },
    { isolation, from_request: request.id, ...metadata },
  );
  await audit.append([{ ...event, agent: request.agent.id }]);
}

async function store(
  parts: RememberParts,
  open: OpenApproval,
  entry: { readonly pattern: string; readonly from: string },
): Promise<Remembered> {
  const { profile } = parts;
  const { pattern, from } = entry;
  if (profile === undefined)
    return { note: "nothing was stored: this hub has no profile to store it in" };
  const text = `the allowlist of the profile "${profile.profileId}" gets the pattern "${pattern}"`;
  await note(parts, open, { notice: "exec_allowlist", text, pattern, by: from });
  try {
    await profile.allow(pattern);
  } catch (error) {
    const why = messageOf(error);
    await note(parts, open, {
      notice: "exec_allowlist_failed",
      text: why,
      pattern,
      by: from,
    }).catch(() => undefined);
    return { note: `nothing was stored: ${why}` };
  }
  return { stored: pattern, ...stillAsked(parts, open.request) };
}

/** What asks about this command all the same, though its program is listed now. */
function stillAsked(
  { judge, read }: RememberParts,
  request: ConsentRequest,
): Pick<Remembered, "note"> {
  const asked = (why: string): Pick<Remembered, "note"> => ({
    note: `you will still be asked about this command: ${why.slice(0, WHY_CHARS_MAX)}`,
  });
  try {
    const { ask, ...config } = read();
    const safety = judge(request);
    if (execEffect({ ...config, ask }, safety) !== "allow")
      return asked(
        ask === "always"
          ? 'the profile says "ask": "always"'
          : (safety.reasons[0]?.message ?? "it is not safe"),
      );
    const rule = askingRule(request);
    return rule === undefined ? {} : asked(rule);
  } catch (error) {
    return {
      note: `it is unknown whether you will be asked about this command: ${messageOf(error)}`,
    };
  }
}

/** Keeps what a person allowed from now on. Never rejects. */
export async function rememberProgram(
  parts: RememberParts,
  open: OpenApproval,
  from: string,
): Promise<Remembered> {
  try {
    const found = programOf(parts.judge(open.request));
    if (found.program === undefined) return { note: `nothing was stored: ${found.why}` };
    const storable = storablePattern(found.program);
    if (storable.pattern === undefined) return { note: `nothing was stored: ${storable.why}` };
    return await store(parts, open, { pattern: storable.pattern, from });
  } catch (error) {
    return { note: `nothing was stored: ${messageOf(error)}` };
  }
}
