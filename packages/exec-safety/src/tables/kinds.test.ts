import { describe, expect, it } from "vitest";
import type { Finding } from "../findings.js";
import { checkKind, isKind } from "./kinds.js";
import type { Kind } from "./kinds.js";

const span = { start: 0, end: 1 };
const place = { inside: "", projectRoot: undefined, trustedWorkspace: true };

function findingsOf(kind: Kind, text: string | undefined, isGlob = false): readonly string[] {
  const findings: Finding[] = [];
  const of = {
    program: "frob",
    name: "frob",
    span,
    place,
    report: (finding: Finding): void => void findings.push(finding),
    isFed: false,
    isShown: true,
    hidesAddresses: false,
    isCaught: false,
  };
  const known = text === undefined ? {} : { values: [{ text, isGlob }] };
  checkKind(kind, { span, raw: text ?? "$x", leading: text ?? "", isOne: true, ...known }, of);
  return findings.map(({ ruleId }) => ruleId.replace(/^frob\./, ""));
}

describe("checkKind()", () => {
  it.each<[Kind, readonly string[]]>([
    ["text", ["", "-x", "a b", "/etc/passwd"]],
    ["number", ["5", "-5", "+3", "10k", "1,5", "0.5", "1:2"]],
    ["pattern", ["", "^a", "/etc"]],
    ["path", ["a", "src/a.ts", "-", ".", "/dev/null", ".env.example"]],
    ["local", ["a.tar"]],
    ["folder", ["sub", "."]],
    ["viewed", ["a.txt"]],
    [
      "revision",
      [
        "HEAD~1",
        "main..dev",
        "HEAD:src/a.ts",
        ":(top)a",
        ":!b",
        ":0:a",
        "a.ts",
        "stash@{0}",
        "v1^{commit}",
      ],
    ],
    ["line-range", ["1,20:src/a.ts", ":main:src/a.ts"]],
    ["selection", ["*.ts", "!.env", "!*.pem", "**"]],
    ["setting", ["user.name", "registry", "author.name", "^remote"]],
    ["git-setting", ["user.name"]],
    ["variable", ["PATH", "HOME", "LC_ALL", "XDG_DATA_HOME"]],
    ["name", ["kernel.pid_max", "hw.ncpu"]],
    ["columns", ["pid,comm"]],
    ["processes", ["1", "root"]],
    ["date-format", ["+%F", "+%H:%M %n"]],
    ["printf-format", ["%s\\n", "100%%n", "%d %5s", "%%%s"]],
    ["shell-option", ["pipefail", "errexit"]],
    ["sink", ["/dev/null", "/dev/stderr"]],
    ["topic", ["ls", "git-log", "3", "printf.3", "["]],
    ["verb", ["ps", "list", "runner", "/x"]],
    ["sed", ["1p"]],
    ["awk", ["{print}"]],
    ["jq", ["."]],
    ["yq", ["."]],
  ])("lets these pass as %s: %j", (kind, texts) => {
    for (const text of texts) expect([text, findingsOf(kind, text)]).toEqual([text, []]);
  });

  it.each<[Kind, string, string]>([
    ["number", "a", "unknown"],
    ["number", "-x", "unknown"],
    ["path", "/etc/passwd", "path.outside"],
    ["path", "../a", "path.outside"],
    ["path", ".env", "path.secret"],
    ["path", "~/a", "path.home"],
    ["local", "h:a", "exec"],
    ["local", "http://h/a", "exec"],
    ["folder", ".git", "exec"],
    ["folder", "a/.git/hooks", "exec"],
    ["folder", "/tmp", "path.outside"],
    ["viewed", "+x", "exec"],
    ["revision", "HEAD:.env", "path.secret"],
    ["revision", ":.env", "path.secret"],
    ["revision", ":(top).env", "path.secret"],
    ["revision", "../a", "path.outside"],
    ["revision", "HEAD:../../a", "path.outside"],
    ["line-range", "1,2:/etc/passwd", "path.outside"],
    ["selection", ".env", "secret"],
    ["selection", "*.pem", "secret"],
    ["selection", ".en*", "secret"],
    ["selection", "config/id_rsa", "secret"],
    ["setting", "http.extraheader", "secret"],
    ["setting", "//h/:_authToken", "secret"],
    ["setting", "credential.helper", "secret"],
    ["git-setting", "edit", "unknown"],
    ["git-setting", "http.a.extraheader", "secret"],
    ["variable", "TOKEN", "secret"],
    ["variable", "AWS_SECRET_ACCESS_KEY", "secret"],
    ["name", "a=b", "change"],
    ["columns", "pid,environ", "secret"],
    ["date-format", "010100", "change"],
    ["printf-format", "%n", "change"],
    ["printf-format", "%ln", "change"],
    ["printf-format", "%-5.3n", "change"],
    ["shell-option", "posix", "exec"],
    ["sink", "a", "write"],
    ["sink", "/dev/sda", "write"],
    ["topic", "./x", "exec"],
    ["topic", "a b", "exec"],
    ["verb", "rm", "write"],
    ["verb", "terminate-instances", "write"],
    ["verb", "drop table x", "write"],
    ["verb", "secrets", "secret"],
    ["verb", "secret/x", "secret"],
    ["sed", "e id", "exec"],
    ["awk", "{system(1)}", "exec"],
    ["jq", "env", "secret"],
    ["yq", "load(1)", "secret"],
  ])("finds a %s %j: %s", (kind, text, id) => {
    expect(findingsOf(kind, text)).toContain(id);
  });

  it("takes a text that is not known only where it cannot matter", () => {
    for (const kind of ["text", "number", "pattern", "processes"] as const)
      expect(findingsOf(kind, undefined)).toEqual([]);
    for (const kind of [
      "path",
      "local",
      "folder",
      "viewed",
      "revision",
      "line-range",
      "selection",
    ] as const)
      expect(findingsOf(kind, undefined)).toEqual(["path.dynamic"]);
    for (const kind of [
      "setting",
      "variable",
      "date-format",
      "printf-format",
      "sink",
      "topic",
      "verb",
      "sed",
      "awk",
      "jq",
      "yq",
    ] as const)
      expect(findingsOf(kind, undefined)).toEqual(["exec"]);
  });

  it("takes a glob only where names of files may stand", () => {
    for (const kind of ["text", "pattern", "path", "revision", "selection"] as const)
      expect(findingsOf(kind, "src/*.ts", true)).toEqual([]);
    for (const kind of ["pattern", "path", "revision"] as const)
      expect(findingsOf(kind, ".e*", true)).toEqual(["path.secret"]);
    for (const kind of ["sed", "awk", "jq", "number", "variable"] as const)
      expect(findingsOf(kind, "a*", true)).toEqual(["unknown"]);
  });
});

describe("isKind()", () => {
  it("knows the kinds and no names of Object", () => {
    expect(["text", "path", "constructor", "toString", ""].map(isKind)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
