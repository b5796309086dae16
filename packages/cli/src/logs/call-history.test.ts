import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog, readAuditLog } from "@acp/audit";
import { actionDigest, toolAction } from "@acp/core";
import type { AuditEventInput } from "@acp/core";
import { suggestRules } from "@acp/suggest";
import { describe, expect, it, onTestFinished } from "vitest";
import { sampleEvent, SAMPLE_MS } from "../../test/sample-event.js";
import { createCallHistory } from "./call-history.js";

const KEY = new Uint8Array(32).fill(7);
const POLICY = 'version: "1"\ndefault: ask\n';

/** A call as a gate writes it; `how` it was decided. */
function callEvents(number: number, tool: string, how: "approved" | "denied" | "unasked") {
  const parameters = { path: `/home/ada/project/docs/${number}.md` };
  const call = `ae_${String(number).padStart(8, "0")}-call`;
  const requestId = `cr_${number}`;
  const atMs = SAMPLE_MS + number * 3_600_000;
  const own = (eventType: AuditEventInput["eventType"], change: Partial<AuditEventInput>) =>
    sampleEvent(`${call}-${eventType}`, { atMs, tool, eventType, policyRule: "", ...change });
  const first = own("tool_call_intercepted", {
    decision: "",
    metadata: {
      call,
      kind: "tool",
      server: "files",
      parameters,
      action_digest: actionDigest(toolAction("files", tool, parameters)),
    },
  });
  if (how === "unasked")
    return [first, own("policy_evaluated", { decision: "allow", metadata: { call } })];
  return [
    first,
    own("policy_evaluated", { decision: "ask", metadata: { call } }),
    own("consent_requested", { decision: "ask", requestId, metadata: { call, quorum: 1 } }),
    own(`consent_${how}`, { decision: how, requestId }),
  ];
}

describe("createCallHistory()", () => {
  it("suggests what all events suggest, by an index and without, and counts all of them", async () => {
    const at = await mkdtemp(join(tmpdir(), "acp-"));
    onTestFinished(() => rm(at, { recursive: true, force: true }));
    const calls = [
      ...Array.from({ length: 8 }, (_, n) => callEvents(n, "write_file", "approved")),
      ...Array.from({ length: 6 }, (_, n) => callEvents(10 + n, "send", "approved")),
      callEvents(20, "send", "denied"),
      ...Array.from({ length: 4 }, (_, n) => callEvents(30 + n, "drop", "denied")),
      ...Array.from({ length: 40 }, (_, n) => callEvents(40 + n, "write_file", "unasked")),
      ...Array.from({ length: 40 }, (_, n) => callEvents(80 + n, "read_file", "unasked")),
    ];
    const files = [join(at, "audit.jsonl"), join(at, "audit.2.jsonl")];
    for (const [index, path] of files.entries()) {
      await using log = await openAuditLog({ path, indexKey: KEY });
      // Questions of one log that are answered in the other.
      const events = calls.flat();
      const isEnd = ({ eventType }: AuditEventInput): boolean =>
        eventType === "consent_approved" || eventType === "consent_denied";
      await log.append(events.filter((event) => isEnd(event) === (index === 1)));
    }
    const all = await suggestRules(async function* () {
      for (const file of files) yield* readAuditLog(file);
    }, POLICY);
    expect(all.suggestions.map(({ about }) => about)).toEqual([
      "drop on files",
      "write_file on files",
    ]);
    expect(all.suggestions[1]?.answered).toMatchObject({ approved: 8, unasked: 40 });
    for (const indexKey of [KEY, undefined]) {
      const history = createCallHistory({ files, indexKey });
      const { events: _, ...found } = await suggestRules(history.read, POLICY);
      expect({ ...found, events: history.events() }).toEqual(all);
    }
  });
});
