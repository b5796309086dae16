// What a question's text costs: one that people get every day, and a megabyte made to be long, deep
// or hard to read. Asked through a gate, beside JSON.stringify of the same arguments; the last
// column says whether four times as much takes four times as long.
import { createConsentGate, toolAction } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const policy = parsePolicy({ version: "1", default: "ask" });
const [SMALL, LARGE] = [250_000, 1_000_000];
const ROUNDS = 7;

/** Arguments of about so many bytes. */
const shapes = {
  prose: (bytes) => "The quick brown fox jumps over the lazy dog, and then. ".repeat(bytes / 55),
  "one letter": (bytes) => "a".repeat(bytes),
  "almost a run": (bytes) => `${"abcd".repeat(39)}!`.repeat(bytes / 157),
  "hosts that imitate": (bytes) =>
    Array.from({ length: bytes / 22 }, (_, at) => `https://аb${at}.com/`).join(" "),
  "URLs in a list": (bytes) => Array.from({ length: bytes / 15 }, () => "http://a?b&c"),
  "JSON in a list": (bytes) => Array.from({ length: bytes / 10 }, () => "[[],[]]"),
  "base64 in a list": (bytes) =>
    Array.from({ length: bytes / 8_003 }, () => "aGVsbG8gd29ybGQg".repeat(500)),
  "open brackets": (bytes) =>
    Array.from({ length: bytes / 8_020 }, () => ({ command: `x ${"[".repeat(7_990)} (` })),
};

/** Milliseconds until the question is with its channel, and the length of its text. */
async function ask(action) {
  let delivered;
  const shown = new Promise((resolve) => {
    delivered = resolve;
  });
  const channel = {
    name: "bench",
    deliver: async (request) => delivered({ at: performance.now(), units: request.text.length }),
  };
  const audit = { append: async () => ({ seq: 0, hash: "" }) };
  const gate = createConsentGate({ policy, channel, audit });
  const start = performance.now();
  const opened = await gate.open(action, { agent: { id: "bench" } });
  if (opened.decision !== "pending") throw new Error(opened.reason);
  const { at, units } = await shown;
  await opened.withdraw("measured");
  return { ms: at - start, units };
}

async function measure(make) {
  const samples = [];
  let units = 0;
  for (let round = -1; round < ROUNDS; round++) {
    const asked = await ask(make());
    if (round >= 0) samples.push(asked.ms);
    units = asked.units;
  }
  return { ms: summary(samples).p50, units };
}

const everyday = {
  path: "src/index.ts",
  content: "export const answer = 42;\n",
  url: "https://example.com/a?b=c",
  command: "git commit -m 'x'",
};
const results = { everyday: await measure(() => toolAction("files", "write", everyday)) };
for (const [name, shape] of Object.entries(shapes)) {
  const [small, large] = [shape(SMALL), shape(LARGE)];
  const start = performance.now();
  JSON.stringify(large, undefined, 2);
  const stringifyMs = performance.now() - start;
  const quarter = await measure(() => toolAction("files", "write", { value: small }));
  const whole = await measure(() => toolAction("files", "write", { value: large }));
  results[name] = {
    ms: whole.ms,
    units: whole.units,
    stringifyMs,
    timesQuarter: whole.ms / quarter.ms,
  };
}

if (isJson) console.log(JSON.stringify(results));
else {
  console.log(
    `  an everyday question, asked: ${fixed(results.everyday.ms)} ms, ${results.everyday.units} characters`,
  );
  for (const [name, { ms, units, stringifyMs, timesQuarter }] of Object.entries(results)) {
    if (timesQuarter === undefined) continue;
    const text = `${(units / 1_000).toFixed(0)} k characters`;
    console.log(
      `  1 MB of ${name.padEnd(20)} ${fixed(ms).padStart(5)} ms, ${text.padEnd(18)} JSON.stringify ${fixed(stringifyMs)} ms; × ${fixed(timesQuarter)} of 250 kB`,
    );
  }
}
