/** Look up: a story with everything that stands beside its events, explained. */
import { QUESTION_END_TYPES } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import type { Invocation } from "../command.js";
import type { Explanation, Said } from "./explanation.js";
import { explain } from "./explain.js";
import { textAt } from "./fields.js";
import type { FindEvents } from "./find-events.js";
import { proofOf } from "./proof-status.js";
import { findRuleTexts } from "./rule-text.js";
import { type Story, eventOf } from "./story.js";

/** Where to look. */
export interface LookUpParts {
  readonly find: FindEvents;
  /** The home's directory. */
  readonly home: string;
  readonly invocation: Pick<Invocation, "values" | "io">;
}

/** Notices that say how the gate stands, and not what happened. */
const STANDING: ReadonlySet<string> = new Set([
  "isolation",
  "isolation_advisory",
  "isolation_none",
  "resources",
  "shared_uid",
  "unsigned",
  "host_ports",
  "server_isolation",
]);
const NOTICES_MAX = 10;

/** Explains a story. */
export async function lookUp(story: Story, parts: LookUpParts): Promise<Explanation> {
  const { find, home, invocation } = parts;
  const judged =
    story.found.find(({ event }) => event.eventType === "policy_evaluated") ?? story.found[0];
  const rule = {
    ruleId: judged?.event.policyRule ?? "",
    layer: textAt(judged?.event.metadata, "layer") ?? "",
  };
  const { texts, missing } =
    judged === undefined
      ? { texts: [], missing: undefined }
      : await findRuleTexts(judged, rule, { find, home });
  return explain(story, {
    texts,
    missing,
    proof: await proofOf(story, invocation),
    notices: await noticesDuring(story, find),
  });
}

const restoreText = ({ metadata }: AuditEvent): string =>
  `Files of the home were restored by ${textAt(metadata, "by") ?? ""}: ${textAt(metadata, "reason") ?? ""}`;

/** What the gate said while a question was open, and whether files were restored. */
async function noticesDuring(story: Story, find: FindEvents): Promise<readonly Said[]> {
  const asked = story.found.find(({ event }) => event.eventType === "consent_requested");
  const end = eventOf(story, ...QUESTION_END_TYPES);
  if (asked === undefined || end === undefined) return [];
  const [first, last] = [asked.event.seq, end.seq];
  const where = ({ seq }: AuditEvent): boolean => seq > first && seq < last;
  const times = [asked.event.atMs, end.atMs];
  const filter = {
    eventType: ["gate_notice", "home_restored"],
    sinceMs: Math.min(...times),
    untilMs: Math.max(...times) + 1,
  };
  const said: Said[] = [];
  for await (const { event } of find({ filter, log: asked.log, where })) {
    const isRestore = event.eventType === "home_restored";
    const notice = isRestore ? event.eventType : (textAt(event.metadata, "notice") ?? "");
    const text = isRestore ? restoreText(event) : textAt(event.metadata, "text");
    if (text !== undefined && !STANDING.has(notice) && said.length < NOTICES_MAX)
      said.push({ atMs: event.atMs, notice, text });
  }
  return said;
}
