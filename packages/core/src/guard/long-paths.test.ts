import { describe, expect, it } from "vitest";
import { toolAction } from "../action/action.js";
import type { JsonObject } from "../json/value.js";
import { createPathGuard } from "./path-guard.js";
import { foldSegment } from "./readings.js";

const guard = createPathGuard({
  userHome: "/home/ada",
  acpHome: "/home/ada/consent",
  startsOf: () => ["/home/ada/projects"],
  resolve: (path) => ({ path, exists: false }),
});
const judge = (args: JsonObject): string => {
  const ruling = guard.judge(toolAction("files", "read_text_file", args), {
    agent: { id: "a" },
    nowMs: 0,
  });
  return ruling === undefined ? "none" : `${ruling.effect} ${ruling.ruleId}`;
};
/** Its name says nothing: only where it is does. */
const KEY = "/home/ada/consent/keys/signing";
const NAMES = Array.from({ length: 100 }, (_, index) => `x${index}`);

describe("a path longer than any, which a server normalises before it opens it", () => {
  it.each([
    ["dots", `/home/ada/projects/${"./".repeat(2_500)}../consent/keys/signing`],
    ["slashes", `${"/".repeat(5_000)}${KEY}`],
    ["up and down", `/home/ada/${"a/../".repeat(1_000)}consent/keys/signing`],
    ["relative", `${"a/../".repeat(1_000)}../../ada/consent/keys/signing`],
    ["percent", `/home/ada/${"%2e%2f".repeat(2_500)}consent/keys/signing`],
    ["percent twice", `/home/ada/${"%252e%252f".repeat(2_500)}consent/keys/signing`],
    ["backslashes", `C:\\home\\ada\\${".\\".repeat(2_500)}consent\\keys\\signing`],
    ["query", `file://${KEY}?${"a".repeat(5_000)}`],
    ["zero", `${KEY}\0${"a".repeat(5_000)}`],
    ["blanks", `${" ".repeat(5_000)}${KEY}${"\n".repeat(5_000)}`],
  ])("is denied: %s", (_, path) => {
    expect(judge({ path })).toBe("deny guard:acp-home");
  });

  it("is denied as a directory and a name", () => {
    expect(
      judge({ directory: `/home/${"./".repeat(1_500)}`, name: "ada/consent/keys/signing" }),
    ).toBe("deny guard:acp-home");
  });

  it("costs little where it is no path at all", () => {
    for (const text of [
      "/".repeat(1_000_000),
      `x${" ".repeat(1_000_000)}x`,
      `${"a/../".repeat(200_000)}b`,
      "{a,b}".repeat(800),
    ]) {
      const before = process.cpuUsage();
      judge({ text });
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(10_000);
    }
  });
});

describe("another form of a path", () => {
  it.each([
    ["controls before a URL", { url: `\u0001file://${KEY}` }],
    ["a tab in a scheme", { url: `fi\tle://${KEY}` }],
    ["a line end in a URL", { url: `file:///home/ada/con\nsent/keys/signing` }],
    ["a scheme before a scheme", { url: `view-source:file://${KEY}` }],
    ["a home behind a scheme", { url: "file://~/consent/keys/signing" }],
    ["a file that stands for its content", { data: `@${KEY}` }],
    ["the value of an option", { args: [`--file=${KEY}`] }],
    ["an encoded key", { files: { [encodeURIComponent(KEY)]: "" } }],
    ["braces", { pattern: "/home/ada/con{sent,tent}/keys/*" }],
    ["braces twice", { pattern: "/home/{ada,bob}/con{sent,tent}/keys/*" }],
    ["braces over a slash", { pattern: "/home/{ada/consent,bob}/keys/*" }],
    ["an extended glob", { pattern: "/home/ada/@(consent|b)/keys/signing" }],
    ["a list with a name that has a blank", { paths: `my notes.txt,${KEY}` }],
    ["a text that is JSON and escapes it", { path: String.raw`"\u007e/consent/keys"` }],
    ["JSON in JSON", { body: JSON.stringify({ body: JSON.stringify({ path: KEY }) }) }],
    [
      "many readings",
      { url: ` file:///home/ada/j\u200bunk\uff41%25252541/../consent/keys/signing?x\0` },
    ],
  ])("is denied: %s", (_, args) => {
    expect(judge(args)).toBe("deny guard:acp-home");
  });

  it.each([
    ["a thread's environment", { path: "/proc/self/task/12/environ" }],
    ["a thread's open files", { path: "/proc/12/task/13/fd/3" }],
    ["a glob of a process", { path: "/proc/self/envir*" }],
    ["a key that is a name", { files: { ".env": "" } }],
    ["braces of names", { pattern: "**/.{env,netrc}" }],
    ["a range", { pattern: "**/.en{u..w}" }],
    ["an extended glob of names", { pattern: "**/.@(env|netrc)" }],
    ["braces of endings", { pattern: "**/*.{pem,key}" }],
    ["an extended glob that leaves out", { pattern: "**/.!(git)" }],
    ["an extended glob of nothing", { pattern: "**/.ne?(x)trc" }],
    ["two letters for one", { path: "/home/ada/.\u00dfh/config" }],
    ["two letters for one capital", { path: "/home/ada/.\u1e9eH/config" }],
  ])("is asked about: %s", (_, args) => {
    expect(judge(args)).toBe("ask guard:credentials");
  });

  it("is a question where there are more than anybody looks at", () => {
    expect(judge({ paths: `${"a,".repeat(3_000)}${KEY}` })).toBe("ask guard:size");
    const deep = Array.from({ length: 100 }, (_, index) => `${index}${"/a".repeat(1_000)}`);
    expect(judge({ paths: [...deep, KEY] })).toBe("ask guard:size");
    expect(
      judge({ paths: [...Array.from({ length: 1_900 }, (_, index) => `${index}.txt `), KEY] }),
    ).toBe("ask guard:size");
    expect(judge({ path: "$HOME/consent/keys/%25252541\uff41\u200b\\x?y\0z " })).toBe(
      "ask guard:size",
    );
  });

  it.each([
    ["in a list", `**/{${NAMES.join(",")},.ssh}/config`],
    ["in a list of an extended glob", `**/@(${NAMES.join("|")}|.netrc)`],
    ["one after another", `${"{a,b}".repeat(7)}/.n{x,etrc}`],
    ["one in another", `${"{".repeat(70)}.netr{x,c}${",x}".repeat(70)}`],
    ["that are one each", `${"{1..2}".repeat(70)}/.n{x,etrc}`],
  ])("is a question where it has more alternatives than anybody looks at: %s", (_, pattern) => {
    expect(judge({ pattern })).toBe("ask guard:size");
  });

  it("is none in a text that is JSON and long", () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({
      id: index,
      name: `name ${index}`,
      at: "2026-01-15",
    }));
    expect(judge({ body: ` ${JSON.stringify(rows)}` })).toBe("none");
    expect(judge({ body: ` ${JSON.stringify([...rows, KEY])}` })).toBe("deny guard:acp-home");
  });

  it("says nothing about ordinary globs and texts", () => {
    for (const text of [
      "**/*.{ts,tsx}",
      "src/@(a|b)/*.ts",
      "if (a) { return [a, b]; } // x",
      "a=b",
      "@ada",
      "a, b, and /c",
      "1.5",
    ])
      expect(`${text} ${judge({ text })}`).toBe(`${text} none`);
    expect(judge({ "a.b": 1, "content-type": "x" })).toBe("none");
  });

  it("folds as the most forgiving file system does", () => {
    expect([foldSegment("\u{1d400}cp"), foldSegment("\u01f0\u0323")]).toEqual([
      "acp",
      foldSegment("J\u030c\u0323"),
    ]);
    expect([foldSegment(".\u00dfH"), foldSegment(".\u1e9eH"), foldSegment(".SSH")]).toEqual([
      ".ssh",
      ".ssh",
      ".ssh",
    ]);
  });
});
