// Samples of a benchmark: single calls timed in turn, so that drift of the machine hits every
// contestant alike.

/** The value below which a share of the samples lies. */
export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** p50 and p99 of samples. */
export function summary(samples) {
  const sorted = Float64Array.from(samples).sort();
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), samples: sorted.length };
}

/** Median cost of reading the clock twice, in microseconds: part of every sample. */
export function clockCost() {
  const samples = [];
  for (let i = 0; i < 20_000; i++) {
    const start = performance.now();
    samples.push((performance.now() - start) * 1_000);
  }
  return summary(samples).p50;
}

/**
 * Times single calls of every contestant, in rounds that interleave them.
 *
 * @param contestants - name → function of the request's index.
 * @returns name → samples in microseconds.
 */
export function timeInterleaved(contestants, { rounds, requests, warmup }) {
  const names = Object.keys(contestants);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmup; round < rounds; round++) {
    for (const name of names) {
      const call = contestants[name];
      const kept = samples[name];
      for (let i = 0; i < requests; i++) {
        const start = performance.now();
        call(i);
        const micros = (performance.now() - start) * 1_000;
        if (round >= 0) kept.push(micros);
      }
    }
  }
  return samples;
}

export const fixed = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0));
