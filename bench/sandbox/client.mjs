// The agent of the benchmark: one file without imports of ours, so that it runs inside any
// boundary. `node client.mjs PORT REQUESTS MEGABYTES` prints what it measured as one line of JSON:
// a request's time on a kept connection and on a new one, in microseconds, and bytes a second.
import { Agent, get } from "node:http";

const [port, requests, megabytes] = process.argv.slice(2).map(Number);

function fetchFrom(path, agent) {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path, agent }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk) => (bytes += chunk.length)).on("end", () => resolve(bytes));
    }).on("error", reject);
  });
}

async function medianMicros(agent, count) {
  const samples = [];
  for (let i = -count / 10; i < count; i++) {
    const start = performance.now();
    await fetchFrom("/", agent);
    if (i >= 0) samples.push((performance.now() - start) * 1_000);
  }
  return samples.sort((a, b) => a - b)[Math.floor(samples.length / 2)];
}

const kept = new Agent({ keepAlive: true, maxSockets: 1 });
const keptMicros = await medianMicros(kept, requests);
const newMicros = await medianMicros(new Agent({ keepAlive: false }), requests / 2);
const start = performance.now();
const bytes = await fetchFrom(`/bulk/${megabytes}`, kept);
const megabytesPerSecond = bytes / 1_048_576 / ((performance.now() - start) / 1_000);
if (bytes !== megabytes * 1_048_576) throw new Error(`${bytes} bytes came`);
kept.destroy();
console.log(JSON.stringify({ keptMicros, newMicros, megabytesPerSecond }));
