import { describe, expect, it } from "vitest";
import { missesSecrets } from "./pattern.js";
import type { Dialect } from "./pattern.js";
import { SECRET_LINES } from "./secret-lines.js";

describe("missesSecrets()", () => {
  it.each<readonly [Dialect, string]>([
    ["basic", "foo"],
    ["basic", "TODO"],
    ["basic", "foo\\|import"],
    ["basic", "function (.*)"],
    ["basic", "^import .* from"],
    ["basic", "rm -rf"],
    ["basic", "getUser"],
    ["basic", "`"],
    ["extended", "(TODO|FIXME)"],
    ["extended", "foo+"],
    ["extended", "(?:foo|import)[a-z]*"],
    ["extended", "(?i)todo"],
    ["extended", "curl.*\\| *sh"],
    ["extended", "class [A-Z]\\w+"],
    ["fixed", "foo|bar("],
    ["either", "foo"],
  ])("%s %s", (dialect, pattern) => expect(missesSecrets(pattern, dialect)).toBe(true));

  it.each<readonly [Dialect, string]>([
    ["basic", ""],
    ["basic", "."],
    ["basic", "fo"],
    ["basic", "foo*o*o*\\|"],
    ["basic", "fo\\{0,1\\}o*"],
    ["basic", "password"],
    ["basic", "resetPassword"],
    ["basic", "AWS"],
    ["basic", "api_url"],
    ["basic", "DB_HOST"],
    ["basic", "-----BEGIN"],
    ["basic", "foo\\|"],
    ["basic", "foo\\|key"],
    ["basic", "foo\nkey"],
    ["basic", "\\(foo\\)*"],
    ["basic", "\\(foo\\|\\)"],
    ["basic", "foo\\(bar"],
    ["extended", "foo|"],
    ["extended", "foo\\(|="],
    ["extended", "(foo)?"],
    ["extended", "(foo){0}"],
    ["extended", "(foo|.)"],
    ["extended", "(?!foo)"],
    ["extended", "(?x)a # foo"],
    ["extended", "(*ACCEPT)foo"],
    ["extended", "[foo]"],
    ["extended", "[a\\]foo|bar]"],
    ["extended", "[_[:alpha:]foo|bar]"],
    ["extended", "[a[foo]|bar]"],
    ["extended", "\\x{abc}"],
    ["extended", "\\p{Letter}"],
    ["extended", "\\Qfoo\\E"],
    ["either", "foo\\|="],
    ["either", "foo|="],
    ["fixed", "foo\n="],
    ["fixed", "x".repeat(2_000)],
  ])("%s %s may show one", (dialect, pattern) =>
    expect(missesSecrets(pattern, dialect)).toBe(false),
  );

  it("takes no word of a secret line for harmless", () => {
    const words = SECRET_LINES.match(/[a-z]{3,}/g) ?? [];
    expect(words.length).toBeGreaterThan(400);
    expect(
      words.filter(
        (word) => missesSecrets(word, "fixed") || missesSecrets(word.toUpperCase(), "basic"),
      ),
    ).toEqual([]);
  });
});
