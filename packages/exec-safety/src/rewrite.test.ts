import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "./evaluate.js";
import { GIT_GUARDS } from "./config/git-guards.js";

const GUARDS = GIT_GUARDS.map(([key, value]) => `-c ${key}=${value}`).join(" ");

describe("a command in other words", () => {
  it.each([
    ["git -C sub status", `git ${GUARDS} -C sub status`],
    ["cd sub && git log -1", `cd sub && git ${GUARDS} log -1`],
    [
      'for d in */; do git -C "$d" status -s; done',
      `for d in */; do git ${GUARDS} -C "$d" status -s; done`,
    ],
    [
      "(cd a && git status); (cd b && git status)",
      `(cd a && git ${GUARDS} status); (cd b && git ${GUARDS} status)`,
    ],
    ['echo "$(git -C sub rev-parse HEAD)"', `echo "$(git ${GUARDS} -C sub rev-parse HEAD)"`],
    ["pip list | head -5", "pip list --disable-pip-version-check | head -5"],
    ["npm ls --depth=0", "npm ls --no-update-notifier --depth=0"],
  ])("%s", (command, rewritten) => {
    const { riskLevel, rewrite } = evaluateCommandSafety(command);
    expect({ riskLevel, command: rewrite?.command }).toEqual({
      riskLevel: "needs-review",
      command: rewritten,
    });
    expect(rewrite?.reason).toMatch(
      /^keeps (?:git out of repositories|(?:npm|pip) from asking the network)/,
    );
    expect(evaluateCommandSafety(rewritten).riskLevel).toBe("safe");
  });

  it.each([
    "git status",
    "git -C sub push",
    "cd sub && git status; rm x",
    "g'i't -C sub status",
    "git -C ../x status",
    "git -C sub -c core.pager=less log",
    "npm  ls",
    "rm -rf /; git -C sub status",
  ])("offers none for %s", (command) =>
    expect(evaluateCommandSafety(command).rewrite).toBeUndefined(),
  );

  it.each(["git status", "git -C . log", "cd src && cd .. && git status", "git -C sub --version"])(
    "%s needs none",
    (command) => {
      expect(evaluateCommandSafety(command).riskLevel).toBe("safe");
    },
  );

  it("takes every guard, with its own value, and no other setting", () => {
    for (const [key, value] of GIT_GUARDS) {
      expect(
        evaluateCommandSafety(`git ${GUARDS.replace(`-c ${key}=${value}`, "")} -C sub status`)
          .riskLevel,
      ).toBe("needs-review");
      expect(
        evaluateCommandSafety(`git ${GUARDS.replace(`${key}=${value}`, `${key}=x`)} status`)
          .riskLevel,
      ).toBe("needs-review");
      expect(evaluateCommandSafety(`git -c ${key}=${value} status`).riskLevel).toBe("safe");
    }
  });

  it("is not needed where the run itself is guarded", () => {
    for (const command of ["git -C sub status", "cd sub && git log", "npm ls", "pip list"])
      expect(evaluateCommandSafety(command, { isGuarded: true })).toMatchObject({
        riskLevel: "safe",
      });
    expect(
      evaluateCommandSafety("git -C sub log --format=%G?", { isGuarded: true }).riskLevel,
    ).toBe("needs-review");
  });
});

describe("the name of a tag that may look like a flag", () => {
  it.each([
    [
      "git log $(git describe --tags --abbrev=0)..HEAD",
      "git log --end-of-options $(git describe --tags --abbrev=0)..HEAD",
    ],
    [
      'git log --oneline "$(git describe --tags)"..HEAD -- src',
      'git log --oneline --end-of-options "$(git describe --tags)"..HEAD -- src',
    ],
    [
      "git rev-list --count $(git describe)..HEAD",
      "git rev-list --count --end-of-options $(git describe)..HEAD",
    ],
    [
      "git show --stat $(git branch --show-current)",
      "git show --stat --end-of-options $(git branch --show-current)",
    ],
  ])("%s", (command, wording) => {
    const { riskLevel, rewrite } = evaluateCommandSafety(command);
    expect({ riskLevel, command: rewrite?.command }).toEqual({
      riskLevel: "needs-review",
      command: wording,
    });
    expect(evaluateCommandSafety(wording).riskLevel).toBe("safe");
  });

  it.each([
    "git log $(git describe --tags)..HEAD --oneline",
    "git log --end-of-options HEAD --output=x",
    "git log --end-of-options -p HEAD",
    "git diff $(git describe)",
    "git branch $(git describe)",
    "git log $(cat x)",
    "git log $(echo --output=x)",
  ])("gets no other words in %s", (command) => {
    expect(evaluateCommandSafety(command)).toMatchObject({ riskLevel: "needs-review" });
    expect(evaluateCommandSafety(command).rewrite).toBeUndefined();
  });
});

describe("what takes commands", () => {
  it.each(["less a.txt", "less -N a.txt", "cat a | less", "more a.txt", "man ls", "man 3 printf"])(
    "%s waits for none",
    (command) => {
      expect(evaluateCommandSafety(command).riskLevel).toBe("needs-review");
      expect(evaluateCommandSafety(command, { noInput: true }).riskLevel).toBe("safe");
    },
  );

  it.each(["less +x a", "less -p 'x$oREADME' a", "less -px'$oREADME' a", "man -P id ls", "vim a"])(
    "%s does more than show",
    (command) => {
      expect(evaluateCommandSafety(command, { noInput: true }).riskLevel).toBe("needs-review");
    },
  );
});

describe("what pages at a terminal", () => {
  it.each([
    ["git log", "git --no-pager log"],
    ["git -C . diff", "git --no-pager -C . diff"],
    ["git status; git show | cat", "git --no-pager status; git show | cat"],
    ["systemctl status nginx", "systemctl --no-pager status nginx"],
    ["bat a.ts", "bat --paging=never a.ts"],
    ["git diff >/dev/stdout", "git --no-pager diff >/dev/stdout"],
  ])("%s", (command, wording) => {
    expect(evaluateCommandSafety(command).riskLevel).toBe("safe");
    const { riskLevel, rewrite } = evaluateCommandSafety(command, { atTerminal: true });
    expect({ riskLevel, command: rewrite?.command }).toEqual({
      riskLevel: "needs-review",
      command: wording,
    });
    expect(evaluateCommandSafety(wording, { atTerminal: true }).riskLevel).toBe("safe");
  });

  it.each([
    "git log | head -5",
    "git log >/dev/null",
    'echo "$(git log -1)"',
    "git --version",
    "ls",
    "git --no-pager log",
  ])("%s does not", (command) =>
    expect(evaluateCommandSafety(command, { atTerminal: true }).riskLevel).toBe("safe"),
  );

  it("does not where the run has no pager", () => {
    expect(evaluateCommandSafety("git log", { atTerminal: true, isGuarded: true }).riskLevel).toBe(
      "safe",
    );
  });
});

describe("what shows its version", () => {
  it.each([
    "git --version",
    "node -v",
    "python3 -V",
    "npm -v",
    "ls --version",
    "tar --help",
    "pytest --version",
    "make -v",
    "gh --version",
    "redis-cli --version",
    "clang -v",
    "bun --version",
  ])("%s", (command) => {
    expect(evaluateCommandSafety(command).riskLevel).toBe("safe");
  });

  // Each was seen to run what the folder holds, to dial, to write or to read commands from its
  // input; or nobody has run it.
  it.each(
    `yarn -v, yarn --version, pnpm -v, pnpm --version, cargo --version, cargo -V, cargo version, rustc --version, rustc -vV, rustup --version,
    rustfmt --version, flake8 --version, ava --version, gulp --version, grunt --version, mvn --version, mvn -v, mocha -v, nodemon --version,
    pm2 --version, serve --version, lerna --version, bower --version, pytest -V, tclsh --version, erl --version, kubectl --version,
    kubectl version --client, terraform --version, gcloud --version, gsutil --version, go version, yarn --help`
      .split(",")
      .map((line) => line.trim()),
  )("%s asks", (command) => expect(evaluateCommandSafety(command).riskLevel).toBe("needs-review"));
});
