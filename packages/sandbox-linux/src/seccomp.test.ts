import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeep } from "../../../tools/deep.js";
import { runBpf } from "../test/bpf-interpreter.js";
import {
  allOptions,
  callsToTry,
  expectedOutcome,
  HIGH_HALVES,
  outcomeOf,
} from "../test/seccomp-oracle.js";
import type { SeccompOptions } from "./seccomp.js";
import { makeSeccompFilter, seccompArch } from "./seccomp.js";
import { AUDIT_ARCH, FIRST_UNKNOWN_SYSCALL } from "./seccomp-syscalls.js";

const named = allOptions.map(
  (options) =>
    [
      `${options.arch}, network ${options.network}, Unix sockets ${options.unixSockets}`,
      options,
    ] as const,
);

function outcome(
  filter: Uint8Array,
  options: SeccompOptions,
  call: { readonly number: number; readonly args: readonly bigint[] },
): string {
  return outcomeOf(runBpf(filter, { ...call, arch: AUDIT_ARCH[options.arch] }));
}

describe("makeSeccompFilter()", () => {
  // In the quick lane one for each architecture; the next test tries some calls of all of them.
  const tried = named.filter(
    ([, { arch }], at) => isDeep || named.findIndex(([, first]) => first.arch === arch) === at,
  );
  it.each(tried)("says of every number and argument what the table says: %s", (_, options) => {
    const filter = makeSeccompFilter(options);
    const wrong: unknown[] = [];
    let tried = 0;
    for (const call of callsToTry(options.arch)) {
      for (const high of HIGH_HALVES) {
        const args = call.args.map((value) => (high << 32n) | value);
        tried += 1;
        const [got, want] = [
          outcome(filter, options, { ...call, args }),
          expectedOutcome(options, { ...call, args }),
        ];
        if (got !== want) wrong.push({ ...call, args, got, want });
      }
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(tried).toBeGreaterThan(5_000);
  });

  it.each(named)("says of any call what the table says: %s", (_, options) => {
    const filter = makeSeccompFilter(options);
    const numbers = fc.oneof(fc.nat({ max: 520 }), fc.integer({ min: 0, max: 0xffff_ffff }));
    const value = fc.oneof(
      fc.bigInt({ min: 0n, max: 300n }),
      fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
      fc.nat({ max: 31 }).map((bit) => 1n << BigInt(bit)),
    );
    fc.assert(
      fc.property(numbers, fc.array(value, { minLength: 6, maxLength: 6 }), (number, args) => {
        expect(outcome(filter, options, { number, args })).toBe(
          expectedOutcome(options, { number, args }),
        );
      }),
    );
  });

  it.each(named)("kills the calls of every other architecture: %s", (_, options) => {
    const filter = makeSeccompFilter(options);
    const own = AUDIT_ARCH[options.arch];
    // i386, arm, big-endian arm64, riscv64, the other one of ours, and each of ours without its
    // 64-bit and its little-endian mark.
    const foreign = [
      0x4000_0003,
      0x4000_0028,
      0x8000_00b7,
      0xc000_00f3,
      ...Object.values(AUDIT_ARCH),
      own & 0x7fff_ffff,
      own & 0xbfff_ffff,
      0,
    ];
    for (const arch of foreign) {
      if (arch >>> 0 === own) continue;
      for (const number of [0, 1, 41, 198, 220, 0xffff_ffff])
        expect(outcomeOf(runBpf(filter, { number, arch, args: [] }))).toBe("kill");
    }
  });

  it("has no x32 call and none that is later than its table", () => {
    for (const options of allOptions) {
      const filter = makeSeccompFilter(options);
      for (const number of [FIRST_UNKNOWN_SYSCALL, 512, 0x4000_0000, 0x4000_0029, 0xffff_ffff]) {
        expect(outcome(filter, options, { number, args: [] })).toBe("ENOSYS");
      }
      expect(outcome(filter, options, { number: FIRST_UNKNOWN_SYSCALL - 1, args: [] })).toBe(
        "allow",
      );
    }
  });

  it.each(["strict", "none"] as const)("refuses Unix sockets with network %s", (network) => {
    expect(() => makeSeccompFilter({ arch: "x64", network, unixSockets: "private" })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("seccompArch()", () => {
  it("knows the architectures that have a filter", () => {
    expect(["x64", "arm64", "ia32", "riscv64", "s390x"].map((arch) => seccompArch(arch))).toEqual([
      "x64",
      "arm64",
      undefined,
      undefined,
      undefined,
    ]);
  });
});
