import { describe, expect, it } from "vitest";
import { makeTarget, readEnvironment } from "./environment.js";

const PROXY = "http://127.0.0.1:8788";

/** Where a URL goes: a proxy's origin, or `direct`. */
function way(env: Readonly<Record<string, string>>, url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return (
    readEnvironment(env)(makeTarget(protocol === "https:" ? protocol : "http:", hostname, port))
      ?.origin ?? "direct"
  );
}

describe("readEnvironment()", () => {
  it.each([
    [
      "http by HTTP_PROXY",
      { HTTP_PROXY: PROXY, HTTPS_PROXY: "http://other:1" },
      "http://a.test/",
      PROXY,
    ],
    [
      "https by HTTPS_PROXY",
      { HTTP_PROXY: "http://other:1", HTTPS_PROXY: PROXY },
      "https://a.test/",
      PROXY,
    ],
    ["https by the one proxy that there is", { HTTP_PROXY: PROXY }, "https://a.test/", PROXY],
    ["http by the one proxy that there is", { HTTPS_PROXY: PROXY }, "http://a.test/", PROXY],
    [
      "by the small spelling first",
      { HTTP_PROXY: "http://other:1", http_proxy: PROXY },
      "http://a.test/",
      PROXY,
    ],
    [
      "by the port 80 where none is written",
      { HTTP_PROXY: "http://proxy.test" },
      "http://a.test/",
      "http://proxy.test",
    ],
    ["to the proxy itself directly", { HTTP_PROXY: PROXY }, `${PROXY}/`, "direct"],
    [
      "to another port of the proxy's host by the proxy",
      { HTTP_PROXY: PROXY },
      "http://127.0.0.1:9/",
      PROXY,
    ],
  ])("sends %s", (_, env, url, expected) => {
    expect(way(env, url)).toBe(expected);
  });

  it.each([
    ["a.test", "http://a.test/", true],
    ["a.test", "http://A.TEST./", true],
    ["a.test", "http://b.a.test/", false],
    [".a.test", "http://b.a.test/", true],
    [".a.test", "http://a.test/", false],
    ["*.a.test", "http://b.a.test/", true],
    [".a.test", "http://ba.test/", false],
    ["a.test:81", "http://a.test:81/", true],
    ["a.test:81", "http://a.test/", false],
    ["::1", "http://[::1]:5/", true],
    ["[::1]:5", "http://[::1]:5/", true],
    ["[::1]:5", "http://[::1]:6/", false],
    ["x.test, a.test", "https://a.test/", true],
    ["127.0.0.0/8", "http://127.0.0.1/", false],
    ["*", "http://a.test/", true],
    [" ", "http://a.test/", false],
    [",", "http://a.test/", false],
  ])("NO_PROXY %j and %s: exempt is %s", (noProxy, url, isExempt) => {
    expect(way({ HTTP_PROXY: PROXY, NO_PROXY: noProxy }, url)).toBe(isExempt ? "direct" : PROXY);
  });

  it("takes credentials out of the URL, decoded", () => {
    const proxy = readEnvironment({ HTTP_PROXY: "http://agent%3A1:t%40ken@127.0.0.1:8788" })(
      makeTarget("http:", "a.test", 80),
    );
    expect(proxy).toMatchObject({
      host: "127.0.0.1",
      port: 8788,
      authorization: `Basic ${btoa("agent:1:t@ken")}`,
    });
  });

  it.each([
    ["no variable", {}, "neither HTTP_PROXY nor HTTPS_PROXY is set"],
    ["an empty one", { HTTP_PROXY: " " }, "neither"],
    ["what is no URL", { HTTP_PROXY: "127.0.0.1 8788 hunter2" }, "it is not a URL"],
    [
      "another scheme",
      { HTTPS_PROXY: "socks5://u:hunter2@127.0.0.1:1080" },
      "only http:// proxies are supported",
    ],
  ])("throws with %s, and shows no value", (_, env, text) => {
    expect(() => readEnvironment(env)).toThrow(text);
    expect(() => readEnvironment(env)).not.toThrow("hunter2");
  });
});
