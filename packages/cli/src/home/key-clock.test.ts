import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuditLog } from "@acp/audit";
import { encodeRequest, isoTime, logEvent } from "@acp/core";
import type { AuditEventInput, ConsentRequest, JsonObject } from "@acp/core";
import { createConsentSigner, generateKeyPair } from "@acp/core/proof";
import type { KeyPair } from "@acp/core/proof";
import { initHome, initKeys } from "@acp/home";
import type { Home } from "@acp/home";
import { expect, it, onTestFinished } from "vitest";
import { keyClock, logNow, signedOutside } from "./key-clock.js";

const NOW = Date.UTC(2026, 1, 1);
const DAY = 86_400_000;

const requestAt = (id: string, createdAtMs: number): ConsentRequest => ({
  id,
  createdAtMs,
  expiresAtMs: createdAtMs + 120_000,
  agent: { id: "demo", name: "demo", command: "" },
  action: {
    tool: "write_file",
    server: "files",
    category: "write",
    riskLevel: "medium",
    parameters: {},
    description: "call write_file on files",
  },
  policy: { ruleId: "ask-writes", ruleName: "", requiredLevel: "medium" },
  nonce: `n_${id}`,
  actionDigest: "sha256:00",
  quorum: 1,
  evidence: "any",
  offers: [],
  secrets: [],
  text: "Agent: demo",
});

let count = 0;
const eventOf = (
  type: AuditEventInput["eventType"],
  atMs: number,
  metadata: JsonObject,
  requestId = "",
): AuditEventInput => ({ ...logEvent(type, { id: `ae_${++count}`, atMs }, metadata), requestId });

/** The events of a question that was answered, and what is done to its response. */
async function answered(
  id: string,
  keys: KeyPair,
  atMs: number,
  change: (response: JsonObject) => JsonObject = (response) => response,
): Promise<readonly AuditEventInput[]> {
  const request = requestAt(id, atMs - 1_000);
  const response = await createConsentSigner(keys).signAnswer(request, {
    decision: "approved",
    nowMs: atMs,
    channel: "terminal",
    approverId: "alice",
  });
  return [
    eventOf("consent_requested", atMs, { request: encodeRequest(request) }, id),
    eventOf("consent_approved", atMs, { responses: [change(response)] }, id),
  ];
}

/** A home whose key is from 2026 on, with a log. */
async function makeHome(): Promise<{
  readonly home: Home;
  readonly keys: KeyPair;
  log(events: readonly AuditEventInput[], name?: string): Promise<void>;
}> {
  const dir = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const { home } = await initHome(join(dir, "h"));
  const { keys } = await initKeys(
    home,
    { kind: "key-file", text: `${"0f".repeat(32)}\n` },
    { now: () => NOW },
  );
  return {
    home,
    keys,
    async log(events, name = "audit.jsonl") {
      await using log = await openAuditLog({ path: join(home.dir, name) });
      await log.append(events);
    },
  };
}

const unread: string[] = [];
const parts = { onUnread: (why: string): void => void unread.push(why) };

it("signedOutside() gives what a key signed outside of its time, and nothing that only says so", async () => {
  const { home, keys, log } = await makeHome();
  const early = NOW - 3 * DAY;
  await log([
    ...(await answered("cr_1", keys, early)),
    ...(await answered("cr_2", keys, NOW + DAY)), // within
    ...(await answered("cr_3", generateKeyPair(), early + 1)), // a stranger's
    ...(await answered("cr_4", keys, early + 2, (response) => ({
      ...response,
      timestamp: isoTime(early + 3), // not what was signed
    }))),
    ...(await answered("cr_5", keys, early + 4)).slice(1), // its question is not in the log
    eventOf("consent_approved", early, { responses: ["text", {}, { proof: {} }] }, "cr_6"),
  ]);
  expect(await signedOutside(home, parts)).toEqual([{ publicKey: keys.publicKey, atMs: early }]);
  expect(await signedOutside(home, { ...parts, untilMs: NOW + DAY })).toEqual([
    { publicKey: keys.publicKey, atMs: early },
    { publicKey: keys.publicKey, atMs: NOW + DAY },
  ]);
});

it("signedOutside() takes nothing that a key signed after it was rotated away", async () => {
  const { home, keys, log } = await makeHome();
  const rotated = eventOf("keys_rotated", NOW, { from_key: keys.publicKey, to_key: "00" });
  await log([rotated, ...(await answered("cr_1", keys, NOW - DAY))]);
  expect(await signedOutside(home, parts)).toEqual([]);
});

it("signedOutside() goes on past a log that cannot be read, and says which", async () => {
  const { home, keys, log } = await makeHome();
  await writeFile(join(home.dir, "audit.jsonl"), "no event\n", { mode: 0o600 });
  await log(await answered("cr_1", keys, NOW - DAY), "audit.2.jsonl");
  unread.length = 0;
  expect(await signedOutside(home, parts)).toHaveLength(1);
  expect(unread).toEqual([expect.stringContaining("audit.jsonl")]);
});

it("logNow() is just after the last event where the clock is behind it", async () => {
  const { home, log } = await makeHome();
  expect(Math.abs((await logNow(home)) - Date.now())).toBeLessThan(DAY);
  const lastMs = Date.now() + 400 * DAY;
  await log([eventOf("gate_notice", lastMs, {})]);
  expect(await logNow(home)).toBe(lastMs + 1);
  const clock = keyClock(home, parts.onUnread);
  const first = await clock.now();
  await appendFile(join(home.dir, "audit.jsonl"), "");
  expect(await clock.now()).toBe(first);
});
