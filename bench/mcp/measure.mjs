// How long one call takes, and how many go through a second: what the benchmarks of MCP have in
// common.

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
