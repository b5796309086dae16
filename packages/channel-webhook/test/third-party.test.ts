/** Other people's tables of addresses, read through ACP_VECTORS. */
import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { addressKind } from "../src/address-guard.js";

const root: string = fileURLToPath(new URL("../../..", import.meta.url));
const folder: string = resolve(root, process.env["ACP_VECTORS"] ?? "../shared/vectors", "hosts");
const found = existsSync(folder);
const rows = <T>(file: string): readonly T[] =>
  (JSON.parse(readFileSync(join(folder, file), "utf8")) as { readonly rows: readonly T[] }).rows;

const isPublic = (address: string): boolean => addressKind(address) === "public";
const report = (suite: string, all: number, wrong: readonly string[], excluded: readonly string[]): void =>
  void process.stdout.write(`${suite}: ${all - wrong.length}/${all}${excluded.map((one) => `\n  excluded ${one}`).join("")}\n`);

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
    // Outside what IANA hands out, in its protocol block 2001::/23, in a documentation block, no address at all, or 224.0.0.0/4.
    const known = (ip: string): boolean =>
      isIP(ip) === 0 || /^22[4-9]\.|^23\d\./.test(ip) || /^2001:(?:[0-9a-f]{0,2}|1[0-9a-f]{2}):/.test(ip) || !/^[23][0-9a-f]{3}:/.test(ip);
    expect(stricter.filter((ip) => !known(ip))).toEqual([]);
  });

  it("smokescreen: what it denies is not public", () => {
    const all = rows<{ readonly ip: string; readonly expect: string }>("smokescreen_classify_ip.json");
    // Rows that it allows say what its configuration allows, private ranges among it.
    const ours = all.filter((row) => row.expect.startsWith("ipDeny") && row.expect !== "ipDenyUserConfigured");
    const wrong = ours.filter((row) => isPublic(row.ip)).map(({ ip, expect: want }) => `${ip} ${want}`);
    report("smokescreen", ours.length, wrong, [`${all.length - ours.length} rows: allowed, or denied by their configuration`]);
    expect(ours.length).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });

  it("ipaddr.js: only its unicast is public", () => {
    const all = rows<{ readonly ip: string; readonly range: string }>("ipaddrjs_ranges.json");
    const ours = all.filter(({ ip }) => !ip.includes("%"));
    const wrong = ours.filter(({ ip, range }) => isPublic(ip) !== (range === "unicast")).map(({ ip, range }) => `${ip} ${range}`);
    report("ipaddr.js", ours.length, wrong, [`${all.length - ours.length} row: an address with a zone is never public here`]);
    expect(wrong).toEqual([]);
  });
});
