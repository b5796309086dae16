import { expect, it } from "vitest";
import { URL_CHARS_MAX } from "../limits.js";
import { parseHttpUrl } from "./url.js";

// What a string can show is in spec/vectors/hosts.json, run by test/vectors-hosts.test.ts.
const refused = expect.objectContaining({ code: "host_invalid" });

it.each<unknown>([undefined, null, 1, new URL("http://example.com/")])(
  "parseHttpUrl() refuses %s: not a text",
  (value) => {
    expect(() => parseHttpUrl(value as string)).toThrow(refused);
  },
);

it("parseHttpUrl() refuses an unpaired surrogate, which the platform would replace", () => {
  expect(() => parseHttpUrl("http://example.com/\ud800")).toThrow(refused);
  expect(parseHttpUrl("http://example.com/😀").url).toBe("http://example.com/%F0%9F%98%80");
});

it("parseHttpUrl() refuses a URL beyond the limit", () => {
  const start = "http://example.com/";
  expect(parseHttpUrl(start.padEnd(URL_CHARS_MAX, "a")).url).toHaveLength(URL_CHARS_MAX);
  expect(() => parseHttpUrl(start.padEnd(URL_CHARS_MAX + 1, "a"))).toThrow(refused);
});

it.each([
  "http://user:hunter2@example.com/",
  "http://example.com:x/?key=hunter2",
  "ftp://example.com/hunter2",
  "http://example.com/hunter2 ",
])("parseHttpUrl(%s) does not repeat what may be a secret", (url) => {
  expect(() => parseHttpUrl(url)).toThrow(/^Cannot read (?:(?!hunter2).)*$/);
});
