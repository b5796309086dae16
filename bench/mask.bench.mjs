// Secrets taken out of one line of an MCP server: time by size, so that it is seen to be linear;
// beside it what reading and writing that line as JSON costs. 20 secrets, of which the line holds
// none, one, or one a row.
import { createMasker, Secret } from "@acp/core/vault";
import { maskLine } from "../packages/proxy-mcp/src/mask-line.ts";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const MIB = 1024 * 1024;
const SIZES = [1, 2, 5, 10];
const ROUNDS = Number(process.env.ROUNDS ?? 5);

const digits = (seed, length) =>
  Array.from({ length }, (_, at) => (seed * 7 + at * at * 3 + 1) % 10).join("");
const values = Array.from({ length: 20 }, (_, i) =>
  i === 0 ? "1234500000" : `ghp_${digits(i, 36)}`,
);
const masker = createMasker(
  Object.freeze(values.map((value, i) => new Secret({ name: `S${i}`, value }))),
);
const [pin, token] = values;

const rows = {
  "prose, no secret": [
    "The quick brown fox jumps over the lazy dog; it is said to do so every day. ",
    "",
  ],
  "JSON in a text, no secret": [
    JSON.stringify(
      JSON.stringify({ id: 17, path: "C:\\data", text: 'a "word"\nand a line' }),
    ).slice(1, -1),
    "",
  ],
  "prose, one secret": [
    "The quick brown fox jumps over the lazy dog; it is said to do so every day. ",
    token,
  ],
  "rows of values, one number": [
    '","seen":1.25,"n":[17,12345],"name":"some text',
    `","pin":${pin},"x":"`,
  ],
  "rows of values, a secret a row": [
    `","seen":1.2345e9,"n":[17,12345],"name":"some text ${token}`,
    "",
  ],
  "backslashes alone": ["\\\\", ""],
};

/** A result of about so many bytes: rows, with something once in the middle. */
function lineOf([row, once], bytes) {
  const half = row.repeat(Math.floor((bytes - 200) / row.length / 2));
  return Buffer.from(
    `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${half}${once}${half}"}]}}\n`,
  );
}

const results = {};
for (const [name, row] of Object.entries(rows)) {
  const lines = SIZES.map((size) => lineOf(row, size * MIB));
  const samples = SIZES.map(() => []);
  const plain = [];
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, line] of lines.entries()) {
      const start = performance.now();
      const masked = maskLine(line, masker, () => true);
      const ms = performance.now() - start;
      if (masked === undefined) throw new Error(`the line could not be masked: ${name}`);
      if (round >= 0) samples[index].push(ms);
    }
    const start = performance.now();
    JSON.stringify(JSON.parse(lines.at(-1).toString()));
    if (round >= 0) plain.push(performance.now() - start);
  }
  const ms = samples.map((each) => summary(each).p50);
  results[name] = {
    ...Object.fromEntries(SIZES.map((size, index) => [`${size} MiB`, ms[index]])),
    growth: ms.at(-1) / ms[1] / (SIZES.at(-1) / SIZES[1]),
    json: summary(plain).p50,
  };
}

if (isJson) console.log(JSON.stringify({ unit: "ms", results }));
else {
  for (const [name, { growth, json, ...times }] of Object.entries(results)) {
    const list = Object.entries(times).map(([size, ms]) => `${size} ${fixed(ms).padStart(4)}`);
    console.log(
      `  ${name.padEnd(31)} ms: ${list.join("  ")}   10 MiB a byte against 2 MiB ${fixed(growth)}   JSON read and written ${fixed(json)}`,
    );
  }
}
