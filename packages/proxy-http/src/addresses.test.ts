import { describe, expect, it } from "vitest";
import {
  type AddressRules,
  checkAddresses,
  interfaceAddresses,
  literalAddress,
  readPrivateHosts,
} from "./addresses.js";

const PORT = 3128;

function rules(
  privateHosts: readonly string[] = [],
  ownAddresses: readonly string[] = [],
): AddressRules {
  return {
    naming: readPrivateHosts(privateHosts),
    ownPorts: () => [PORT],
    ownAddresses: () => new Set(ownAddresses),
  };
}

/** `"ok"`, or the reason. */
function check(
  target: { readonly host: string; readonly port: number },
  addresses: readonly string[],
  given: AddressRules = rules(),
): string {
  try {
    checkAddresses(target, addresses, given);
    return "ok";
  } catch (error) {
    expect(error).toMatchObject({
      name: "RefusedError",
      refusal: { code: "address_refused", status: 403, retryable: false },
    });
    return error instanceof Error ? error.message : "";
  }
}

const app = { host: "app.example", port: 80 };

describe("checkAddresses()", () => {
  it.each(["93.184.215.14", "2606:4700:4700::1111"])("lets %s pass", (address) => {
    expect(check(app, [address])).toBe("ok");
  });

  it.each([
    ["127.0.0.1", "this machine"],
    ["127.9.9.9", "this machine"],
    ["::1", "this machine"],
    ["0:0:0:0:0:0:0:1", "this machine"],
    ["10.0.0.5", "in a private network"],
    ["172.16.1.1", "in a private network"],
    ["192.168.1.1", "in a private network"],
    ["100.64.0.1", "in a private network"],
    ["fd12::1", "in a private network"],
  ])("refuses %s unless its host is named", (address, what) => {
    expect(check(app, [address])).toBe(
      `the address of "app.example" is ${what}; "app.example:80" in proxy.private_hosts allows it`,
    );
    expect(check(app, [address], rules(["app.example"]))).toBe("ok");
    expect(check(app, [address], rules(["app.example:80"]))).toBe("ok");
    expect(
      check(
        app,
        [address],
        rules(["app.example:81", "example", "www.app.example", "other.example"]),
      ),
    ).not.toBe("ok");
  });

  it.each([
    ["link-local", "169.254.1.1"],
    ["metadata", "169.254.169.254"],
    ["metadata that looks private", "100.100.100.200"],
    ["metadata that looks public", "168.63.129.16"],
    ["metadata of IPv6", "fd00:ec2::254"],
    ["link-local of IPv6", "fe80::1"],
    ["a zone", "fe80::1%eth0"],
    ["unspecified", "0.0.0.0"],
    ["unspecified of IPv6", "::"],
    ["mapped", "::ffff:127.0.0.1"],
    ["compatible", "::127.0.0.1"],
    ["NAT64", "64:ff9b::a00:1"],
    ["local NAT64", "64:ff9b:1::a00:1"],
    ["6to4", "2002:a00:1::1"],
    ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["multicast", "224.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["documentation", "192.0.2.1"],
    ["octal", "0177.0.0.1"],
    ["a number", "2130706433"],
    ["no address", "app.example"],
    ["nothing", ""],
  ])("refuses %s (%s) even where the host is named", (_name, address) => {
    const why =
      'the address of "app.example" is link-local, translated, reserved or cloud metadata; no setting allows it';
    expect(check(app, [address], rules(["app.example", "app.example:80"], [address]))).toBe(why);
  });

  it("refuses a whole answer for one address in it, wherever it stands", () => {
    const good = ["93.184.215.14", "93.184.215.15"];
    for (const bad of ["10.0.0.1", "::1", "169.254.169.254"])
      for (let at = 0; at <= good.length; at++)
        expect(check(app, good.toSpliced(at, 0, bad))).not.toBe("ok");
  });

  it.each([
    [["10.0.0.1"], true],
    [["127.0.0.1"], true],
    [["169.254.169.254"], false],
    [["10.0.0.1", "169.254.169.254"], false],
    [["fe80::1", "127.0.0.1"], false],
  ])(
    "speaks of private_hosts where naming the host would help, for %j: %s",
    (addresses, isNameable) => {
      const remedy = `Choose another host${isNameable ? ", or ask the operator to name this one in proxy.private_hosts" : ""}`;
      expect(() => checkAddresses(app, addresses, rules())).toThrow(
        expect.objectContaining({ refusal: expect.objectContaining({ remedy }) }),
      );
      expect(check(app, addresses).includes("private_hosts")).toBe(isNameable);
    },
  );

  it("takes what this machine's interfaces have for this machine, whatever kind of address it is", () => {
    const here = rules([], ["93.184.215.14", "2606:4700::1"]);
    expect(check(app, ["93.184.215.14"], here)).toContain("this machine");
    expect(check(app, ["2606:4700:0:0::1"], here)).toContain("this machine");
    expect(check(app, ["93.184.215.15"], here)).toBe("ok");
    expect(check(app, ["93.184.215.14"], rules(["app.example"], ["93.184.215.14"]))).toBe("ok");
  });

  it.each(["127.0.0.1", "127.0.0.2", "::1", "10.0.0.9"])(
    "refuses the proxy itself at %s where its host is named without the port",
    (address) => {
      const proxy = { host: "localhost", port: PORT };
      expect(check(proxy, [address], rules(["localhost"], ["10.0.0.9"]))).toBe(
        'the address of "localhost" is this proxy itself; only "localhost:3128" in proxy.private_hosts allows it',
      );
      expect(
        check({ ...proxy, port: PORT + 1 }, [address], rules(["localhost"], ["10.0.0.9"])),
      ).toBe("ok");
      expect(check(proxy, [address], rules(["localhost:3128"], ["10.0.0.9"]))).toBe("ok");
    },
  );

  it("takes the proxy's port on another machine for any other port", () => {
    expect(check({ host: "app.example", port: PORT }, ["93.184.215.14"])).toBe("ok");
    expect(check({ host: "app.example", port: PORT }, ["10.0.0.1"], rules(["app.example"]))).toBe(
      "ok",
    );
  });
});

describe("readPrivateHosts()", () => {
  it("spells hosts as actions do", () => {
    const naming = readPrivateHosts([
      "APP.Example.",
      "0x7f.1:8080",
      "[0::1]",
      "bücher.example:443",
    ]);
    expect(naming({ host: "app.example", port: 1 })).toBe("host");
    expect(naming({ host: "127.0.0.1", port: 8080 })).toBe("port");
    expect(naming({ host: "127.0.0.1", port: 8081 })).toBeUndefined();
    expect(naming({ host: "[::1]", port: 8081 })).toBe("host");
    expect(naming({ host: "xn--bcher-kva.example", port: 443 })).toBe("port");
  });

  it.each([
    "*",
    "*.example",
    "10.0.0.0/8",
    "http://app.example",
    "app.example:0",
    "app.example:http",
    "::1",
    "",
  ])("refuses %j: it names no host", (entry) => {
    expect(() => readPrivateHosts([entry])).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("interfaceAddresses()", () => {
  it("has the loopback address", () => {
    expect(
      [...interfaceAddresses()].some((address) => address === "127.0.0.1" || address === "::1"),
    ).toBe(true);
  });
});

describe("literalAddress()", () => {
  it("tells addresses from names", () => {
    expect(["[::1]", "10.0.0.1", "app.example", "localhost"].map(literalAddress)).toEqual([
      "::1",
      "10.0.0.1",
      undefined,
      undefined,
    ]);
  });
});
