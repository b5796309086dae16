import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";
import type { Finding } from "../findings.js";
import { checkPath, pathProblem, resolveInside } from "./paths.js";
import type { RunPlace } from "../config/run-place.js";

const ROOT: RunPlace = { inside: "", projectRoot: undefined, trustedWorkspace: true };
const FOLDER: RunPlace = { ...ROOT, inside: "packages/core" };
const KNOWN: RunPlace = { ...ROOT, inside: "src", projectRoot: "/home/ann/app" };
const NOWHERE: RunPlace = { ...ROOT, inside: undefined };

const ruleOf = (text: string, place: RunPlace = ROOT, isGlob = false): string | undefined =>
  pathProblem({ text, isGlob }, place)?.ruleId;

describe("pathProblem()", () => {
  it.each([
    "a.ts",
    "./src/../package.json",
    "src/lib/",
    "",
    ".",
    "a/b/../..",
    ".github/workflows",
    ".gitignore",
    "/dev/null",
    "/dev/stdin",
    "/dev/fd/63",
  ])("lets %j pass", (path) => expect(ruleOf(path)).toBeUndefined());

  it.each([
    ["..", "path.outside"],
    ["../x", "path.outside"],
    ["a/../../x", "path.outside"],
    ["/etc/passwd", "path.outside"],
    ["//etc", "path.outside"],
    ["/dev/sda", "path.outside"],
    ["/dev/tcp/h/1", "path.outside"],
    ["/dev/fd/../sda", "path.outside"],
    ["/proc/self/environ", "path.outside"],
    ["~", "path.home"],
    ["~/x", "path.home"],
    ["~root/x", "path.home"],
    [".env", "path.secret"],
    ["config/.ENV.local", "path.secret"],
    ["certs/server.pem", "path.secret"],
  ])("stops %j as %s", (path, rule) => expect(ruleOf(path)).toBe(rule));

  it("judges from the current folder", () => {
    expect(ruleOf("../x", FOLDER)).toBeUndefined();
    expect(ruleOf("../../..", FOLDER)).toBe("path.outside");
    expect(ruleOf("gh/hosts.yml", { ...ROOT, inside: ".config" })).toBe("path.secret");
  });

  it("knows nothing of relative paths where the folder is not known", () => {
    expect(ruleOf("a.ts", NOWHERE)).toBe("path.unknown-place");
    expect(ruleOf("/etc", NOWHERE)).toBe("path.outside");
  });

  it("counts absolute paths inside the root as inside, by whole parts", () => {
    expect(ruleOf("/home/ann/app/src/a.ts", KNOWN)).toBeUndefined();
    expect(ruleOf("/home/ann/app/.env", KNOWN)).toBe("path.secret");
    expect(ruleOf("/home/ann/app/../other", KNOWN)).toBe("path.outside");
    expect(ruleOf("/home/ann/application", KNOWN)).toBe("path.outside");
    expect(ruleOf("../../app/a.ts", KNOWN)).toBeUndefined();
    expect(ruleOf("../../other/a.ts", KNOWN)).toBe("path.outside");
  });

  it.each([
    "*",
    "*.ts",
    "src/**/*.test.ts",
    "*.json",
    "c*",
    "packages/*/package.json",
    "[a-z]*",
    ".github/*",
  ])("lets the glob %j pass", (glob) => expect(ruleOf(glob, ROOT, true)).toBeUndefined());

  it.each([
    ".e*",
    ".*",
    ".??*",
    ".[e]nv",
    "*.pem",
    "id_*",
    "?d_rsa",
    "cred*",
    ".env*",
    "*.k?y",
    ".git*",
    "conf/*.p12",
    "[[:alpha:]]d_rsa",
    "[!a]d_rsa",
  ])("stops the glob %j", (glob) => expect(ruleOf(glob, ROOT, true)).toBe("path.secret"));

  it.each(["/e??", "~/.s*"])("stops the glob %j, which leaves the project", (glob) =>
    expect(ruleOf(glob, ROOT, true)).not.toBeUndefined(),
  );
});

describe("resolveInside()", () => {
  it.each([
    ["a/./b//c/", ROOT, "a/b/c"],
    ["..", FOLDER, "packages"],
    ["../..", FOLDER, ""],
    ["../../..", FOLDER, undefined],
    ["/home/ann/app", KNOWN, ""],
    ["/home/ann", KNOWN, undefined],
  ])("resolves %j", (path, place, expected) => expect(resolveInside(path, place)).toBe(expected));
});

describe("what the system has for everybody", () => {
  const rulesOf = (command: string): readonly string[] =>
    evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);

  it.each([
    "cat /usr/include/stdio.h",
    "cat /usr/share/./doc//bash/README",
    "grep -n x /usr/local/lib/python3.13/site-packages/a.py",
    "head -5 /usr/share/*/x",
    "grep -c x /Applications/Editor.app/Contents/Resources/a.js",
    "cat < /usr/lib/os-release",
    "ls -la /etc /opt/app",
    "find /usr /boot -name 'jdk*'",
    "stat /etc/hosts",
    "tree -L 1 /etc/systemd",
  ])("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each([
    "cat /etc/hosts",
    "cat /usr/include/../../etc/hosts",
    "cat /usr/src/app/x",
    // `certs` is a link to /etc/ssl/certs.
    "cat /usr/lib/ssl/certs/../../hosts",
    "ls /usr/lib/ssl/certs/../../..",
    "cat /usr/share/x/.env",
    "cat /usr/*/x",
    "cat /usr/libx",
    "cat /Applications/x",
    "cat /Applications/../x.app/Contents/a",
    "cat ../../usr/lib/x",
    "cd /usr/lib && ls",
    "ls /",
    "ls /home",
    "ls /tmp",
    "ls /root/x",
    "ls /etc/../root",
    "ls /etc/*",
    "ls /etc/ssh",
    "stat /etc/shadow",
    "find /etc -name x -exec cat {} +",
    "find /etc -newer /etc/hosts",
    "find /etc -name x | xargs cat",
    "find /usr/../etc -name x | xargs cat",
    "ls -1 /etc/x* | head -1 | xargs cat",
    'find /etc -type f | while read -r f; do cat "$f"; done',
    "cat $(ls /etc)",
    'for f in $(find /etc); do cat "$f"; done',
    "d=/etc; find $d -name x | xargs cat",
  ])("%s is not", (command) => expect(rulesOf(command)).not.toEqual([]));
});

describe("checkPath()", () => {
  it("reports a finding that no allowlist lifts", () => {
    const found: Finding[] = [];
    checkPath({ text: "/etc/passwd", isGlob: false }, ROOT, {
      report: (finding) => found.push(finding),
      span: { start: 4, end: 15 },
    });
    expect(found).toEqual([
      {
        ruleId: "path.outside",
        level: "needs-review",
        layer: "safe-binaries",
        span: { start: 4, end: 15 },
        message: "`/etc/passwd` is outside the project",
      },
    ]);
  });
});
