import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { isPublic, lookupWithin } from "./reach.js";

const resolve = (mayReach: typeof isPublic, all: boolean): Promise<unknown> =>
  new Promise((done) =>
    lookupWithin(mayReach)("localhost", { all }, (error, address) => done(error ?? address)),
  );

describe("lookupWithin()", () => {
  it.each([true, false])(
    "refuses a name whose addresses may not be reached, with all: %s",
    async (all) => {
      expect(await resolve(isPublic, all)).toBeInstanceOf(Error);
    },
  );

  it("refuses the whole answer where one address may not be reached", async () => {
    const all = (await resolve(() => true, true)) as readonly { readonly address: string }[];
    const [one] = all;
    expect(await resolve((address) => address !== one?.address, true)).toBeInstanceOf(Error);
  });

  it("gives what Node asks for: one address, or all of them", async () => {
    expect(await resolve(() => true, false)).toMatch(/^(?:127\.|::1$)/);
    expect(await resolve(() => true, true)).toEqual(
      expect.arrayContaining([
        { address: expect.any(String) as unknown, family: expect.any(Number) as unknown },
      ]),
    );
  });
});

describe("isPublic()", () => {
  it("is false for every address of this machine, and for what is no address", () => {
    const own = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).map(({ address }) => address),
    );
    for (const address of [...own, "127.0.0.1", "::1", "fe80::1", "192.168.1.1", "", "example.com"])
      expect([address, isPublic(address)]).toEqual([address, false]);
    expect(isPublic("93.184.216.34")).toBe(true);
  });
});
