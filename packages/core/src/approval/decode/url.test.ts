import { describe, expect, it } from "vitest";
import { flagHost, namedHosts, readUrl } from "./url.js";

const linesOf = (text: string): readonly string[] => readUrl(text).map(({ line }) => line);

describe("readUrl()", () => {
  it("splits a URL into its parts, each as it is and as it is meant", () => {
    expect(
      linesOf("https://EXAMPLE.com:8443/a%2fb/%d0%b0?to=eve+x&r=https%3A%2F%2Fe.org&z&=1#top%21"),
    ).toEqual([
      "URL: https, host example.com, port 8443",
      'path "/a%2fb/%d0%b0" is "/a/b/а"',
      'query "to": "eve+x" is "eve x"',
      'query "r": "https%3A%2F%2Fe.org" is "https://e.org"',
      'query "z"',
      'query "": "1"',
      'fragment "top%21" is "top!"',
    ]);
  });

  it.each([
    ["http://a.b/", ["URL: http, host a.b, port 80"]],
    ["wss://a.b", ["URL: wss, host a.b, port 443"]],
    ["postgres://a.b/db", ["URL: postgres, host a.b", 'path "/db"']],
    ["file:///etc/passwd", ["URL: file, no host", 'path "/etc/passwd"']],
    ["http://[::1]:80/", ["URL: http, host [::1], port 80"]],
    [
      "https://good.com@evil.com",
      ["URL: https, host evil.com, port 443", 'user information before the host: "good.com"'],
    ],
    [
      "https://a@b@evil.com",
      ["URL: https, host evil.com, port 443", 'user information before the host: "a@b"'],
    ],
    ["https://bücher.de", ['URL: https, host xn--bcher-kva.de (shows as "bücher.de"), port 443']],
    ["https://a b.com", []],
    [
      "https://xn--a.com",
      [
        'URL: https, host "xn--a.com", not decoded: it is neither a domain name nor an IP address, port 443',
      ],
    ],
    ["https://a:b:c/", ['URL: https, host and port "a:b:c", not decoded, port 443']],
    [
      "https://a.b/?x=%ff",
      [
        "URL: https, host a.b, port 443",
        expect.stringMatching(
          /^query "x": "%ff", not decoded: its bytes are no text: 1 byte, sha256:a8100ae6/,
        ),
      ],
    ],
    [
      "https://a.b/100%",
      [
        "URL: https, host a.b, port 443",
        'path "/100%", not decoded: its percent-encoding is malformed',
      ],
    ],
  ])("reads %s", (text, lines) => {
    expect(linesOf(text)).toEqual(lines);
  });

  it.each([
    "https://good.com\\@evil.com",
    "https://good.com\n.evil.com",
    "ht\ttps://a.b",
    "https://a.b\u0000",
  ])("does not choose one reading of %j", (text) => {
    const lines = linesOf(text);
    expect(lines.length === 0 || lines[0]?.startsWith("URL, not decoded")).toBe(true);
    expect(lines.length).toBeLessThan(2);
  });

  it("says how many parts of a long query it leaves out", () => {
    const lines = linesOf(`https://a.b/?${"x&".repeat(1_500)}x`);
    expect(lines).toHaveLength(102);
    expect(lines.at(-1)).toBe("1,401 more parts of the query, not decoded");
  });

  it("gives what it decoded to be looked into", () => {
    expect(
      readUrl("https://a.b/?r=https%3A%2F%2Fe.org").flatMap(({ texts = [] }) => texts),
    ).toEqual(["https://e.org"]);
  });
});

describe("namedHosts()", () => {
  it.each([
    [
      "See https://аpple.com/x, (http://u:p@аррӏе.com) and ftp://bücher.de.",
      ["аpple.com", "аррӏе.com", "bücher.de"],
    ],
    ["аpple.com", ["аpple.com"]],
    ["bob@аpple.com:25", ["аpple.com"]],
    ["xn--pple-43d.com", ["xn--pple-43d.com"]],
    ["https://example.com and plain.org", []],
    ["Привет.как дела", []],
    [`https://${"x".repeat(5_000)}@аpple.com`, ["аpple.com"]],
  ])("finds what is not ASCII in %j", (text, hosts) => {
    expect([...namedHosts(text)]).toEqual(hosts);
  });
});

describe("flagHost()", () => {
  it("names A-label, U-label and what is mixed", () => {
    expect(flagHost("аpple.com:8080")).toBe(
      'host xn--pple-43d.com shows as "аpple.com": "аpple" mixes Latin and Cyrillic letters; "аpple" looks like "apple"',
    );
  });

  it.each(["bücher.de", "пример.рф", "-.ü", "xn--a.com"])("says nothing of %s", (host) => {
    expect(flagHost(host)).toBeUndefined();
  });
});
