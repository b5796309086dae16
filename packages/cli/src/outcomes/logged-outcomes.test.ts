import { open } from "node:fs/promises";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import type { AuditEventInput, JsonObject } from "@acp/core";
import { expect, it } from "vitest";
import { scratch } from "../../test/harness.js";
import { followOutcomes } from "./logged-outcomes.js";

let events = 0;
const make = (
  eventType: AuditEventInput["eventType"],
  requestId: string,
  metadata: JsonObject = {},
): AuditEventInput => ({
  id: `ae_${++events}`,
  atMs: events,
  eventType,
  requestId,
  agent: "agent",
  tool: "write",
  category: "write",
  riskLevel: "low",
  decision: "allow",
  responseTimeMs: 0,
  policyRule: "asks",
  metadata,
});

it("followOutcomes() has every end after its start, and those just before; it reads nothing of the long past", async () => {
  await using home = await scratch();
  const path = join(home.path, "audit.jsonl");
  await using log = await openAuditLog({ path });
  await log.append(["open", "told late"].map((id) => make("consent_requested", id)));
  const text = "x".repeat(200);
  await log.append(Array.from({ length: 4_000 }, () => make("policy_evaluated", "", { text })));
  // A gate writes an end before it tells it.
  await log.append([make("consent_approved", "told late")]);
  const start = async (character: string): Promise<void> => {
    await using handle = await open(path, "r+");
    await handle.write(character, 0);
  };
  // Whoever reads from the beginning fails here.
  await start("!");
  await using outcomes = await followOutcomes(home.path);
  await expect
    .poll(() => outcomes.find(["told late"]))
    .toMatchObject([{ status: "approved", run: { state: "waiting" } }]);
  // A writer does not go on in a log that somebody damaged.
  await start("{");
  await log.append([
    make("consent_denied", "open"),
    make("tool_call_completed", "told late", { outcome: "performed" }),
  ]);
  await expect
    .poll(() => outcomes.find(["open", "told late", "unheard of"]))
    .toMatchObject([{ status: "denied" }, { status: "approved", run: { state: "ran" } }]);
  // A gate that starts later writes a log of its own.
  await using other = await openAuditLog({ path: join(home.path, "audit.2.jsonl") });
  await other.append([make("consent_expired", "adopted")]);
  await expect.poll(() => outcomes.find(["adopted"])).toMatchObject([{ status: "expired" }]);
});

it("followOutcomes() says that nobody knows where a log cannot be read, and does not keep its owner from starting", async () => {
  await using home = await scratch();
  {
    await using log = await openAuditLog({ path: join(home.path, "audit.jsonl") });
    await log.append([make("consent_denied", "a")]);
  }
  {
    await using handle = await open(join(home.path, "audit.jsonl"), "r+");
    await handle.write("!", 0);
  }
  await using outcomes = await followOutcomes(home.path);
  await expect(outcomes.find(["a"])).rejects.toMatchObject({ code: "audit_failed" });
});
