import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { readPrivateHosts } from "./addresses.js";
import { createForesight } from "./foresight.js";
import { refused } from "./refusals.js";

function make(privateHosts: readonly string[] = []): {
  foresight: ReturnType<typeof createForesight>;
  clock: ReturnType<typeof manualClock>;
} {
  const clock = manualClock();
  const rules = {
    naming: readPrivateHosts(privateHosts),
    ownPorts: () => [8_080],
    ownAddresses: () => new Set<string>(),
  };
  return { foresight: createForesight(rules, clock), clock };
}

/** The code that a host is refused with. */
function codeAt(
  { foresight }: ReturnType<typeof make>,
  host: string,
  port = 80,
): string | undefined {
  try {
    foresight.check({ host, port });
    return undefined;
  } catch (error) {
    return (error as ReturnType<typeof refused>).refusal.code;
  }
}

describe("createForesight()", () => {
  it.each([
    "127.0.0.1",
    "[::1]",
    "10.0.0.1",
    "169.254.169.254",
    "[fe80::1]",
    "localhost",
    "a.localhost",
    "0.0.0.0",
  ])("knows that %s is refused, without a resolver", (host) => {
    expect(codeAt(make(), host)).toBe("address_refused");
  });

  it.each(["example.com", "93.184.216.34", "localhost.example.com", "notlocalhost"])(
    "says nothing of %s",
    (host) => {
      expect(codeAt(make(), host)).toBeUndefined();
    },
  );

  it("lets through what the operator named, the proxy's own port only with that port", () => {
    const named = make(["localhost", "10.0.0.1:5432"]);
    expect([codeAt(named, "localhost"), codeAt(named, "10.0.0.1", 5432)]).toEqual([
      undefined,
      undefined,
    ]);
    expect([codeAt(named, "localhost", 8_080), codeAt(named, "10.0.0.1")]).toEqual([
      "address_refused",
      "address_refused",
    ]);
  });

  it("remembers for a while what a host was refused with, and nothing of what may be otherwise the next time", async () => {
    const known = make();
    known.foresight.note(
      { host: "inside.example", port: 80 },
      refused("address_refused", "private"),
    );
    known.foresight.note(
      { host: "gone.example", port: 80 },
      refused("upstream_unreachable", "no address"),
    );
    known.foresight.note({ host: "slow.example", port: 80 }, refused("upstream_timeout", "slow"));
    known.foresight.note({ host: "odd.example", port: 80 }, new Error("bug"));
    const now = (): readonly unknown[] =>
      ["inside", "gone", "slow", "odd"].map((name) => codeAt(known, `${name}.example`));
    expect(now()).toEqual(["address_refused", "upstream_unreachable", undefined, undefined]);
    expect(codeAt(known, "inside.example", 443)).toBeUndefined();
    await known.clock.advance(10_000);
    expect(now()).toEqual(["address_refused", undefined, undefined, undefined]);
    await known.clock.advance(50_000);
    expect(now()).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("remembers no more than 1,000 hosts", () => {
    const known = make();
    for (let at = 0; at <= 1_000; at++)
      known.foresight.note(
        { host: `h${at}.example`, port: 80 },
        refused("address_refused", "private"),
      );
    expect([codeAt(known, "h0.example"), codeAt(known, "h1.example")]).toEqual([
      undefined,
      "address_refused",
    ]);
  });
});
