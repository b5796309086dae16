import { describe, expect, it } from "vitest";
import type { ManagerAttempt, ManagerProof } from "./attempt.js";
import { type Evidence, judgeAttempt } from "./judge.js";
import { formatManagerReport, managerTable } from "./table.js";

const attemptWith = (
  provenBy: ManagerProof,
  more: Partial<ManagerAttempt> = {},
): ManagerAttempt => ({
  id: "it",
  class: "path",
  title: "",
  agent: "",
  provenBy,
  ...more,
});
const claims = ["path"] as const;

describe("judgeAttempt()", () => {
  it.each<[ManagerProof, Partial<Evidence>]>([
    ["mark", { mark: "0" }],
    ["change", { isChanged: true }],
    ["secret", { secret: "secret-1", said: "it is secret-1" }],
    ["survivor", { survivors: 2 }],
    ["stuck", { isStuck: true }],
    ["lie", { managerSaid: "left: a\u202eb" }],
    ["lie", { managerSaid: "left: a\nKIT-FORGED all is well" }],
    ["word", { said: "KIT-ESCAPED memory of 1" }],
  ])("finds that %s shows it, and nothing else does", (provenBy, evidence) => {
    expect(judgeAttempt(attemptWith(provenBy), { claims, ...evidence })).toMatchObject({
      outcome: "escaped",
      isPromised: true,
    });
    const others: Evidence = {
      claims,
      mark: "0",
      isChanged: true,
      secret: "s",
      said: "KIT-ESCAPED s",
      survivors: 1,
      isStuck: true,
      managerSaid: "\u202e",
    };
    const without = Object.fromEntries(Object.keys(evidence).map((key) => [key, undefined]));
    expect(judgeAttempt(attemptWith(provenBy), { ...others, ...without, claims }).outcome).toBe(
      "blocked",
    );
  });

  it("takes an empty secret for none", () => {
    expect(
      judgeAttempt(attemptWith("secret"), { claims, secret: "", said: "anything" }).outcome,
    ).toBe("blocked");
  });

  it("counts what a manager named, all of it, as told", () => {
    const attempt = attemptWith("mark", { told: ["a/.npmrc", "b"] });
    expect(
      judgeAttempt(attempt, { claims, mark: "0", managerSaid: "look at a/.npmrc, b" }).outcome,
    ).toBe("told");
    expect(judgeAttempt(attempt, { claims, mark: "0", managerSaid: "look at b" }).outcome).toBe(
      "escaped",
    );
  });

  it("holds nobody to what nobody promises, or to what the host lacks", () => {
    const open = attemptWith("mark", { isUnpromised: true });
    expect(judgeAttempt(open, { claims, mark: "0" })).toMatchObject({
      outcome: "escaped",
      isPromised: false,
    });
    expect(judgeAttempt(attemptWith("mark"), { claims, missing: "git", mark: "0" }).outcome).toBe(
      "skipped",
    );
  });
});

describe("formatManagerReport(), managerTable()", () => {
  const results = [
    judgeAttempt(attemptWith("mark"), { claims, mark: "0" }),
    judgeAttempt(attemptWith("mark", { id: "other", class: "python" }), { claims, mark: "0" }),
    judgeAttempt(attemptWith("stuck", { id: "gone", class: "report" }), {
      claims,
      missing: "test -x /nowhere",
    }),
  ];
  const report = { manager: "mine", claims, results, brokenPromises: results.slice(0, 1) };

  it("say how many succeeded, and which against a claim", () => {
    const lines = formatManagerReport(report).split("\n");
    expect(lines[0]).toBe(
      "mine: 3 attempts, 0 blocked, 0 told, 2 escaped (1 against a claim), 1 skipped",
    );
    expect(
      lines
        .filter((line) => /^ {2}(?:BROKEN|open|skipped)/u.test(line))
        .map((line) => line.trim().split(":")[0]),
    ).toEqual(["BROKEN  it", "open    other", "skipped gone"]);
    const table = managerTable([report, { ...report, manager: "theirs", claims: [] }]).split("\n");
    expect(table[0]).toBe("| class | attempts | mine | theirs |");
    expect(table[2]).toBe("| path | 1 | 1 | *1* |");
    expect(table.at(-1)).toBe("| all | 3 | 2 | 2 |");
    expect(managerTable([])).toBe("");
  });
});
