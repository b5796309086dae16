import { describe, expect, it } from "vitest";
import { asksForWorker, refuseHost, refuseOrigin } from "./guards.js";

const settings = { origin: "http://localhost:8789", host: "localhost:8789" };
async function codeOf(refusal: Response | undefined): Promise<unknown> {
  const body: unknown = await refusal?.json();
  return typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
}

describe("refuseHost()", () => {
  it.each(["localhost:8789", "LOCALHOST:8789"])("takes %s", (host) => {
    expect(
      refuseHost(
        settings,
        new Request("http://elsewhere/", { headers: { host } }),
        new URL("http://elsewhere/"),
      ),
    ).toBeUndefined();
  });

  it("takes the URL's where there is no header", () => {
    const url = "http://localhost:8789/";
    expect(refuseHost(settings, new Request(url), new URL(url))).toBeUndefined();
  });

  it.each([
    "localhost",
    "localhost:8790",
    "127.0.0.1:8789",
    "evil.example",
    "localhost:8789.evil.example",
    "localhost:8789, evil.example",
    "",
  ])("refuses %j, whatever the URL says", async (host) => {
    const url = "http://localhost:8789/api/session";
    expect(
      await codeOf(refuseHost(settings, new Request(url, { headers: { host } }), new URL(url))),
    ).toBe("host_unknown");
  });

  it.each(["localhost", "old.k3v9.localhost:8789", "127.0.0.1:8789", "[::1]:8789"])(
    "tells a person who comes by %j, and not our name",
    async (host) => {
      const url = "http://secret.k3v9.localhost:8789/";
      const refusal = refuseHost(
        { host: "secret.k3v9.localhost:8789" },
        new Request(url, { headers: { host } }),
        new URL(url),
      );
      expect([refusal?.status, refusal?.headers.get("content-type")]).toEqual([
        421,
        "text/html; charset=utf-8",
      ]);
      const text = await refusal?.text();
      expect(text).toContain("not at this address");
      expect(text).not.toContain("secret");
    },
  );

  it("tells nobody who comes by a name of the internet", async () => {
    const url = "http://localhost:8789/";
    const rebound = new Request(url, { headers: { host: "evil.example" } });
    expect(await codeOf(refuseHost(settings, rebound, new URL(url)))).toBe("host_unknown");
  });
});

describe("asksForWorker()", () => {
  const asked = (
    host: string,
    headers: Record<string, string> = { "service-worker": "script" },
  ): boolean =>
    asksForWorker(
      settings,
      new Request("http://x/evil.js", { headers: { host, ...headers } }),
      new URL("http://x/evil.js"),
    );

  it("is what a browser asks at our name or one of this machine, whatever the script is called", () => {
    for (const host of ["localhost:8789", "127.0.0.1:8789", "a.b.localhost:8789", "localhost"])
      expect(asked(host)).toBe(true);
  });

  it("is nothing else", () => {
    for (const host of ["evil.example", "localhost.evil.example", "evillocalhost"])
      expect(asked(host)).toBe(false);
    expect(asked("localhost:8789", {})).toBe(false);
  });
});

describe("refuseOrigin()", () => {
  const good = { origin: settings.origin, "content-type": "application/json", "x-acp-inbox": "1" };
  const request = (method: string, headers: Record<string, string>): Request =>
    new Request("http://localhost:8789/api/x", { method, headers });
  const without = (name: keyof typeof good): Record<string, string> =>
    Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));

  it.each([
    ["a page's POST", request("POST", good)],
    [
      "a page's POST with a charset",
      request("POST", { ...good, "content-type": "application/json; charset=utf-8" }),
    ],
    [
      "a page's POST that says same-origin",
      request("POST", { ...good, "sec-fetch-site": "same-origin" }),
    ],
    ["a page's DELETE", request("DELETE", good)],
    ["a GET", request("GET", {})],
    ["a page's GET", request("GET", { "sec-fetch-site": "same-origin" })],
    ["a typed address", request("GET", { "sec-fetch-site": "none" })],
  ])("takes %s", (_what, each) => {
    expect(refuseOrigin(settings, each)).toBeUndefined();
  });

  it.each([
    ["another site's GET", request("GET", { "sec-fetch-site": "cross-site" })],
    ["another port's GET", request("GET", { "sec-fetch-site": "same-site" })],
    ["a GET with another origin", request("GET", { origin: "http://localhost:3000" })],
    ["another port's POST", request("POST", { ...good, origin: "http://localhost:3000" })],
    ["a POST that says same-site", request("POST", { ...good, "sec-fetch-site": "same-site" })],
    ["https for http", request("POST", { ...good, origin: "https://localhost:8789" })],
    ["the origin null", request("POST", { ...good, origin: "null" })],
    ["a POST without origin", request("POST", without("origin"))],
    ["a DELETE without origin", request("DELETE", without("origin"))],
    ["a POST without our header", request("POST", without("x-acp-inbox"))],
    ["a form's type", request("POST", { ...good, "content-type": "text/plain" })],
    [
      "a type that only starts so",
      request("POST", { ...good, "content-type": "application/json-seq" }),
    ],
    ["two types", request("POST", { ...good, "content-type": "application/json, text/plain" })],
    ["no type", request("POST", without("content-type"))],
  ])("refuses %s", async (_what, each) => {
    expect(await codeOf(refuseOrigin(settings, each))).toBe("origin_refused");
  });
});
