// Loaded into a resident before its code: how long its event loop was held at a time. A hold is told
// apart by what the main thread did in it: it worked (a hold of ours), or it waited for a processor
// that others had (the machine's). SIGUSR2 begins and ends what counts, which is written as JSON to the
// file in ACP_BENCH_HOLDS when the process ends. Linux.
import { closeSync, openSync, readSync, writeFileSync } from "node:fs";

const EVERY_MS = 1;
const path = process.env.ACP_BENCH_HOLDS;
if (path !== undefined) {
  const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const bytes = Buffer.alloc(128);
  /** Nanoseconds that the main thread ran, and that it waited for a processor. */
  const look = () => {
    const size = readSync(schedstat, bytes, 0, bytes.length, 0);
    return bytes.toString("latin1", 0, size).split(" ").map(Number);
  };
  /** Milliseconds of each hold: its own work, and its wait for a processor. */
  const own = [];
  const others = [];
  let isCounted = false;
  process.on("SIGUSR2", () => (isCounted = !isCounted));
  let [ran, waited] = look();
  let begunMs = performance.now();
  const tick = () => {
    const heldMs = performance.now() - begunMs - EVERY_MS;
    const [ranNow, waitedNow] = look();
    if (isCounted && heldMs > EVERY_MS) {
      own.push((ranNow - ran) / 1e6);
      others.push((waitedNow - waited) / 1e6);
    }
    [ran, waited, begunMs] = [ranNow, waitedNow, performance.now()];
    setTimeout(tick, EVERY_MS).unref();
  };
  setTimeout(tick, EVERY_MS).unref();
  process.on("exit", () => {
    closeSync(schedstat);
    writeFileSync(path, JSON.stringify({ own, others }));
  });
}
