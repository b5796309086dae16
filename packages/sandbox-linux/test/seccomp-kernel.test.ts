/**
 * Filters in the kernel of this host: over the same calls as in the interpreter, by a process that
 * carries none of them out.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostNeed } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import type { SeccompOptions } from "../src/seccomp.js";
import { makeSeccompFilter, seccompArch } from "../src/seccomp.js";
import { assembleBpf } from "../src/seccomp-assembler.js";
import { allOptions, callsToTry, expectedOutcome, HIGH_HALVES } from "./seccomp-oracle.js";

const directory = mkdtempSync(join(tmpdir(), "acp-seccomp-"));
const probe = join(directory, "probe");
const need = hostNeed("cc and seccomp filters", () => {
  if (seccompArch() === undefined) return `there is no filter for ${process.arch}`;
  const source = fileURLToPath(new URL("seccomp-probe.c", import.meta.url));
  const compiled = spawnSync("cc", ["-O1", "-o", probe, source], { encoding: "utf8" });
  return compiled.status === 0 ? undefined : (compiled.error?.message ?? compiled.stderr);
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

const LET_THROUGH = 1234;
const ERRNOS: Readonly<Record<string, number>> = {
  EPERM: 1,
  ENOSYS: 38,
  EPROTONOSUPPORT: 93,
  EAFNOSUPPORT: 97,
  allow: LET_THROUGH,
  kill: 65_535,
};

/** The same filter, but what it lets through is answered with an errno of the test's own. */
function withoutEffect(filter: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(filter);
  const view = new DataView(copy.buffer);
  for (let at = 0; at < copy.length; at += 8) {
    if (view.getUint16(at, true) === 0x06 && view.getUint32(at + 4, true) === 0x7fff_0000)
      view.setUint32(at + 4, 0x0005_0000 | LET_THROUGH, true);
  }
  return copy;
}

function askKernel(
  filter: Uint8Array,
  calls: readonly (readonly bigint[])[],
  mode: readonly string[] = [],
): readonly number[] {
  const path = join(directory, `filter-${Math.random()}`);
  writeFileSync(path, withoutEffect(filter));
  const input = new BigUint64Array(
    calls.flatMap((call) => Array.from({ length: 7 }, (_, index) => call[index] ?? 0n)),
  );
  const output = execFileSync(probe, [path, ...mode], {
    input: new Uint8Array(input.buffer),
    maxBuffer: 2 ** 24,
  });
  return [
    ...new Uint32Array(
      output.buffer.slice(output.byteOffset, output.byteOffset + output.byteLength),
    ),
  ];
}

const note = need.run ? "" : ` [${need.reason}]`;
/**
 * The kernel does not ask filters about uretprobe and uprobe of x64: outside of a probe they do
 * nothing, or end the caller.
 */
const isAsked = ({ number }: { readonly number: number }): boolean =>
  !(process.arch === "x64" && (number === 335 || number === 336));
const own: readonly SeccompOptions[] = allOptions.filter(({ arch }) => arch === seccompArch());

describe("makeSeccompFilter() in this kernel", () => {
  it.runIf(need.run).each(own)(
    `says what the table says: network $network, Unix sockets $unixSockets${note}`,
    (options) => {
      const calls = callsToTry(options.arch)
        .filter(isAsked)
        .flatMap(({ number, args }) =>
          HIGH_HALVES.map((high) => ({ number, args: args.map((value) => (high << 32n) | value) })),
        );
      const wrong: unknown[] = [];
      for (let from = 0; from < calls.length; from += 65_536) {
        const part = calls.slice(from, from + 65_536);
        const answers = askKernel(
          makeSeccompFilter(options),
          part.map(({ number, args }) => [BigInt(number), ...args]),
        );
        expect(answers.length).toBe(part.length);
        part.forEach((call, index) => {
          const want = ERRNOS[expectedOutcome(options, call)];
          if (answers[index] !== want) wrong.push({ ...call, got: answers[index], want });
        });
      }
      expect(wrong.slice(0, 5)).toEqual([]);
    },
  );

  it.runIf(need.run && process.arch === "x64").each(own)(
    `kills a call of i386: network $network, Unix sockets $unixSockets${note}`,
    (options) => {
      expect(askKernel(makeSeccompFilter(options), [[0n]], ["int80"])).toEqual([ERRNOS["kill"]]);
    },
  );

  it.runIf(need.run && process.arch === "x64")(
    `lets i386 through where the architecture is not looked at: the test above can fail${note}`,
    () => {
      const everything = assembleBpf([{ kind: "return", value: 0x7fff_0000 }]);
      expect(askKernel(everything, [[0n]], ["int80"])).toEqual([LET_THROUGH]);
    },
  );
});
