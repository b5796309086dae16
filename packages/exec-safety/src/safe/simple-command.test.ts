import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (...commands: readonly string[]): readonly (readonly [string])[] =>
  commands.map((command) => [command]);

describe("programs of the system by their paths", () => {
  it.each(
    lines(
      "/bin/ls",
      "/usr/bin/git log",
      "/usr/bin/env ls",
      "/usr/bin/timeout 5 /bin/cat a",
      "'/bin/echo' a",
      "/usr/sbin/arp -n",
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each([
    ["/bin/rm a", "rm.change"],
    ["/usr/bin/find . -delete", "find.write"],
    ["/bin/zap", "program.unknown"],
    ["./ls", "program.unknown"],
    ["bin/ls", "program.unknown"],
    ["/tmp/ls", "program.unknown"],
    ["/usr/local/bin/ls", "program.unknown"],
    ["/home/ann/bin/ls", "program.unknown"],
    ["/bin/../tmp/ls", "program.unknown"],
    ["/bin/ls/../../tmp/ls", "program.unknown"],
    ["/bin/../tmp/env ls", "wrapper.runs"],
    ["/bin/l?", "program.dynamic"],
    // Not the shell's own: it reads nothing and leads nowhere.
    ["/usr/bin/cd src && cat ../../x", "path.outside"],
    ["cd src; /usr/bin/cd ..; cat ../../x", "path.outside"],
    ["/usr/bin/exit; zap", "program.unknown"],
  ])("%s is not: %s", (command, rule) => expect(rulesOf(command)).toContain(rule));

  it("offers a wording with the path as it was", () => {
    const { rewrite } = evaluateCommandSafety("/usr/bin/npm ls");
    expect(rewrite?.command).toBe("/usr/bin/npm ls --no-update-notifier");
  });
});

describe("wrappers", () => {
  it.each(
    lines(
      "timeout 5 ls",
      "env LC_ALL=C ls",
      "nice -n 5 env TZ=UTC date",
      "command ls",
      "timeout 1 env nice command ls",
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each(
    lines(
      "timeout 5 touch x",
      "env ls -i > x",
      "env -i ls",
      "env PATH=. ls",
      "nohup ls",
      "exec ls",
      "eval ls",
      "sh -c ls",
      "bash script.sh",
      "builtin ls",
      "sudo ls",
      "busybox ls",
      "timeout $x ls",
      "env env env env env env env env ls",
      "command $x",
    ),
  )("%s is not", (command) => expect(rulesOf(command)).not.toEqual([]));
});
