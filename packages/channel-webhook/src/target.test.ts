import { describe, expect, it } from "vitest";
import { addressesOf, readTarget, systemResolve } from "./target.js";

const open = new AbortController().signal;

describe("readTarget()", () => {
  it.each([
    ["https://example.com/acp", "example.com", 443],
    ["https://Example.COM:8443/acp?x=1", "example.com", 8443],
    ["http://127.0.0.1:8080/", "127.0.0.1", 8080],
    ["http://[::1]/", "::1", 80],
    ["http://localhost:3000", "localhost", 3000],
    ["https://localhost", "localhost", 443],
    ["http://127.1/", "127.0.0.1", 80],
  ])("reads %s", (url, host, port) => {
    expect(readTarget(url, [])).toMatchObject({ host, port });
  });

  it.each([
    ["http to anywhere else", "http://example.com/", "options_invalid"],
    ["http to a private address", "http://10.0.0.5/", "options_invalid"],
    ["http to all addresses", "http://0.0.0.0/", "options_invalid"],
    ["https to a private address", "https://10.0.0.5/", "options_invalid"],
    ["https to the cloud's metadata", "https://169.254.169.254/", "options_invalid"],
    ["https to a mapped address", "https://[::ffff:127.0.0.1]/", "options_invalid"],
    ["https to a unique local address", "https://[fd00::1]/", "options_invalid"],
    ["a name below localhost, which may be anywhere", "http://a.localhost/", "options_invalid"],
    ["another scheme", "file:///etc/passwd", "host_invalid"],
    ["a name and password", "https://a:b@example.com/", "host_invalid"],
    ["no URL", "example.com", "host_invalid"],
    ["an empty text", "", "host_invalid"],
  ])("refuses %s", (_name, url, code) => {
    expect(() => readTarget(url, [])).toThrow(expect.objectContaining({ code }));
  });

  it("refuses plain http also to a host that may be private", () => {
    expect(() => readTarget("http://approvals.internal/", ["approvals.internal"])).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("takes a private address that is on the list, and no other", () => {
    expect(readTarget("https://10.0.0.5/", ["10.0.0.5"])).toMatchObject({ isPrivateAllowed: true });
    expect(readTarget("https://[fd00::1]/", ["[fd00::1]"])).toMatchObject({
      isPrivateAllowed: true,
    });
    expect(() => readTarget("https://10.0.0.6/", ["10.0.0.5"])).toThrow(/10\.0\.0\.6/);
    expect(() => readTarget("https://169.254.169.254/", ["169.254.169.254"])).toThrow(
      /no receiver has that address/,
    );
  });

  it("never shows the path", () => {
    expect(() => readTarget("http://example.com/hunter2?hunter2", [])).toThrow(
      expect.not.stringMatching("hunter2"),
    );
    try {
      readTarget("http://example.com/hunter2?hunter2", []);
    } catch (error) {
      expect(String(error)).not.toContain("hunter2");
    }
  });
});

describe("addressesOf()", () => {
  const target = readTarget("https://example.com/", []);
  const inside = readTarget("https://approvals.internal/", ["approvals.internal"]);

  it("hands out what was resolved, once", async () => {
    let calls = 0;
    const resolve = async (host: string): Promise<readonly string[]> => {
      calls++;
      expect(host).toBe("example.com");
      return ["8.8.8.8", "2606:4700:4700::1111"];
    };
    expect(await addressesOf(target, resolve, open)).toEqual(["8.8.8.8", "2606:4700:4700::1111"]);
    expect(calls).toBe(1);
  });

  it.each([
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "fd00::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "not-an-address",
  ])("refuses the whole answer where it holds %s", async (address) => {
    const resolve = async (): Promise<readonly string[]> => ["8.8.8.8", address];
    await expect(addressesOf(target, resolve, open)).rejects.toMatchObject({
      code: "channel_failed",
    });
  });

  it("lets a host that may be private have private and public addresses, and no others", async () => {
    expect(
      await addressesOf(inside, async () => ["10.1.2.3", "127.0.0.1", "fd00::5", "8.8.8.8"], open),
    ).toHaveLength(4);
    for (const address of [
      "169.254.169.254",
      "fd00:ec2::254",
      "0.0.0.0",
      "::ffff:10.0.0.1",
      "224.0.0.1",
    ])
      await expect(addressesOf(inside, async () => [address], open)).rejects.toMatchObject({
        code: "channel_failed",
      });
  });

  it("wants localhost to be this machine", async () => {
    const local = readTarget("http://localhost/", []);
    expect(await addressesOf(local, async () => ["127.0.0.1", "::1"], open)).toHaveLength(2);
    await expect(addressesOf(local, async () => ["8.8.8.8"], open)).rejects.toMatchObject({
      code: "channel_failed",
    });
    await expect(addressesOf(local, async () => ["10.0.0.1"], open)).rejects.toMatchObject({
      code: "channel_failed",
    });
    expect(await addressesOf(local, systemResolve, open)).not.toEqual([]);
  });

  it("asks nobody about an address", async () => {
    const resolve = (): Promise<readonly string[]> => Promise.reject(new Error("asked"));
    expect(await addressesOf(readTarget("http://[::1]:80/", []), resolve, open)).toEqual(["::1"]);
  });

  it("fails where there is no address, and when it is aborted while it waits", async () => {
    await expect(addressesOf(target, async () => [], open)).rejects.toThrow("has no address");
    const leaving = new AbortController();
    const waiting = addressesOf(target, () => new Promise(() => undefined), leaving.signal);
    leaving.abort(new Error("over"));
    await expect(waiting).rejects.toThrow("over");
    await expect(
      addressesOf(target, () => new Promise(() => undefined), leaving.signal),
    ).rejects.toThrow("over");
  });
});
