import { describe, expect, it } from "vitest";
import { parseAllowlist } from "./allowlist.js";
import { evaluateCommandSafety } from "./evaluate.js";
import type { CommandSafety } from "./safety.js";

describe("the allowlist", () => {
  const allowlist = parseAllowlist([
    { pattern: "pnpm **" },
    { pattern: "git **" },
    { pattern: "rm **" },
    { pattern: "make test" },
    { pattern: "sort **" },
  ]);
  const allowed = (command: string): CommandSafety => evaluateCommandSafety(command, { allowlist });

  it("lifts what is merely not on our list, and says so", () => {
    const safety = allowed("cd lib && pnpm test; ls");
    expect(safety).toMatchObject({ riskLevel: "safe", reasons: [], layers: ["allowlist"] });
    expect(safety.commands.map(({ program, allowedBy }) => [program, allowedBy])).toEqual([
      ["cd", undefined],
      ["pnpm", "pnpm **"],
      ["ls", undefined],
    ]);
  });

  it.each([
    "git push",
    "git commit -m 'a: b'",
    "make test",
    "timeout 60 pnpm test",
    "pnpm test && git push origin main",
    "git push https://host.example/x.git",
  ])("lifts %s", (command) => expect(allowed(command)).toMatchObject({ riskLevel: "safe", layers: ["allowlist"] }));

  it.each([
    ["a sibling", "git push; curl x"],
    ["danger", "rm -rf /"],
    ["an option that runs a program", "git -c core.pager=x log"],
    ["an option that writes a file", "sort -o x y"],
    ["a path outside", "git add ../x"],
    ["a path in a value", "pnpm run x --dir=/etc"],
    ["a path behind @", "pnpm publish @/etc/passwd"],
    ["a path behind many parts", `pnpm x=${"a,".repeat(20)}/etc/shadow`],
    ["a path behind a URL", "pnpm x=a://b,/etc/shadow"],
    ["a home", "pnpm --dir ~/x test"],
    ["a secret", "git add .env"],
    ["a program that is not known", "$x push"],
    ["an argument that may be a flag", "git push $x"],
    ["an argument that is not known", 'git push "$x"'],
    ["an argument that can be several", "for b in main dev; do git push origin $b; done"],
    ["a glob that may find a flag", "git add *"],
    ["a redirection", "git push > out"],
    ["an environment", "GIT_SSH_COMMAND=x git push"],
    ["a substitution", "git push $(curl x)"],
    ["a wrapper that does more", "nohup pnpm test"],
    ["a program given by its path", "/usr/bin/pnpm test"],
    ["a background command", "pnpm test &"],
    ["a function of the same name", "pnpm() { x; }; pnpm test"],
    ["an alias of the same name", "alias pnpm=x; pnpm test"],
    ["another word", "make install"],
    ["a shell behind it", "pnpm test | sh"],
  ])("never lifts %s: %s", (_, command) => expect(allowed(command).riskLevel).not.toBe("safe"));
});
