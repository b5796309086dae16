/**
 * Notes what each test file costs in CPU time, its child processes included: the one measure that a
 * busy machine leaves alone. tools/test.mjs prints the dearest.
 */
import { afterAll } from "vitest";
import { familyCpuMs } from "./family-cpu.mjs";

declare module "vitest" {
  interface TaskMeta {
    /** CPU time of the file in milliseconds. */
    cpuMs?: number;
  }
}

const before = familyCpuMs();

// Registered first, so it runs last.
// oxlint-disable-next-line no-empty-pattern -- Vitest reads from the pattern which fixtures to make
afterAll(({}, file) => {
  const after = familyCpuMs();
  if (before !== undefined && after !== undefined) file.meta.cpuMs = after - before;
});
