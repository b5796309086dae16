import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "./evaluate.js";

const rulesOf = (command: string): readonly string[] => evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (...commands: readonly string[]): readonly (readonly [string])[] => commands.map((command) => [command]);

describe("wrappers", () => {
  it.each(lines("timeout 5 ls", "env LC_ALL=C ls", "nice -n 5 env TZ=UTC date", "command ls", "timeout 1 env nice command ls"))(
    "%s is safe",
    (command) => expect(rulesOf(command)).toEqual([]),
  );

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
