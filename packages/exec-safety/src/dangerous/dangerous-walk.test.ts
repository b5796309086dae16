import { describe, expect, it } from "vitest";
import type { Finding } from "../findings.js";
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "../parse/parse-shell.js";
import type { RunPlace } from "../config/run-place.js";
import { dangerousWalk } from "./dangerous-walk.js";
import { cpuMs } from "../../../../tools/cpu-ms.js";

const ROOT: RunPlace = { inside: "", projectRoot: undefined, trustedWorkspace: true };

function findings(command: string, place: RunPlace = ROOT): readonly Finding[] {
  const parsed = parseShell(command, SAFETY_LIMITS);
  if ("refused" in parsed) throw new Error(`Cannot parse ${command}: ${parsed.refused.message}`);
  const found: Finding[] = [];
  dangerousWalk(parsed.script, place, (finding) => found.push(finding));
  return found;
}

const ids = (command: string, place?: RunPlace): readonly string[] =>
  findings(command, place).map(({ ruleId }) => ruleId);

describe("dangerousWalk()", () => {
  it("says what, where and why", () => {
    const command = "ls && rm -rf / # x";
    const [finding] = findings(command);
    expect(finding).toMatchObject({
      ruleId: "rm.protected",
      level: "dangerous",
      layer: "dangerous-patterns",
    });
    expect(command.slice(finding?.span.start, finding?.span.end)).toBe("rm -rf /");
  });

  it("says for an inner text where the text stands in the line", () => {
    const command = "echo hi; bash -c 'true; rm -rf /'";
    const [finding] = findings(command);
    expect(command.slice(finding?.span.start, finding?.span.end)).toBe("'true; rm -rf /'");
  });

  it("says the same thing about the same place once", () => {
    expect(ids("f() { rm -rf /; }; f; f; f")).toEqual(["rm.protected"]);
  });

  it("says the same thing about two places twice", () => {
    expect(ids("rm -rf /; rm -rf /")).toEqual(["rm.protected", "rm.protected"]);
  });

  it("is the same each time", () => {
    const command = 'x=$(curl https://x.example); for d in / ~; do rm -rf $d; done; eval "$x"';
    expect(findings(command)).toEqual(findings(command));
  });
});

describe("dangerousWalk() looks at every command", () => {
  it.each([
    "rm -rf /; ls",
    "ls; rm -rf /",
    "ls && rm -rf /",
    "ls || rm -rf /",
    "ls | rm -rf /",
    "ls |& rm -rf /",
    "rm -rf / &",
    "! rm -rf /",
    "time rm -rf /",
    "(rm -rf /)",
    "{ rm -rf /; }",
    "{ rm -rf /; } > x",
    "if ls; then rm -rf /; fi",
    "if rm -rf /; then ls; fi",
    "if ls; then ls; elif ls; then rm -rf /; fi",
    "if ls; then ls; else rm -rf /; fi",
    "while ls; do rm -rf /; done",
    "until rm -rf /; do ls; done",
    "for x in a; do rm -rf /; done",
    "for x in $(rm -rf /); do ls; done",
    "for ((i=0;i<1;i++)); do rm -rf /; done",
    "select x in a; do rm -rf /; done",
    "case a in a) rm -rf /;; esac",
    "case $(rm -rf /) in a) ls;; esac",
    "f() { rm -rf /; }",
    "coproc rm -rf /",
    "echo $(rm -rf /)",
    'echo "$(rm -rf /)"',
    "echo `rm -rf /`",
    "cat <(rm -rf /)",
    "ls > >(rm -rf /)",
    "ls > $(rm -rf /)",
    "cat <<< $(rm -rf /)",
    "cat <<A\n$(rm -rf /)\nA",
    "x=$(rm -rf /)",
    "x=(a $(rm -rf /))",
    "x=1 y=$(rm -rf /) ls",
    'echo "${x:-$(rm -rf /)}"',
    "echo $(( $(rm -rf /) ))",
    "(( $(rm -rf /) ))",
    "[[ -n $(rm -rf /) ]]",
    "[ -n $(rm -rf /) ]",
  ])("in %j", (command) => {
    expect(ids(command)).toContain("rm.protected");
  });
});

describe("dangerousWalk() follows what the line says", () => {
  it.each([
    ["a variable", "x=rm; $x -rf /"],
    ["a variable with several words", 'x="rm -rf /"; $x'],
    ["parts of a name", "a=r; b=m; $a$b -rf /"],
    ["a default", "${x:-rm} -rf /"],
    ["an array", "a=(rm -rf /); ${a[@]}"],
    ["an element", "a=(ls rm); ${a[1]} -rf /"],
    ["an indirection", "y=x; x=rm; ${!y} -rf /"],
    ["a cut", "x=xrm; ${x#x} -rf /"],
    ["a part", "x=abrm; ${x:2} -rf /"],
    ["a replacement", "x=r-m; ${x/-/} -rf /"],
    ["a change of case", "x=RM; ${x,,} -rf /"],
    ["a variable that is not set inside a name", "r${x}m -rf /"],
    ["IFS", "rm${IFS}-rf${IFS}/"],
    ["another IFS", "IFS=,; x=rm,-rf,/; $x"],
    ["a loop", "for d in a / b; do rm -rf $d; done"],
    ["read", "read x <<< rm; $x -rf /"],
    ["printf -v", "printf -v x rm; $x -rf /"],
    ["declare", "declare x=rm; $x -rf /"],
    ["set --", 'set -- rm -rf /; "$@"'],
    ["arguments of a function", 'f() { rm -rf "$1"; }; f /'],
    ["arguments of a script", "sh -c '$0 $1 /' rm -rf"],
    ["output of echo", "$(echo rm) -rf /"],
    ["output of printf", "$(printf '\\162m') -rf /"],
    ["braces", "{rm,-rf,/}"],
    ["quotes and escapes", "r''\"m\" -\\rf $'\\x2f'"],
    ["a path", "/bin/rm -rf /"],
    ["the directory", "cd /; rm -rf *"],
    ["the directory of pushd", "pushd ~; rm -rf *"],
    ["a file that it wrote", "echo 'rm -rf /' > x.sh; sh x.sh"],
    ["a file that it ran by path", "echo 'rm -rf /' > x.sh; ./x.sh"],
    ["a file that it copied", "echo 'rm -rf /' > a; cp a b; sh b"],
    ["a file that tee wrote", "tee x.sh <<< 'rm -rf /'; sh x.sh"],
    [
      "a program of another language that it wrote",
      "echo 'import os; os.system(\"rm -rf /\")' > x.py; python3 x.py",
    ],
    ["a folder that code deletes", "python3 -c 'import shutil; shutil.rmtree(\"/\")'"],
    [
      "a home that code deletes",
      "python3 -c 'import shutil,os; shutil.rmtree(os.path.expanduser(\"~\"))'",
    ],
    ["a command for later", "echo 'rm -rf /' | at now"],
    ["a command before every prompt", "PROMPT_COMMAND='rm -rf /'"],
    ["upper case, as some file systems take it", "RM -rf /"],
    ["xargs", "echo / | xargs rm -rf"],
    ["xargs -I", "echo / | xargs -I{} rm -rf {}"],
    ["find -exec", "find / -exec rm -f {} +"],
    ["six shells deep", 'sh -c "sh -c \'eval \\"eval \\\\\\"rm -rf /\\\\\\"\\"\'"'],
  ])("%s", (_, command) => {
    expect(ids(command)).toContain("rm.protected");
  });

  it("a folder outside of which only a part is known", () => {
    expect(ids('cd "/srv/$x"; rm -rf *')).toEqual(["rm.outside-project"]);
  });

  it("a file that code writes", () => {
    expect(ids('python3 -c \'open("/etc/hosts","a").write("x")\'')).toEqual(["write.system"]);
    expect(ids("perl -e 'open(F,\">>/etc/passwd\"); print F 1'")).toEqual(["write.system"]);
  });

  it.each([
    ["a directory of the project", "cd build; rm -rf *"],
    ["a directory in a shell of its own", "(cd /tmp); rm -rf dist"],
    ["a directory in a pipeline", "cd /tmp | cat; rm -rf dist"],
    ["a directory that is not known", 'cd "$x"; rm -rf *'],
    ["a variable of another shell", "(x=/); rm -rf dist$x"],
    ["a variable that is set", "x=dist; rm -rf $x/*"],
    ["the directory before", "cd /tmp; cd -; rm -rf dist"],
    ["a function of the line in the place of a program", "reboot() { echo no; }; reboot"],
    ["single quotes", "x=rm; echo '$x -rf /'"],
  ])("%s", (_, command) => {
    expect(ids(command)).toEqual([]);
  });
});

describe("dangerousWalk() and the place", () => {
  const at = (inside: string | undefined, projectRoot?: string): RunPlace => ({
    inside,
    projectRoot,
    trustedWorkspace: true,
  });

  it.each([
    ["rm -rf /work/app/dist", at("", "/work/app"), []],
    ["rm -rf /work/app", at("", "/work/app"), ["rm.protected"]],
    ["rm -rf /work/apple", at("", "/work/app"), ["rm.outside-project"]],
    ["rm -rf /work", at("", "/work/app"), ["rm.protected"]],
    ["rm -rf ../dist", at("src"), []],
    ["rm -rf ../..", at("src"), ["rm.protected"]],
    ["rm -rf *", at("src"), []],
    ["rm -rf *", at(""), ["rm.protected"]],
    ["rm -rf dist", at(undefined, "/work/app"), ["rm.outside-project"]],
    ["rm -rf ~/app/dist", at("", "/home/me/app"), []],
    ["rm -rf ~/other", at("", "/home/me/app"), ["rm.outside-project"]],
    ["rm -rf etc", at("", "/"), ["rm.protected"]],
    ["rm -rf /usr/src/app/dist", at("", "/usr/src/app"), []],
    ["echo x > /usr/src/app/a", at("", "/usr/src/app"), []],
  ])("%s", (command, place, expected) => {
    expect(ids(command, place)).toEqual(expected);
  });
});

describe("dangerousWalk() is bounded", () => {
  const BOUND_MS = 10_000;

  it.each([
    ["variables that double", `a=xxxxxxxxxx;${"a=$a$a;".repeat(180)}eval "$a"`],
    ["values that multiply", `for a in 1 2 3 4 5 6 7 8;do ${"$a".repeat(4_000)};done`],
    [
      "functions that call functions",
      `${Array.from({ length: 60 }, (_, i) => `f${i}(){ f${i + 1};f${i + 1};f${i + 1};}`).join(";")};f0`,
    ],
    ["launchers of launchers", `${"env ".repeat(2_400)}ls`],
    ["xargs of xargs", `echo a b c | ${"xargs ".repeat(1_600)}ls`],
    ["evals of evals", `${"eval ".repeat(1_900)}ls`],
    ["a function that calls itself", "f(){ f;f;};f"],
    ["long operands", `rm -rf ${"/".repeat(9_900)}`],
    ["stars", `rm -rf '${"*.".repeat(4_900)}x'`],
    ["quotes in code", `node -e '${'"a",'.repeat(2_400)}'`],
    ["commands in code", `python3 -c 'os.system(1) ${'"ls" '.repeat(1_900)}'`],
  ])("%s", (_, command) => {
    const started = cpuMs();
    expect(() => findings(command)).not.toThrow();
    expect(cpuMs() - started).toBeLessThan(BOUND_MS);
  });

  it("ends inner texts somewhere, and finds nothing beyond", () => {
    const inside = (depth: number): string =>
      depth === 0 ? "rm -rf /" : `eval ${JSON.stringify(inside(depth - 1))}`;
    expect(ids(inside(3))).toContain("rm.protected");
    expect(ids(inside(9))).toEqual([]);
  });
});
