import { describe, expect, it } from "vitest";
import { cpuMs } from "../../../../tools/cpu-ms.js";
import { isSameInZsh } from "./zsh.js";

describe("isSameInZsh()", () => {
  it.each([
    "git status",
    "cd src && ls -la | head -20; wc -l a.ts",
    "grep -rn 'a^b ~x #y $z `w` =v' --include='*.ts' src 2>/dev/null || echo none",
    'sed -n "1,20p" src/a.ts; echo "x: $x" "${y}" "a#b ^c ~d =e!"',
    'for f in src/*.ts lib/[a-z]?.js; do echo "$f"; done',
    "if [ ! -f a ]; then cat < b; fi",
    "ls $(git rev-parse --show-toplevel) >/dev/null 2>&1",
    "{ ls; cat a; } | sort",
    "find . -name '*.ts' | xargs -I{} basename {}",
    "LC_ALL=C sort --key=2 a\\ b",
    "echo $? a@b 50% $1",
    "ls & wait",
    "ls path/a; cat --path=a; x=1; [ -t 1 ]; exit $?",
    "printf '%-5s %s\\n' \"$x\"",
    "ls 2>/dev/null | head; ls >/dev/null 2>&1 || echo none; ls | wc -l >/dev/null",
    'while read -r f; do ls "$f"; done < a',
  ])("%j is", (text) => expect(isSameInZsh(text)).toBe(true));

  it.each([
    "ls =cat",
    "=ls",
    "ls a==b",
    "ls ~x",
    "ls a~b",
    "ls ^a",
    "ls a#",
    "ls # rm",
    "ls **/*.ts",
    "ls *(e:touch x:)",
    "ls a<1-5>/dev/null",
    "cat <<EOF\na\nEOF",
    "cat <<< a",
    "cat <(ls)",
    "ls > >(cat)",
    "ls >| /dev/null",
    "echo $x[1]",
    'echo "$x[1]"',
    "echo ${x}[1]",
    "echo $(ls)[1]",
    'echo "$x:h"',
    "cat $f:h/a",
    "echo $~x",
    "echo $=x",
    "echo $+x",
    "echo ${(e)x}",
    "echo ${x:-y}",
    "echo $#x",
    "echo $'a'",
    'echo $"a"',
    'echo "$(ls)"',
    "echo `ls`",
    "ls [^a]",
    "ls [!a]",
    "echo !x",
    "echo {a,b}",
    "{ echo a } ; ls; }",
    "set -f; ls *",
    "ls && set -k",
    "echo 'a",
    'echo "a',
    "path=src; ls",
    "for path in src; do ls; done",
    "while read -r 'path'; do ls; done < a",
    "module_path=.; ulimit -a",
    "cdpath=/; cd etc",
    "[ -t 'path[$(id)1]' ]",
    "[[ -t $n ]]",
    "printf '%d' 'path[$(id)1]'",
    "printf '%*s' \"$n\" a",
    'exit "0$n"',
    'exit "1;$n"',
    "[ 'a;b' = x -o -t \"$n\" ]",
    "printf ';%d' x",
    'read -t "$n" x',
    "grep -rn SECRET . > /dev/null | cat",
    "{ grep -rn SECRET .; } 1>/dev/null 2>&1 | cat",
    "grep -rn SECRET . >&2 >/dev/null",
    "grep -rn SECRET . >/dev/stderr > /dev/null",
  ])("%j may not be", (text) => expect(isSameInZsh(text)).toBe(false));

  it("says so soon", () => {
    const parts = ["read ", "[ ", "test ", "printf ", "exit ", "for ", "-t ", ">a ", "1>", "2>", ">& ", "path", "zsh_", "%", "\t", "$?"];
    for (const part of parts) {
      const start = cpuMs();
      isSameInZsh(part.repeat(10_000 / part.length));
      expect(cpuMs() - start).toBeLessThan(150);
    }
  });
});
