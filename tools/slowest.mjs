// The test files that took longest, for the end of a run: seconds on the wall, and CPU seconds with
// child processes, which a busy machine does not change (tools/file-cost.ts).

const SHOWN = 10;
/** Nobody waits for less. */
const SLOW_MS = 2_000;

const seconds = (/** @type {number} */ ms) => (ms / 1_000).toFixed(1);

/**
 * @param {readonly { file: string, ms: number, cpuMs?: number | undefined }[]} files
 * @returns {string[]} A title and one line for each of the slowest, or nothing.
 */
export function slowest(files) {
  const slow = files
    .filter(({ ms }) => ms >= SLOW_MS)
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SHOWN);
  if (slow.length === 0) return [];
  return [
    "slowest:",
    ...slow.map(({ file, ms, cpuMs }) => {
      const cpu = cpuMs === undefined ? "" : `${seconds(cpuMs)} s CPU`;
      return `${seconds(ms).padStart(7)} s ${cpu.padStart(13)}  ${file}`;
    }),
  ];
}
