/**
 * Who may be dialled, end to end: other people's tables (read through ACP_VECTORS) and DNS
 * rebinding. What single hosts and addresses read as is shown in
 * packages/core/test/vectors-hosts.test.ts and addresses.test.ts.
 */
import { existsSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Authority, isConsentError, normalizeHost } from "@acp/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Naming, readPrivateHosts } from "../src/addresses.js";
import { createDialer, type DialerOptions } from "../src/dial.js";
import { RefusedError } from "../src/refusals.js";

const root: string = fileURLToPath(new URL("../../..", import.meta.url));
const folder: string = resolve(root, process.env["ACP_VECTORS"] ?? "../shared/vectors", "hosts");
const found = existsSync(folder);
const rowsOf = <T>(file: string): readonly T[] =>
  (JSON.parse(readFileSync(join(folder, file), "utf8")) as { readonly rows: readonly T[] }).rows;

/** A suite's result: printed, and for the test to expect. */
function report(
  suite: string,
  passed: number,
  failed: readonly string[],
  excluded: readonly string[],
): object {
  const counted: Record<string, number> = {};
  for (const reason of excluded) counted[reason] = (counted[reason] ?? 0) + 1;
  const reasons = Object.entries(counted).map(
    ([reason, count]) => `\n  excluded ${count}: ${reason}`,
  );
  process.stdout.write(`${suite}: ${passed}/${passed + failed.length}${reasons.join("")}\n`);
  return { passed, failed, excluded: counted };
}

const { signal: never } = new AbortController();

interface Recorded {
  readonly dial: (target: Authority) => Promise<"dialled" | "refused">;
  readonly dialled: string[];
}

/** A dialler whose connections go nowhere and are written down. */
function recorded(
  options: Pick<DialerOptions, "resolve"> & {
    readonly privateHosts?: readonly string[];
    readonly ownPorts?: readonly number[];
  },
): Recorded {
  const { privateHosts = [], ownPorts = [], ...rest } = options;
  const dialled: string[] = [];
  const dial = createDialer({
    ...rest,
    naming: readPrivateHosts(privateHosts),
    ownPorts: () => ownPorts,
    ownAddresses: () => new Set(["192.168.1.100"]),
    connect: (address) => {
      dialled.push(address);
      const socket = new Socket();
      setImmediate(() => socket.emit("connect"));
      return socket;
    },
  });
  return {
    dialled,
    dial: async (target) => {
      try {
        (await dial(target, never)).destroy();
        return "dialled";
      } catch (error) {
        if (error instanceof RefusedError && error.refusal.code === "address_refused")
          return "refused";
        throw error;
      }
    },
  };
}

interface ClassRow {
  readonly ip: string;
  readonly port: number;
  readonly expect: string;
}

/** The ranges that smokescreen's test allows, as the one host of the row that lies in them. */
const ALLOWED = ["10.0.1.1", "172.16.1.1", "192.168.1.1", "127.0.1.1", "10.0.0.1:321"];
const CLASS_EXCLUSIONS: Readonly<Record<string, string>> = {
  "64:ff9c::1 1": "stricter here: outside what IANA hands out",
};

interface ProxyRow {
  readonly host?: string;
  readonly no_proxy: string;
  readonly match: boolean;
}

interface UsesRow {
  readonly host: string;
  readonly uses_proxy: boolean;
}

const GO_NO_PROXY =
  "foobar.com,.barbaz.net,*.wildcard.io,192.168.1.1,192.168.1.2:81,192.168.1.3:80,10.0.0.0/30,[2001:db8::52:0:1],[2001:db8::52:0:2]:443,[2001:db8::52:0:3]:80,2002:db8:a::45/64".split(
    ",",
  );

const GO_STRICTER =
  "stricter here: no subdomains, patterns or ranges, and loopback only where it is named";

/** How entries name, those left out that name no host. */
function namingOf(entries: readonly string[]): Naming {
  const taken = entries.filter((entry) => {
    try {
      readPrivateHosts([entry]);
      return true;
    } catch (error) {
      if (isConsentError(error, "options_invalid")) return false;
      throw error;
    }
  });
  return readPrivateHosts(taken);
}

const normal = (host: string): string =>
  normalizeHost(host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);

describe.runIf(found)(`host vectors${found ? "" : ", skipped: no vectors"}`, () => {
  it("smokescreen: what it denies is not dialled, and what it allows is where it is named", async () => {
    const failed: string[] = [];
    const excluded: string[] = [];
    let passed = 0;
    for (const row of rowsOf<ClassRow>("smokescreen_classify_ip.json")) {
      const { ip, port, expect: want } = row;
      const target = { host: normal(ip), port };
      const isNamed =
        want === "ipAllowUserConfigured" ||
        (want === "ipAllowDefault" && /^(?:172\.16|192\.168)\./.test(ip));
      const { dial, dialled } = recorded({
        ownPorts: [4750],
        privateHosts: isNamed ? [...ALLOWED, target.host] : [],
      });
      const got = await dial(target);
      const reason =
        want === "ipDenyUserConfigured"
          ? "denied by its configuration: a rule of the policy here"
          : CLASS_EXCLUSIONS[`${ip} ${port}`];
      if (reason !== undefined) excluded.push(reason);
      else if (
        got === (want.startsWith("ipDeny") ? "refused" : "dialled") &&
        dialled.length === (got === "dialled" ? 1 : 0)
      )
        passed++;
      else failed.push(`${ip} ${port} ${want}: ${got}`);
    }
    expect(report("smokescreen classes, dialled", passed, failed, excluded)).toEqual({
      passed: 51,
      failed: [],
      excluded: {
        "denied by its configuration: a rule of the policy here": 6,
        "stricter here: outside what IANA hands out": 1,
      },
    });
  });

  it("curl's NO_PROXY: private hosts name no host that curl does not match", () => {
    const failed: string[] = [];
    const excluded: string[] = [];
    let passed = 0;
    for (const row of rowsOf<ProxyRow>("curl_noproxy.json")) {
      const { host, no_proxy: list, match } = row;
      if (host === undefined) {
        excluded.push("a test of CIDR arithmetic: private hosts have no ranges");
        continue;
      }
      const isNamed =
        namingOf(list.split(",").map((entry) => entry.trim()))({ host: normal(host), port: 80 }) !==
        undefined;
      if (isNamed === match) passed++;
      else if (match)
        excluded.push(
          list.includes("/")
            ? "stricter here: no ranges"
            : "stricter here: no subdomains, no leading dot",
        );
      else failed.push(`${host} in ${list}`);
    }
    expect(report("curl NO_PROXY, as private hosts", passed, failed, excluded)).toEqual({
      passed: 43,
      failed: [],
      excluded: {
        "a test of CIDR arithmetic: private hosts have no ranges": 17,
        "stricter here: no ranges": 27,
        "stricter here: no subdomains, no leading dot": 8,
      },
    });
  });

  it("Go's NO_PROXY: private hosts name no host that Go does not match", () => {
    const failed: string[] = [];
    const excluded: string[] = [];
    let passed = 0;
    const naming = namingOf(GO_NO_PROXY);
    for (const { host, uses_proxy: usesProxy } of rowsOf<UsesRow>("go_httpproxy_useproxy.json")) {
      const isNamed = naming({ host: normal(host), port: 80 }) !== undefined;
      if (isNamed === !usesProxy) passed++;
      else if (!isNamed) excluded.push(GO_STRICTER);
      else failed.push(host);
    }
    expect(report("Go NO_PROXY, as private hosts", passed, failed, excluded)).toEqual({
      passed: 18,
      failed: [],
      excluded: { [GO_STRICTER]: 9 },
    });
  });
});

const PUBLIC = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "8.8.8.8"] as const;
const HIDDEN = [
  "127.0.0.1",
  "10.0.0.1",
  "169.254.169.254",
  "::1",
  "::ffff:10.0.0.1",
  "fd00::1",
  "100.64.0.1",
  "192.168.1.100",
  "64:ff9b::a00:1",
  "0.0.0.0",
];
const isHidden = (address: string): boolean => HIDDEN.includes(address);
const TRIES = 10_000;

describe("DNS rebinding", () => {
  it(`reaches no hidden address in ${TRIES} tries where the answer changes after the first look`, async () => {
    let looks = 0;
    const resolveRebinding = (): Promise<readonly string[]> => {
      const first = looks % 2 === 0;
      looks++;
      // The first look of each try is good; whoever looks again is led to a hidden address.
      return Promise.resolve([
        first ? (PUBLIC[looks % PUBLIC.length] ?? "") : (HIDDEN[looks % HIDDEN.length] ?? ""),
      ]);
    };
    const { dial, dialled } = recorded({ resolve: resolveRebinding });
    for (let tried = 0; tried < TRIES; tried++) {
      looks = tried * 2;
      expect(await dial({ host: `r${tried}.attacker.example`, port: 80 })).toBe("dialled");
      expect(looks).toBe(tried * 2 + 1);
    }
    expect(dialled).toHaveLength(TRIES);
    expect(dialled.filter((address) => !PUBLIC.some((each) => each === address))).toEqual([]);
    process.stdout.write(
      `rebinding: ${TRIES} tries, ${dialled.filter(isHidden).length} private dials\n`,
    );
  });

  it("reaches no hidden address where good and bad answers take turns", async () => {
    let looks = 0;
    const { dial, dialled } = recorded({
      resolve: () =>
        Promise.resolve([
          (looks++ % 2 === 0 ? PUBLIC : HIDDEN)[Math.floor(looks / 2) % PUBLIC.length] ?? "",
        ]),
    });
    const outcomes = [];
    for (let tried = 0; tried < 1_000; tried++)
      outcomes.push(await dial({ host: "r.attacker.example", port: 80 }));
    expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(500);
    expect(dialled.filter(isHidden)).toEqual([]);
  });

  it("reaches nothing through an answer with one hidden address, wherever it stands", async () => {
    const answer = fc.tuple(
      fc.array(fc.constantFrom(...PUBLIC), { maxLength: 4 }),
      fc.constantFrom(...HIDDEN),
      fc.array(fc.constantFrom(...PUBLIC), { maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(answer, async ([before, hidden, after]) => {
        const { dial, dialled } = recorded({
          resolve: () => Promise.resolve([...before, hidden, ...after]),
        });
        expect(await dial({ host: "mixed.example", port: 80 })).toBe("refused");
        expect(dialled).toEqual([]);
      }),
    );
  });
});
