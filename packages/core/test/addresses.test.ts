/**
 * Kinds of addresses: our vectors, other people's tables (read through ACP_VECTORS), laws, and
 * Node's own reading of the same blocks.
 */
import { existsSync, readFileSync } from "node:fs";
import { BlockList, isIP } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressKind } from "../src/action/address.js";

const root: string = fileURLToPath(new URL("../../..", import.meta.url));
const folder: string = resolve(root, process.env["ACP_VECTORS"] ?? "../shared/vectors", "hosts");
const found = existsSync(folder);
const rows = <T>(file: string): readonly T[] =>
  (JSON.parse(readFileSync(join(folder, file), "utf8")) as { readonly rows: readonly T[] }).rows;

const isPublic = (address: string): boolean => addressKind(address) === "public";
const report = (
  suite: string,
  all: number,
  wrong: readonly string[],
  excluded: readonly string[],
): void =>
  void process.stdout.write(
    `${suite}: ${all - wrong.length}/${all}${excluded.map((one) => `\n  excluded ${one}`).join("")}\n`,
  );

describe.runIf(found)(`address vectors${found ? "" : ", skipped: no vectors"}`, () => {
  it("private-ip: nothing private counts as public", () => {
    const all = rows<{ readonly ip: string; readonly private: boolean }>("private_ip.json");
    const hidden = all.filter((row) => row.private);
    const wrong = hidden.filter(({ ip }) => isPublic(ip)).map(({ ip }) => ip);
    const stricter = all.filter((row) => !row.private && !isPublic(row.ip)).map(({ ip }) => ip);
    report("private-ip", hidden.length, wrong, [
      `${all.length - hidden.length} public rows: ${stricter.length} of them are not handed out, multicast, documentation or transition, and refused`,
    ]);
    expect(hidden.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
    // Outside what IANA hands out, in its protocol block 2001::/23, in a documentation block, no
    // address at all, or 224.0.0.0/4.
    const known = (ip: string): boolean =>
      isIP(ip) === 0 ||
      /^22[4-9]\.|^23\d\./.test(ip) ||
      /^2001:(?:[0-9a-f]{0,2}|1[0-9a-f]{2}):/.test(ip) ||
      !/^[23][0-9a-f]{3}:/.test(ip);
    expect(stricter.filter((ip) => !known(ip))).toEqual([]);
  });

  it("smokescreen: what it denies is not public", () => {
    const all = rows<{ readonly ip: string; readonly expect: string }>(
      "smokescreen_classify_ip.json",
    );
    // Rows that it allows say what its configuration allows, private ranges among it.
    const ours = all.filter(
      (row) => row.expect.startsWith("ipDeny") && row.expect !== "ipDenyUserConfigured",
    );
    const wrong = ours
      .filter((row) => isPublic(row.ip))
      .map(({ ip, expect: want }) => `${ip} ${want}`);
    report("smokescreen", ours.length, wrong, [
      `${all.length - ours.length} rows: allowed, or denied by their configuration`,
    ]);
    expect(ours.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });

  it("ipaddr.js: only its unicast is public", () => {
    const all = rows<{ readonly ip: string; readonly range: string }>("ipaddrjs_ranges.json");
    const ours = all.filter(({ ip }) => !ip.includes("%"));
    const wrong = ours
      .filter(({ ip, range }) => isPublic(ip) !== (range === "unicast"))
      .map(({ ip, range }) => `${ip} ${range}`);
    report("ipaddr.js", ours.length, wrong, [
      `${all.length - ours.length} row: an address with a zone is never public here`,
    ]);
    expect(wrong).toEqual([]);
  });
});

describe("spec/vectors/addresses.json", () => {
  const { cases } = JSON.parse(readFileSync(join(root, "spec/vectors/addresses.json"), "utf8")) as {
    readonly cases: readonly {
      readonly name: string;
      readonly address: string;
      readonly expect: string;
    }[];
  };

  it.each(cases)("addressKind() $name", ({ address, expect: want }) => {
    expect(addressKind(address)).toBe(want);
  });
});

describe("addresses", () => {
  it("of a private or special range are never public, however IPv6 wraps them", () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const inside = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127, 224, 239, 240, 255), octet, octet, octet),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
    );
    fc.assert(
      fc.property(inside, (octets) => {
        const address = octets.join(".");
        expect(addressKind(address)).not.toBe("public");
        for (const prefix of ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::"])
          expect(addressKind(prefix + address)).toBe(
            prefix + address === "::0.0.0.1" ? "loopback" : "refused",
          );
        const [a, b, c, d] = octets.map((each) => each.toString(16).padStart(2, "0"));
        expect(addressKind(`2002:${a}${b}:${c}${d}::1`)).toBe("refused");
      }),
    );
  });

  it("are of one kind, whatever the text is", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (text) => {
        expect(["public", "loopback", "private", "refused"]).toContain(addressKind(text));
      }),
    );
  });

  it("are read as Node reads them", () => {
    const blocks = new BlockList();
    blocks.addSubnet("2000::", 3, "ipv6");
    blocks.addSubnet("10.0.0.0", 8, "ipv4");
    const spelled = fc.oneof(
      fc.ipV6(),
      fc.ipV4().map((text) => text.replace(/^[0-9]+/, "10")),
      fc.ipV6().map((text) => text.replace(/^[0-9a-f]+/i, "2a00")),
      fc.stringMatching(/^[0-9a-f:.]{2,20}$/),
    );
    fc.assert(
      fc.property(spelled, (text) => {
        if (isIP(text) === 0) expect(addressKind(text)).toBe("refused");
        if (isIP(text) === 4 && blocks.check(text, "ipv4"))
          expect(addressKind(text)).toBe("private");
        if (isIP(text) === 6 && addressKind(text) === "public")
          expect(blocks.check(text, "ipv6")).toBe(true);
        if (isIP(text) === 6 && text.startsWith("2a00:")) expect(addressKind(text)).toBe("public");
      }),
      { numRuns: 2_000 },
    );
  });
});
