// Durable appends at concurrency 1, 16 and 256, as the disk is and with every flush 1 ms slower;
// verifying 1,000,000 events; proofs. Peers in the same run: one fdatasync an event, SQLite
// (libsql, WAL, synchronous=FULL, one transaction a tick), LMDB (put, synced commit). Peers store
// the event's JSON and chain nothing. Directory: ACP_BENCH_DIR, else the system's; it should be on
// a disk.
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  createReadStream,
  mkdtempSync,
  openSync,
  closeSync,
  rmSync,
  statSync,
  fdatasync,
  write,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  generateNoteKey,
  merkleLeafHash,
  openAuditLog,
  openAuditProver,
  readCheckpoints,
  verifyAuditLog,
  verifyInclusion,
} from "@acp/audit";
import Database from "libsql";
import { open as openLmdb } from "lmdb";
import { fixed, quantile, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const isWorker = process.argv.includes("--worker");
const EVENTS = Number(process.env.ACP_BENCH_EVENTS ?? "1000000");
const ROUNDS = Number(process.env.ACP_BENCH_ROUNDS ?? "5");
const folder = mkdtempSync(join(process.env.ACP_BENCH_DIR ?? tmpdir(), "acp-bench-"));
const key = generateNoteKey("bench");
const say = (text) => isJson || console.log(text);

let number = 0;
const event = () => ({
  id: `ae_0b9e2c1a-7b1e-4f6e-9b1a-${String(++number).padStart(12, "0")}`,
  atMs: Date.now(),
  eventType: "policy_evaluated",
  requestId: "",
  agent: "agent-1",
  tool: "write_file",
  category: "write",
  riskLevel: "medium",
  decision: "allow",
  responseTimeMs: 3,
  policyRule: "rule_1",
  metadata: {
    isolation: "none",
    layer: "rules",
    reason: "matched",
    rulings: [{ layer: "rules", effect: "allow", rule: "rule_1" }],
  },
});

const [writeTo, flush] = [promisify(write), promisify(fdatasync)];

/** One write and one fdatasync an event, in turn. */
function flushEach(path) {
  const fd = openSync(path, "a", 0o600);
  let last = Promise.resolve();
  return {
    append: (each) =>
      (last = last.then(() => writeTo(fd, `${JSON.stringify(each)}\n`)).then(() => flush(fd))),
    close: async () => closeSync(fd),
  };
}

/** Inserts of one tick share a transaction. Synchronous: the process waits for the disk. */
function sqlite(path) {
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE log (seq INTEGER PRIMARY KEY, line TEXT NOT NULL)");
  const insert = db.prepare("INSERT INTO log (line) VALUES (?)");
  let waiting = [];
  const commit = () => {
    const group = waiting;
    waiting = [];
    db.exec("BEGIN");
    for (const { line } of group) insert.run(line);
    db.exec("COMMIT");
    for (const { resolve } of group) resolve();
  };
  return {
    append: (each) =>
      new Promise((resolve) => {
        if (waiting.length === 0) setImmediate(commit);
        waiting.push({ line: JSON.stringify(each), resolve });
      }),
    close: async () => db.close(),
  };
}

function lmdb(path) {
  const db = openLmdb({ path, encoding: "string", overlappingSync: false });
  let seq = 0;
  return { append: (each) => db.put(++seq, JSON.stringify(each)), close: () => db.close() };
}

const ours = (options) => async (path) => {
  const log = await openAuditLog({ path, ...options });
  return { append: (each) => log.append([each]), close: () => log.close() };
};

const OURS = "@acp/audit";
const CONTESTANTS = {
  [OURS]: ours({}),
  "@acp/audit, signed checkpoints": ours({
    checkpoints: { signerKey: key.signerKey, everyEvents: 10_000 },
  }),
  "one fdatasync an event": async (path) => flushEach(path),
  "SQLite (libsql), a transaction a tick": async (path) => sqlite(path),
  LMDB: async (path) => lmdb(path),
};

/**
 * Appends for a while with so many callers: events a second, and each append's time where there is
 * one caller.
 */
async function appendRound(store, concurrency, ms) {
  const micros = [];
  let appended = 0;
  const start = performance.now();
  const call = async () => {
    while (performance.now() - start < ms) {
      const before = performance.now();
      await store.append(event());
      if (concurrency === 1) micros.push((performance.now() - before) * 1_000);
      appended++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, call));
  return { rate: (appended / (performance.now() - start)) * 1_000, micros };
}

async function appendBench() {
  const table = {};
  for (const concurrency of [1, 16, 256]) {
    const rates = Object.fromEntries(
      Object.keys(CONTESTANTS).map((name) => [name, { rates: [], micros: [] }]),
    );
    for (let round = -1; round < ROUNDS; round++) {
      for (const [name, open] of Object.entries(CONTESTANTS)) {
        const store = await open(join(folder, `log-${number}-${round}`));
        await appendRound(store, concurrency, 50);
        const { rate, micros } = await appendRound(store, concurrency, 250);
        await store.close();
        if (round < 0) continue;
        rates[name].rates.push(rate);
        rates[name].micros.push(...micros);
      }
    }
    table[concurrency] = Object.fromEntries(
      Object.entries(rates).map(([name, { rates: list, micros }]) => {
        const sorted = Float64Array.from(list).sort();
        // Of each round by itself: whatever else this machine does hits both.
        const ratios = Float64Array.from(
          rates[OURS].rates,
          (own, round) => own / list[round],
        ).sort();
        const rate = {
          median: quantile(sorted, 0.5),
          min: sorted[0],
          max: sorted.at(-1),
          oursIs: quantile(ratios, 0.5),
        };
        return [name, concurrency === 1 ? { rate, latency: summary(micros) } : { rate }];
      }),
    );
  }
  return { flush: await rawFlush(), appends: table };
}

/** What one flush of a line costs without anything else. */
async function rawFlush() {
  const fd = openSync(join(folder, "raw"), "a", 0o600);
  const micros = [];
  for (let i = 0; i < 300; i++) {
    const start = performance.now();
    await writeTo(fd, `${"x".repeat(500)}\n`);
    await flush(fd);
    micros.push((performance.now() - start) * 1_000);
  }
  closeSync(fd);
  return summary(micros);
}

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** The least of wall and CPU time, because others use this machine too; best of `rounds`. */
async function bestMs(rounds, run) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const [wall, used] = [performance.now(), cpu()];
    await run();
    best = Math.min(best, performance.now() - wall, cpu() - used);
  }
  return best;
}

/** What a verifier does that parses every line: the keys of a canonical line are sorted already. */
async function parseAndRehash(path) {
  let previous = null;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { event_hash: claimed, ...rest } = JSON.parse(line);
    if (
      rest.previous_event_hash !== previous ||
      `sha256:${hash("sha256", JSON.stringify(rest))}` !== claimed
    )
      throw new Error("bad line");
    previous = claimed;
  }
}

async function verifyBench() {
  const path = join(folder, "large.jsonl");
  const log = await openAuditLog({
    path,
    checkpoints: { signerKey: key.signerKey, everyEvents: EVENTS / 10 },
  });
  for (let made = 0; made < EVENTS; made += 1_000)
    await log.append(Array.from({ length: 1_000 }, event));
  await log.close();
  const checkpoints = {
    notes: await readCheckpoints(`${path}.checkpoints`),
    verifierKeys: [key.verifierKey],
  };
  const perSecond = (ms) => (EVENTS / ms) * 1_000;
  const check = async (options) => {
    const { ok, events } = await verifyAuditLog(path, options);
    if (!ok || events !== EVENTS) throw new Error("the log does not verify");
  };
  const plain = perSecond(await bestMs(3, () => check({})));
  const signed = perSecond(await bestMs(3, () => check({ checkpoints })));
  const parsed = perSecond(await bestMs(2, () => parseAndRehash(path)));
  return {
    events: EVENTS,
    bytesPerEvent: statSync(path).size / EVENTS,
    plain,
    signed,
    parsed,
    proofs: await proofBench(path),
  };
}

async function proofBench(path) {
  globalThis.gc?.();
  const before = process.memoryUsage();
  let prover;
  const readMs = await bestMs(1, async () => {
    prover = await openAuditProver(path);
  });
  const after = process.memoryUsage();
  const [making, checking] = [[], []];
  const lines = createInterface({ input: createReadStream(path) });
  let seq = 0;
  for await (const line of lines) {
    if (seq++ % 997 !== 0) continue;
    const at = seq - 1;
    let start = performance.now();
    const proof = prover.inclusion(at);
    making.push((performance.now() - start) * 1_000);
    const root = prover.root();
    start = performance.now();
    const holds = verifyInclusion(merkleLeafHash(Buffer.from(line)), root, proof);
    checking.push((performance.now() - start) * 1_000);
    if (!holds) throw new Error("a proof does not hold");
  }
  const bytes = prover.inclusion(1).hashes.length * 32;
  return {
    readMs,
    memoryMb: (after.arrayBuffers - before.arrayBuffers) / 1e6,
    made: summary(making),
    checked: summary(checking),
    bytes,
  };
}

function slowWorker() {
  const library = join(folder, "slow-flush.so");
  const source = fileURLToPath(new URL("slow-flush.c", import.meta.url));
  if (
    process.platform !== "linux" ||
    spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"]).status !== 0
  )
    return { skipped: "no C compiler" };
  const { stdout, status } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), "--worker", "--json"],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, LD_PRELOAD: library, SLOW_FLUSH_US: "1000" },
    },
  );
  return status === 0 ? JSON.parse(stdout.trim().split("\n").at(-1)) : { skipped: "it failed" };
}

function printAppends(title, { flush: raw, appends, skipped }) {
  if (skipped !== undefined) return say(`  ${title}: not measured, ${skipped}`);
  say(`  ${title}: a bare write and flush takes p50 ${fixed(raw.p50)} µs`);
  for (const [concurrency, rows] of Object.entries(appends))
    for (const [name, { rate, latency }] of Object.entries(rows)) {
      const times =
        latency === undefined
          ? ""
          : `   p50 ${fixed(latency.p50)} µs, p99 ${fixed(latency.p99)} µs`;
      const spread = `(${rate.min.toFixed(0)}–${rate.max.toFixed(0)})`;
      say(
        `    ${concurrency.padStart(3)} at once  ${name.padEnd(38)} ${rate.median.toFixed(0).padStart(7)}/s ${spread.padEnd(17)} ours is ${rate.oursIs.toFixed(2)}×${times}`,
      );
    }
}

try {
  if (isWorker) console.log(JSON.stringify(await appendBench()));
  else {
    const asIs = await appendBench();
    printAppends("durable appends", asIs);
    const slow = slowWorker();
    printAppends("with flushes 1 ms slower", slow);
    const verify = await verifyBench();
    const { proofs } = verify;
    say(`  verifying ${EVENTS} events of ${verify.bytesPerEvent.toFixed(0)} bytes, one thread`);
    say(
      `    chain ${verify.plain.toFixed(0)}/s, with checkpoints ${verify.signed.toFixed(0)}/s, parsing and hashing again ${verify.parsed.toFixed(0)}/s`,
    );
    say(`  proofs: tree read in ${proofs.readMs.toFixed(0)} ms, ${proofs.memoryMb.toFixed(0)} MB`);
    say(
      `    inclusion made in p50 ${fixed(proofs.made.p50)} µs, p99 ${fixed(proofs.made.p99)} µs, checked in p50 ${fixed(proofs.checked.p50)} µs, ${proofs.bytes} bytes`,
    );
    if (isJson) console.log(JSON.stringify({ asIs, slow, verify }));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
