import { describe, expect, it } from "vitest";
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "./parse-shell.js";
import type { Word } from "./tree.js";
import { unwrap } from "./wrappers.js";

function wordsOf(line: string): readonly Word[] {
  const parsed = parseShell(line, SAFETY_LIMITS);
  if ("refused" in parsed || parsed.script.body.type !== "command")
    throw new Error(`not one simple command: ${line}`);
  return parsed.script.body.words;
}

const tailOf = (line: string): string | undefined =>
  unwrap(wordsOf(line))
    ?.tail.map(({ raw }) => raw)
    .join(" ");

describe("unwrap()", () => {
  it.each([
    ["env ls -l", "ls -l"],
    ["env LC_ALL=C TZ=UTC sort x", "sort x"],
    ["timeout 5 ls", "ls"],
    ["timeout -k 2 -s KILL 5.5s ls", "ls"],
    ["timeout --signal=TERM --preserve-status 1m ls", "ls"],
    ["timeout -k 5 5 rm y", "rm y"],
    ["nice ls", "ls"],
    ["nice -n 10 ls", "ls"],
    ["nice -10 ls", "ls"],
    ["nice --adjustment=5 ls", "ls"],
    ["command ls", "ls"],
    ["command -p ls", "ls"],
    ["time -p ls", "ls"],
  ])("sees through %j", (line, tail) => {
    // The parser takes a leading `time` for the shell's own.
    const words = line.startsWith("time ") ? wordsOf(`x ${line}`).slice(1) : wordsOf(line);
    expect(unwrap(words)).toMatchObject({ isTransparent: true });
    expect(
      unwrap(words)
        ?.tail.map(({ raw }) => raw)
        .join(" "),
    ).toBe(tail);
  });

  it.each([
    ["env -i ls", "ls"],
    ["env -u HOME ls", "ls"],
    ["env -C /etc ls", "ls"],
    ["env PATH=. ls", "ls"],
    ["env LC_ALL=$x ls", "ls"],
    ["env PAGER=./x git log", "git log"],
    ["/usr/bin/env rm -rf /", "rm -rf /"],
    ["timeout $x rm y", "rm y"],
    ["nohup rm -rf x", "rm -rf x"],
    ["setsid -f rm x", "rm x"],
    ["stdbuf -oL rm x", "rm x"],
    ["stdbuf -o L rm x", "rm x"],
    ["ionice -c 3 -n 7 rm x", "rm x"],
    ["flock -w 5 /tmp/lock rm x", "rm x"],
    ["chrt -f 10 rm x", "rm x"],
    ["taskset 0x1 rm x", "rm x"],
    ["strace -f -o out rm x", "rm x"],
    ["unshare -r rm x", "rm x"],
    ["busybox rm x", "rm x"],
    ["exec -a name rm x", "rm x"],
    ["builtin cd x", "cd x"],
    ["xargs -0 -n 1 rm -f", "rm -f"],
    ["xargs -I{} rm {}", "rm {}"],
    ["xargs -P4 rm", "rm"],
    ["sudo -u root rm x", "rm x"],
    ["docker exec -it -u root box rm x", "rm x"],
    ["kubectl exec pod -- rm x", "rm x"],
  ])("finds the tail of %j, which is not transparent", (line, tail) => {
    expect(unwrap(wordsOf(line))?.isTransparent).toBe(false);
    expect(tailOf(line)).toBe(tail);
  });

  it.each([
    ["sh -c 'rm x'", "rm x"],
    ["bash -lc 'rm x'", "rm x"],
    ["bash -ec 'rm x' name", "rm x"],
    ["bash -o pipefail -c 'rm x'", "rm x"],
    ["bash -c -- 'rm x'", "rm x"],
    ["bash --norc -c 'rm x'", "rm x"],
    ["/bin/sh -c 'rm x'", "rm x"],
    ['sh -c "rm -rf $HOME/x"', "rm -rf ~/x"],
    ['sh -c "rm $x"', "rm $x"],
    ['sh -c "$(curl x)"', "$unknown"],
    ["eval rm -rf x", "rm -rf x"],
    ["env -S 'rm -rf x'", "rm -rf x"],
    ["env -S'rm -rf' x", "rm -rf x"],
    ["env --split-string='rm x'", "rm x"],
    ["su root -c 'rm x'", "rm x"],
    ["watch -n 1 rm x", "rm x"],
    ["ssh -p 22 host rm x", "rm x"],
    ["flock /tmp/l -c 'rm x'", "rm x"],
    ["script -qc 'rm x' /dev/null", "rm x"],
  ])("finds the script of %j", (line, script) => {
    expect(unwrap(wordsOf(line))).toMatchObject({ script, isTransparent: false });
  });

  it.each(["ls -l", "command -v ls", "command -pV ls", "toString", "$x ls"])(
    "sees no wrapper in %j",
    (line) => expect(unwrap(wordsOf(line))).toBeUndefined(),
  );

  it.each(["bash script.sh", "sh", "env", "nice"])("finds nothing behind %j", (line) => {
    expect(unwrap(wordsOf(line))).toMatchObject({ isTransparent: false });
    expect(unwrap(wordsOf(line))?.script).toBeUndefined();
  });
});
