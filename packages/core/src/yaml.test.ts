import { describe, expect, it } from "vitest";
import { httpAction, toolAction } from "./action/action.js";
import type { ConsentError } from "./errors.js";
import { readPolicy } from "./yaml.js";

const facts = { agent: { id: "agent" }, nowMs: Date.UTC(2026, 0, 5, 12) };

const errorOf = (
  text: string,
): Pick<ConsentError, "code" | "path" | "suggestion" | "position" | "message"> => {
  try {
    readPolicy(text);
  } catch (error) {
    return error as ConsentError;
  }
  throw new Error(`loaded: ${text}`);
};

const V02 = `version: "1"
default_action: ask

rules:
  # reading is free
  - match:
      tool: "read_*"
      category: "read"
      server: "files"
      args:
        path: "/tmp/*"
    action: allow
    rate_limit: "20/minute"
    conditions:
      time_of_day:
        after: "09:00"
        before: "17:00"
        timezone: "UTC"
  - match:
      tool: send_*
    action: ask
    level: high
    timeout: 300
`;

const V03 = `default: ask

rules:
  - match:
      kind: http
      host: "*.example.com"
      method: "GET"
    action: allow
    timeout: 120
`;

describe("readPolicy()", () => {
  it("reads a v0.2 file", () => {
    const policy = readPolicy(V02);
    expect(policy.warnings).toEqual([]);
    expect(policy.defaultEffect).toBe("ask");
    expect(policy.judge(toolAction("files", "read_file", { path: "/tmp/x" }), facts)?.effect).toBe(
      "allow",
    );
    expect(policy.judge(toolAction("mail", "send_mail", {}), facts)).toMatchObject({
      effect: "ask",
      level: "high",
      ask: { timeoutMs: 300_000 },
    });
  });

  it("reads a v0.3 file and warns of its version and its idle timeout", () => {
    const policy = readPolicy(V03);
    expect(policy.judge(httpAction("GET", "https://api.example.com/"), facts)?.effect).toBe(
      "allow",
    );
    expect(policy.warnings).toEqual([
      'the policy has no version; write version: "1"',
      "rules[0].timeout does nothing: nobody is asked where the action is allow",
    ]);
  });

  it("tells the line of every rule", () => {
    expect(readPolicy(V02).rules).toEqual([
      { ruleId: "rule_1", effect: "allow", line: 6 },
      { ruleId: "rule_2", effect: "ask", line: 19 },
    ]);
  });

  it("reads a byte order mark, CRLF, comments and flow style", () => {
    expect(
      readPolicy('\ufeff# a comment\r\n{ version: "1", default: deny, rules: [] }\r\n')
        .defaultEffect,
    ).toBe("deny");
  });

  it("takes home and cwd", () => {
    const text =
      'version: "1"\nrules:\n  - { match: { args: { file: { path: "~/x/**" } } }, action: allow }\n';
    expect(
      readPolicy(text, { home: "/home/ada" }).judge(
        toolAction("s", "t", { file: "/home/ada/x/y" }),
        facts,
      )?.effect,
    ).toBe("allow");
    expect(errorOf(text)).toMatchObject({
      path: "rules[0].match.args.file.path",
      position: { line: 3, column: 38 },
    });
  });

  it.each([
    [
      "an unknown key",
      'version: "1"\nrules:\n  - match: { tol: x }\n    action: ask\n',
      3,
      14,
      "rules[0].match.tol",
      "tool",
    ],
    [
      "an unknown word",
      'version: "1"\nrules:\n  - match: { tool: x }\n    action: alow\n',
      4,
      13,
      "rules[0].action",
      "allow",
    ],
    [
      "a value that is missing",
      'version: "1"\nrules:\n  - match: { tool: x }\n    action:\n',
      4,
      12,
      "rules[0].action",
      undefined,
    ],
    [
      "a rule without action",
      'version: "1"\nrules:\n  - match: { tool: x }\n',
      3,
      5,
      "rules[0]",
      undefined,
    ],
    ["a number as version", "version: 1\ndefault: ask\n", 1, 10, "version", 'version: "1"'],
    ["a float as version", "version: 1.10\ndefault: ask\n", 1, 10, "version", 'version: "1"'],
    [
      "both defaults",
      'version: "1"\ndefault: ask\ndefault_action: ask\n',
      2,
      1,
      "default",
      undefined,
    ],
    [
      "a time zone",
      'version: "1"\nrules:\n  - match: { tool: x }\n    action: ask\n    conditions: { time_of_day: { after: 09:00, timezone: Mars } }\n',
      5,
      58,
      "rules[0].conditions.time_of_day.timezone",
      undefined,
    ],
    ["nothing but rules of the wrong kind", "rules: ask\n", 1, 8, "rules", undefined],
  ] as const)("names the place of %s", (_name, text, line, column, path, suggestion) => {
    const error = errorOf(text);
    expect(error).toMatchObject({
      code: "policy_invalid",
      path,
      suggestion,
      position: { line, column },
    });
    expect(error.message).toContain(`at line ${line}, column ${column} (${path}): `);
    if (suggestion !== undefined) expect(error.message).toContain(`; did you mean ${suggestion}?`);
  });

  it.each([
    ["an empty file", "", 1, 1, "the file is empty"],
    ["blanks and comments", "\n  \n# x\n", 1, 1, "the file is empty"],
    ["an empty document", "---\n", 1, 4, "expected a map"],
    ["a list", "- a\n", 1, 1, "expected a map"],
    ["a key twice", "default: ask\ndefault: deny\n", 2, 1, 'the key "default" appears twice'],
    [
      "a key twice in two spellings",
      'default: ask\n"default": deny\n',
      2,
      1,
      'the key "default" appears twice',
    ],
    ["yes", "default: yes\n", 1, 10, "did you mean true?"],
    ["Off", "default: Off\n", 1, 10, "did you mean false?"],
    ["no as a key", "no: ask\n", 1, 1, "did you mean false?"],
    ["an anchor", "a: &x ask\ndefault: *x\n", 1, 7, "anchors are not part"],
    ["an anchor that nobody uses", "default: &x ask\n", 1, 13, "anchors are not part"],
    [
      "a glob without quotes",
      "rules:\n  - match: { tool: *_mail }\n    action: ask\n",
      2,
      20,
      'did you mean "*_mail"?',
    ],
    [
      "a star without quotes",
      "rules:\n  - match: { tool: * }\n    action: ask\n",
      2,
      20,
      'put a string that begins with "*" in quotes',
    ],
    ["a merge key", "default: ask\n<<: { rules: [] }\n", 2, 1, "merge keys"],
    ["a tag", "default: !mine ask\n", 1, 10, "!mine"],
    ["a tag of YAML's own", "default: !!str ask\n", 1, 16, "tag:yaml.org,2002:str"],
    ["binary data", "default: !!binary YXNr\n", 1, 19, "binary"],
    ["a second document", "default: ask\n---\ndefault: allow\n", 2, 1, "multiple documents"],
    ["a tab as indentation", "rules:\n\t- x\n", 2, 1, "Tabs"],
    ["another YAML", "%YAML 1.1\n---\ndefault: ask\n", 1, 1, "YAML 1.2"],
    ["a number as key", "1: ask\n", 1, 1, "a key is not a string"],
    ["a map as key", "? { a: b }\n: ask\n", 1, 3, "a key is not a string"],
    ["a number that is not exact", "default: 12345678901234567890\n", 1, 10, "is not exact"],
    ["no number", "default: .nan\n", 1, 10, "is not exact"],
    ["an unclosed quote", 'default: "ask\n', 2, 1, "Missing closing"],
    ["an unpaired surrogate", 'default: "\\uD800"\n', 1, 10, "surrogate"],
  ] as const)("refuses %s", (_name, text, line, column, problem) => {
    const error = errorOf(text);
    expect(error).toMatchObject({ code: "policy_invalid", position: { line, column } });
    expect(error.message).toContain(problem);
    expect(error.message).not.toContain("\n");
  });

  it("reads on, off, yes and no in quotes as texts", () => {
    expect(
      readPolicy('version: "1"\nrules:\n  - { match: { args: { answer: "yes" } }, action: deny }\n')
        .rules,
    ).toHaveLength(1);
  });

  it("refuses an alias bomb without expanding it", () => {
    const bomb = [
      "a: &a [x, x]",
      ...Array.from(
        { length: 30 },
        (_, level) =>
          `b${level}: &b${level} [*${level === 0 ? "a" : `b${level - 1}`}, *${level === 0 ? "a" : `b${level - 1}`}]`,
      ),
    ];
    expect(errorOf(bomb.join("\n")).message).toContain("anchors are not part");
  });

  it.each([
    ["flow maps", "{a: ".repeat(100_000)],
    ["flow lists", "[".repeat(100_000)],
    [
      "block maps",
      Array.from({ length: 2_000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
    ],
    ["closed lists", `default: ${"[".repeat(100)}${"]".repeat(100)}`],
  ])("refuses %s that are nested too deeply", (_name, text) => {
    expect(errorOf(text)).toMatchObject({
      code: "policy_invalid",
      message: expect.stringMatching(/nested (?:too deeply|deeper)/),
    });
  });

  it("refuses a text beyond the limit before parsing it", () => {
    expect(errorOf(`default: ask #${"x".repeat(4 * 1024 * 1024)}`).message).toContain(
      "more than 4194304 bytes",
    );
    expect(errorOf(`default: ask #${"€".repeat(1_500_000)}`).message).toContain(
      "more than 4194304 bytes",
    );
  });

  it("refuses what is not a text", () => {
    expect(() => readPolicy(undefined as unknown as string)).toThrow(
      expect.objectContaining({ code: "policy_invalid" }),
    );
  });

  it("reads thousands of keys of one map in no more than the time of their text", () => {
    const keys = Array.from({ length: 20_000 }, (_, key) => `k${key}: x`).join(", ");
    expect(
      readPolicy(`version: "1"\nrules: [{ match: { args: { ${keys} } }, action: deny }]`).rules,
    ).toHaveLength(1);
  });
});
