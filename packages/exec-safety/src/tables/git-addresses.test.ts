import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const levelOf = (command: string): string => evaluateCommandSafety(command).riskLevel;
const HIDING = "sed 's#://[^/]*@#://#g'";

// Each printed the token of .git/config in the world of traps, and in its other wording did not.
describe("addresses of remotes", () => {
  it.each([
    ["git remote -v", `git remote -v | ${HIDING}`],
    ["git remote --verbose", `git remote --verbose | ${HIDING}`],
    ["git remote -v | grep origin", `git remote -v | ${HIDING} | grep origin`],
    [
      "git status && git remote get-url origin",
      `git status && git remote get-url origin | ${HIDING}`,
    ],
    ["git remote get-url --push origin", `git remote get-url --push origin | ${HIDING}`],
    ["git remote show -n origin", `git remote show -n origin | ${HIDING}`],
    ["git config --get remote.origin.url", `git config --get remote.origin.url | ${HIDING}`],
    ["git config remote.origin.pushurl", `git config remote.origin.pushurl | ${HIDING}`],
    ['echo "$(git remote get-url origin)"', `echo "$(git remote get-url origin | ${HIDING})"`],
  ])("%s asks, and has a wording without tokens", (command, wording) => {
    const { riskLevel, rewrite } = evaluateCommandSafety(command);
    expect({ riskLevel, command: rewrite?.command }).toEqual({
      riskLevel: "needs-review",
      command: wording,
    });
    expect(levelOf(wording)).toBe("safe");
  });

  it.each([
    `git remote -v | rev | ${HIDING}`,
    `git remote -v >&2 | ${HIDING}`,
    `git remote -v | ${HIDING} a.txt`,
    `git remote -v | ${HIDING.replace("@", "x")}`,
    `git remote -v | ${HIDING} <a.txt`,
    `{ git remote -v | rev; } | ${HIDING}`,
    `x=$(git remote -v) | ${HIDING}`,
    `git remote -v; echo a | ${HIDING}`,
    `git config --list | ${HIDING}`,
    "git config --get url.x.insteadOf",
    "git var -l",
  ])("%s asks", (command) => expect(levelOf(command)).toBe("needs-review"));

  it.each([
    "git remote",
    "git remote show",
    "git remote get-url origin >/dev/null 2>&1 && echo yes",
    "git remote -v | wc -l",
    `{ git remote -v; } | ${HIDING}`,
    `git remote -v 2>/dev/null | ${HIDING} | sort -u`,
    "git config --get user.name",
    "git config --get-all remote.origin.fetch",
  ])("%s is safe", (command) => expect(levelOf(command)).toBe("safe"));
});
