// A proof made and checked: ours against bare node:crypto over the same payload (keys kept), and
// against the same steps on @noble alone.
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { canonicalJson, encodeRequest, isoTime } from "@acp/core";
import {
  generateKeyPair,
  importPublicKey,
  PAYLOAD_TYPE,
  signConsent,
  verifyConsentProof,
} from "@acp/core/proof";
import * as portable from "../packages/core/dist/crypto/portable.js";
import { clockCost, fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const ROUNDS = 12;
const CALLS = 60;
const WARMUP = 3;

const pair = generateKeyPair();
const trustedKeys = [{ key: importPublicKey(pair.publicKey) }];
const nowMs = Date.UTC(2026, 0, 15, 10, 30);
const parts = {
  decision: "approved",
  nowMs: nowMs + 20_000,
  channel: "terminal",
  approverId: "alice",
};
const requests = Array.from({ length: CALLS }, (_, i) => ({
  id: `cr_${i}`,
  createdAtMs: nowMs,
  expiresAtMs: nowMs + 120_000,
  agent: { id: "demo", name: "demo", command: "" },
  action: {
    tool: "write_file",
    server: "files",
    category: "write",
    riskLevel: "medium",
    parameters: { path: `/data/file-${i}.txt`, content: "hello ".repeat(20) },
    description: "call write_file on files",
  },
  policy: { ruleId: "ask-writes", ruleName: "", requiredLevel: "medium" },
  nonce: `n_${i}`,
  actionDigest: `sha256:${"0".repeat(64)}`,
  text: `Agent: demo\nWants: call write_file on files\nRisk:  medium (write)\nWith:\n  { "path": "/data/file-${i}.txt" }\n${"x".repeat(200)}`,
  quorum: 1,
  evidence: "any",
  offers: [],
  secrets: [],
}));
const wires = requests.map(encodeRequest);
const responses = await Promise.all(requests.map((request) => signConsent(request, parts, pair)));

/** The payload as a program without our code would make it, with one hash function or another. */
function payloadOf(wire, response, sha256Hex) {
  const hash = (value) => `sha256:${sha256Hex(canonicalJson(value))}`;
  return Buffer.from(
    `${PAYLOAD_TYPE}\n` +
      canonicalJson({
        action_hash: hash(wire.action.parameters),
        approver_id: response.approver.id,
        channel: response.approver.channel,
        decision: response.decision,
        modifications_hash: null,
        nonce: response.nonce,
        request_hash: hash(wire),
        request_id: response.request_id,
        timestamp: response.timestamp,
        valid_until: response.conditions.valid_until,
      }),
  );
}

const seed = pair.exportSeed();
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
  format: "der",
  type: "pkcs8",
});
const publicKey = createPublicKey(privateKey);
const nobleSigner = portable.createEd25519Signer(seed);
const nobleVerify = portable.createEd25519Verifier(nobleSigner.publicKey);
const payloads = wires.map((wire, i) => payloadOf(wire, responses[i], portable.sha256Hex));
const signatures = responses.map(({ proof }) => Buffer.from(proof.signature, "hex"));
const answers = requests.map((request) => ({
  approver: { id: "alice", channel: "terminal" },
  decision: "approved",
  nonce: request.nonce,
  request_id: request.id,
  timestamp: isoTime(parts.nowMs),
  conditions: { valid_until: isoTime(parts.nowMs + 300_000) },
}));

const contestants = {
  "made: node:crypto, signature alone": (i) => sign(null, payloads[i], privateKey),
  "made: ours": (i) => signConsent(requests[i], parts, pair),
  "made: all noble": (i) =>
    nobleSigner.sign(payloadOf(encodeRequest(requests[i]), answers[i], portable.sha256Hex)),
  "checked: node:crypto, signature alone": (i) =>
    verify(null, payloads[i], publicKey, signatures[i]),
  "checked: ours": (i) => verifyConsentProof(responses[i], wires[i], { trustedKeys }),
  "checked: all noble": (i) =>
    nobleVerify(signatures[i], payloadOf(wires[i], responses[i], portable.sha256Hex)),
};

// A benchmark of proofs that do not hold would say nothing.
for (let i = 0; i < CALLS; i++) {
  const mine = Buffer.from(contestants["made: node:crypto, signature alone"](i));
  const noble = Buffer.from(contestants["made: all noble"](i));
  const checked = await contestants["checked: ours"](i);
  if (!mine.equals(signatures[i]) || !noble.equals(mine) || !checked.ok)
    throw new Error(`proof ${i} differs`);
  if (
    !contestants["checked: node:crypto, signature alone"](i) ||
    !contestants["checked: all noble"](i)
  )
    throw new Error(`proof ${i} fails`);
}

const samples = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
for (let round = -WARMUP; round < ROUNDS; round++) {
  for (const [name, call] of Object.entries(contestants)) {
    for (let i = 0; i < CALLS; i++) {
      const start = performance.now();
      await call(i);
      const micros = (performance.now() - start) * 1_000;
      if (round >= 0) samples[name].push(micros);
    }
  }
}

const overhead = clockCost();
const results = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => [name, summary(list)]),
);
const p50 = (name) => results[name].p50;
const ratio = {
  madeToNative: p50("made: ours") / p50("made: node:crypto, signature alone"),
  madeNobleToOurs: p50("made: all noble") / p50("made: ours"),
  checkedToNative: p50("checked: ours") / p50("checked: node:crypto, signature alone"),
  checkedNobleToOurs: p50("checked: all noble") / p50("checked: ours"),
};
if (isJson) console.log(JSON.stringify({ unit: "µs", clock: overhead, results, ratio }));
else {
  for (const [name, { p50: middle, p99 }] of Object.entries(results))
    console.log(
      `  ${name.padEnd(38)} p50 ${fixed(middle).padStart(7)} µs   p99 ${fixed(p99).padStart(7)} µs`,
    );
  console.log(
    `  ours / native: made ${ratio.madeToNative.toFixed(2)}×, checked ${ratio.checkedToNative.toFixed(2)}×; ` +
      `all noble / ours: made ${ratio.madeNobleToOurs.toFixed(1)}×, checked ${ratio.checkedNobleToOurs.toFixed(1)}×`,
  );
}
