import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (...commands: readonly string[]): readonly (readonly [string])[] =>
  commands.map((command) => [command]);

describe("redirections", () => {
  it.each(
    lines(
      "ls >/dev/null 2>&1",
      "ls &>/dev/null",
      "ls 2>/dev/stderr",
      "ls >&2",
      "ls 2>&-",
      "ls 1>&2",
      "cat < src/a.ts",
      "cat 0<a",
    ),
  )("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it.each([
    ["ls > out", "redirect.file"],
    ["ls >> out", "redirect.file"],
    ["ls >| out", "redirect.file"],
    ["ls &> out", "redirect.file"],
    ["ls >& out", "redirect.file"],
    ["ls 3<> out", "redirect.file"],
    ["ls > $x", "redirect.file"],
    ["ls > /dev/null/../../x", "redirect.file"],
    ["ls {fd}> /dev/null", "redirect.named"],
    ["> out", "redirect.file"],
    ["cat < $x", "redirect.unknown"],
    ["cat < /etc/passwd", "path.outside"],
    ["cat < .env", "path.secret"],
    ['echo "$(< ~/.netrc)"', "path.home"],
    ["{ ls; } > out", "redirect.file"],
    ["while read -r x; do ls; done < ../x", "path.outside"],
    ["[[ -f x ]] > out", "redirect.file"],
  ])("%s is not", (command, rule) => expect(rulesOf(command)).toContain(rule));
});
