import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);

describe("mayNotEnd()", () => {
  it.each([
    "while :; do :; done",
    "while true; do sleep 1; done",
    "until false; do :; done",
    "while ! false; do :; done",
    "while sleep 1; do ls; done",
    "until [ -f a ]; do sleep 1; done",
    "while true; do (break); done",
    "while true; do ls | while read -r l; do break; done; done",
    "while true; do for x in a; do break; done; done",
    "while read -r l < a.txt; do echo x; done",
    "while read -t 0 l; do echo x; done",
    "while read -n0 l; do echo x; done",
    "while read -r l || true; do echo x; done < a.txt",
    "while read -r l | cat; do echo x; done < a.txt",
    "while read -r l; true; do echo x; done < a.txt",
  ])("asks about %s", (command) => expect(rulesOf(command)).toContain("loop.endless"));

  it.each([
    "while false; do ls; done",
    "until true; do ls; done",
    "while true; do ls; break; done",
    "while true; do if [ -f a ]; then break; fi; sleep 1; done",
    "while true; do for x in a; do break 2; done; done",
    "while true; do for x in a; do exit; done; done",
    'while read -r l; do echo "$l"; done < a.txt',
    'while IFS= read -r l || [ -n "$l" ]; do echo "$l"; done < a.txt',
    'while read -r l && [ "$l" != x ]; do echo "$l"; done < a.txt',
    'until ! read -r l; do echo "$l"; done < a.txt',
    'while read -t 5 -r l; do echo "$l"; done < a.txt',
  ])("lets %s pass", (command) => expect(rulesOf(command)).toEqual([]));
});
