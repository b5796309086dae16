import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { givesWay, isNewer } from "./newer.js";
import type { Release } from "./newer.js";

it.each([
  ["1.0.1", "1.0.0", true],
  ["1.0.0", "1.0.0", false],
  ["1.10.0", "1.9.9", true],
  ["1.0.0", "1.0.0-rc.1", true],
  ["1.0.0-rc.1", "1.0.0", false],
  ["1.0.0-rc.10", "1.0.0-rc.9", true],
  ["1.0.0-rc.1", "1.0.0-beta.9", true],
  ["1.0.0-rc.1.1", "1.0.0-rc.1", true],
  ["1.0.0-rc", "1.0.0-1", true],
  ["1.0.0+other", "1.0.0", false],
  // Residents of protocol 1 name none; whoever names none is never newer.
  ["1.0.0", "", true],
  ["", "1.0.0", false],
  ["unknown", "1.0.0", false],
  ["1.0.0", "unknown", false],
  ["9", "1.0.0", false],
] as const)("isNewer(%j, %j) is %s", (one, other, want) => expect(isNewer(one, other)).toBe(want));

interface Case {
  readonly name: string;
  readonly own: readonly [string, string];
  readonly asking: readonly [string, string];
  readonly is_current: boolean;
  readonly gives_way: boolean;
}

const { releases }: { readonly releases: readonly Case[] } = JSON.parse(
  readFileSync(new URL("../../../../spec/vectors/resident.json", import.meta.url), "utf8"),
);
const releaseIn = ([version, build]: readonly [string, string]): Release => ({ version, build });

it.each(releases)("givesWay() $name", ({ own, asking, is_current: isCurrent, gives_way: want }) =>
  expect(givesWay(releaseIn(own), releaseIn(asking), isCurrent)).toBe(want),
);

const version = fc
  .tuple(
    fc.nat(2),
    fc.nat(2),
    fc.option(fc.constantFrom("1", "2", "rc", "rc.1"), { nil: undefined }),
  )
  .map(([minor, patch, pre]) => `1.${minor}.${patch}${pre === undefined ? "" : `-${pre}`}`);
const release = fc.record({ version, build: fc.constantFrom("a", "b", "c") });

it("givesWay() never leads back: whoever gave way to others gets its place from none of them", () => {
  fc.assert(
    fc.property(fc.array(release, { minLength: 2, maxLength: 12 }), (asking) => {
      const served = new Set<string>();
      const name = ({ version: one, build }: Release): string => `${one} ${build}`;
      let [now] = asking;
      for (const each of [...asking, ...asking, ...asking]) {
        if (now === undefined || !givesWay(now, each, true)) continue;
        served.add(name(now));
        now = each;
        expect(served).not.toContain(name(now));
      }
    }),
  );
});
