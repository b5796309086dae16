// How long one call takes, and how many go through a second: what the benchmarks of MCP have in
// common.
import { fixed, summary } from "../samples.mjs";

/** Calls in flight for {@link throughput}. */
export const IN_FLIGHT = 64;

/** Microseconds of each of so many calls, one after the other. */
export async function latency({ call }, calls) {
  const samples = [];
  for (let i = 0; i < calls; i++) {
    const start = performance.now();
    await call(`hello ${i}`);
    samples.push((performance.now() - start) * 1_000);
  }
  return samples;
}

/** Calls a second, with {@link IN_FLIGHT} of so many under way. */
export async function throughput({ call }, calls) {
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (next++ < calls) await call("hello");
    }),
  );
  return calls / ((performance.now() - start) / 1_000);
}

/**
 * Measures clients, interleaved, each after a round that does not count.
 *
 * @param connects - By name, how each client is reached.
 * @returns Microseconds of calls, and calls a second, by name.
 */
export async function compare(connects, { rounds, calls, burst }) {
  const [clients, samples, rates] = [{}, {}, {}];
  try {
    for (const [name, connect] of Object.entries(connects)) {
      clients[name] = await connect();
      samples[name] = [];
      rates[name] = [];
      await latency(clients[name], calls);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [name, client] of Object.entries(clients))
        samples[name].push(...(await latency(client, calls)));
      for (const [name, client] of Object.entries(clients))
        rates[name].push(await throughput(client, burst));
    }
  } finally {
    await Promise.all(Object.values(clients).map(({ end }) => end()));
  }
  return { samples, rates };
}

/** Prints what {@link compare} measured, with what each adds to the one that is named. */
export function tell({ samples, rates }, floorName, isJson) {
  const floor = summary(samples[floorName]);
  const results = Object.fromEntries(
    Object.entries(samples).map(([name, list]) => {
      const { p50, p99 } = summary(list);
      return [name, { p50, p99, addedP50: p50 - floor.p50, perSecond: summary(rates[name]).p50 }];
    }),
  );
  if (isJson) return console.log(JSON.stringify({ unit: "µs", results }));
  for (const [name, { p50, p99, addedP50, perSecond }] of Object.entries(results))
    console.log(
      `  ${name.padEnd(22)} p50 ${fixed(p50).padStart(5)} µs  p99 ${fixed(p99).padStart(6)} µs  added ${fixed(addedP50).padStart(5)} µs  ${fixed(perSecond).padStart(7)} requests/s at ${IN_FLIGHT} in flight`,
    );
  return undefined;
}
