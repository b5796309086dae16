// One secret looked for in input that is dense with escapes, none of which writes it: MB per CPU
// second, beside a replaceAll of the value over the same text in the same round, which finds no
// encoding at all. Also the preparation of a fresh list of one secret.
import { createMasker, Secret } from "@acp/core/vault";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const BYTES = 2 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const value = "ghp_a8Kd93jfLq02mXzP5vR7tYwB1cN4hG6sE0uQ";

const inputs = {
  backslashes: "\\",
  percent: "%41%2f%C3%a9",
  "double percent": "%2541%252f",
  "JSON escapes": '\\u0041\\n\\"\\u00e9',
  "dense &": "&",
  "HTML references": "&amp;&#65;&lt;&#x41;",
  "newline every 4th byte": "bcd\n",
  prose: 'The quick brown fox jumps over the lazy dog; "it" is said to do so every day.\n',
  base64: Buffer.from(
    Array.from({ length: 30_000 }, (_, at) => (at * at * 31 + at * 7) >> 3),
  ).toString("base64"),
  "all at once": "\\u0041%41&#65;\n+\\\\%25&amp;",
};

const cpuMs = (run) => {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const secrets = () => Object.freeze([new Secret({ name: "S", value })]);
const prepareMs = cpuMs(() => createMasker(secrets()));
const masker = createMasker(secrets());
const results = {};
for (const [name, row] of Object.entries(inputs)) {
  const text = row.repeat(Math.ceil(BYTES / row.length)).slice(0, BYTES);
  const bytes = Buffer.from(text);
  const [masked, plain] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    let length = 0;
    const ms = cpuMs(() => {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
        length += masker.push(bytes.subarray(at, at + CHUNK_BYTES)).length;
      length += masker.end().length;
    });
    if (length !== bytes.length)
      throw new Error(`the masker changed what holds no secret: ${name}`);
    const replaceMs = cpuMs(() => Buffer.from(bytes.toString().replaceAll(value, "[secret S]")));
    if (round >= 0) masked.push(ms);
    if (round >= 0) plain.push(replaceMs);
  }
  const [ms, replaceMs] = [summary(masked).p50, summary(plain).p50];
  results[name] = { mbPerCpuSecond: BYTES / 1000 / ms, timesReplaceAll: ms / replaceMs };
}

if (isJson) console.log(JSON.stringify({ prepareMs, results }));
else {
  console.log(`  one secret prepared for the first time: ${fixed(prepareMs)} ms`);
  for (const [name, { mbPerCpuSecond, timesReplaceAll }] of Object.entries(results)) {
    console.log(
      `  ${name.padEnd(24)} ${fixed(mbPerCpuSecond).padStart(6)} MB per CPU second   ${fixed(timesReplaceAll)} × replaceAll`,
    );
  }
}
