import { describe, expect, it } from "vitest";
import { normalizeHost } from "../../action/host.js";
import { viewHost } from "./script.js";

describe("viewHost()", () => {
  it.each(["example.com", "127.0.0.1", "[::1]", "paypa1.com"])("says nothing of %s", (host) => {
    expect(viewHost(normalizeHost(host))).toBeUndefined();
  });

  it.each([
    "bücher.de",
    "пример.рф",
    "例え.テスト",
    "日本語ひらがなカタカナ.jp",
    "中文x.cn",
    "한국어abc.kr",
    "ελλάδα.gr",
    "שלום.il",
  ])("shows %s with its own letters and flags nothing", (host) => {
    expect(viewHost(normalizeHost(host))).toEqual({ shown: host, flags: [] });
  });

  it.each([
    ["раypal.com", ['"раypal" mixes Latin and Cyrillic letters', '"раypal" looks like "paypal"']],
    ["аррӏе.com", ['"аррӏе" looks like "apple"']],
    ["gооgle.com", ['"gооgle" mixes Latin and Cyrillic letters', '"gооgle" looks like "google"']],
    ["οο.gr", ['"οο" looks like "oo"']],
    ["ɡoogle.com", ['"ɡoogle" looks like "google"']],
    ["пpивет.ru", ['"пpивет" mixes Latin and Cyrillic letters']],
    ["αбв.com", ['"αбв" mixes Greek and Cyrillic letters']],
    ["aᚠ.com", ['"aᚠ" mixes Latin and other letters']],
    [
      "www.раypal.example.com",
      ['"раypal" mixes Latin and Cyrillic letters', '"раypal" looks like "paypal"'],
    ],
  ])("flags %s", (host, flags) => {
    expect(viewHost(normalizeHost(host))).toEqual({ shown: host, flags });
  });
});
