import { describe, expect, it } from "vitest";
import type { Finding } from "../findings.js";
import { judgeProgram } from "./judge.js";
import type { BinaryTable } from "./table.js";

const span = { start: 3, end: 9 };
const inside = { inside: "", projectRoot: undefined, trustedWorkspace: true };
const examples = { safe: [], review: [] };

function findingsOf(
  line: string,
  extra?: BinaryTable,
  place: typeof inside = inside,
): readonly Finding[] {
  const findings: Finding[] = [];
  const [program = "", ...words] = line.split(" ");
  const args = words.map((raw) => ({
    span,
    raw,
    values: [{ text: raw, isGlob: false }],
    leading: raw,
    isOne: true,
  }));
  judgeProgram({ span, program, args }, place, {
    extra,
    report: (finding) => void findings.push(finding),
    isFed: false,
    isShown: true,
    hidesAddresses: false,
    isCaught: false,
  });
  return findings;
}

const TABLE: BinaryTable = {
  multi: {
    flags: "-g -d:path",
    reviewFlags: { "-c:text": "exec: sets a setting" },
    subcommands: {
      show: { flags: "-s", operands: "text*", examples },
      change: {
        review: "change: changes it",
        reviewFlags: { "--run:text": "exec: runs" },
        examples,
      },
      list: {
        operands: "",
        subcommands: { all: { examples } },
        excess: "change: makes one",
        examples,
      },
    },
    examples,
  },
  needs: {
    flags: "-l -v",
    requires: "-l",
    otherwise: "write: unpacks",
    operands: "path*",
    examples,
  },
  two: { operands: "text path?", excess: "write: writes to its third", examples },
  form: { flags: "-e:text", operands: "text path", operandsWith: { "-e": "path" }, examples },
  service: {
    alone: "-v",
    review: "network: asks",
    reviewFlags: { "-H:text": "exec: elsewhere" },
    operands: "verb*",
    examples,
  },
};

const idsOf = (line: string): readonly string[] =>
  findingsOf(line, TABLE).map(({ ruleId }) => ruleId);

describe("judgeProgram()", () => {
  it("says that a program is not known, and that an entry may allow it", () => {
    expect(findingsOf("frob x")).toEqual([
      {
        ruleId: "program.unknown",
        level: "needs-review",
        layer: "safe-binaries",
        span,
        message:
          "`frob` is an unknown program: it is not on the list of programs known to only read",
        isLiftable: true,
      },
    ]);
  });

  it.each(["constructor", "__proto__", "toString", "Cat", "CAT", ""])(
    "knows no program %j",
    (program) => {
      expect(findingsOf(program).map(({ ruleId }) => ruleId)).toEqual(["program.unknown"]);
    },
  );

  it.each([
    ["multi show a", []],
    ["multi -g show -s", []],
    ["multi -d src show", []],
    ["multi list", []],
    ["multi list all", []],
    ["multi", ["multi.unknown"]],
    ["multi frob", ["multi.unknown"]],
    ["multi constructor", ["multi.unknown"]],
    ["multi -c x show", ["multi.exec"]],
    ["multi -c x frob", ["multi.exec", "multi.unknown"]],
    ["multi -d /x show", ["path.outside"]],
    ["multi -z show", ["multi.unknown"]],
    ["multi show -z", ["multi.unknown"]],
    ["multi change", ["multi.change"]],
    ["multi change --what x", ["multi.change"]],
    ["multi change --run=x", ["multi.change", "multi.exec"]],
    ["multi change --ru=x", ["multi.change", "multi.exec"]],
    ["multi change ext::x", ["multi.change", "multi.exec"]],
    ["multi list x", ["multi.change"]],
    ["needs -l a", []],
    ["needs -vl a", []],
    ["needs a", ["needs.write"]],
    ["needs --list", ["needs.write"]],
    ["needs -l --what /x", ["needs.unknown"]],
    ["two a", []],
    ["two a b", []],
    ["two", ["two.unknown"]],
    ["two a b c", ["two.write"]],
    ["two a /b", ["path.outside"]],
    ["form a b", []],
    ["form -e a b", []],
    ["form a", ["form.unknown"]],
    ["form -e a b c", ["form.unknown"]],
    ["service -v", []],
    ["service --version", ["service.network"]],
    ["service -v x", ["service.network"]],
    ["service up -v", ["service.network"]],
    ["service ps", ["service.network"]],
    ["service run x", ["service.network", "service.write"]],
    ["service --what rm", ["service.network", "service.write"]],
    ["service get secrets", ["service.network", "service.secret"]],
    ["service -H x ps", ["service.network", "service.exec"]],
  ])("judges `%s`", (line, ids) => {
    expect(idsOf(line)).toEqual(ids);
  });

  it("lifts no exec, write, read or secret", () => {
    const kept = [
      "multi -c x show",
      "needs a",
      "two a b c",
      "service rm x",
      "service get secret",
      "multi change ext::x",
    ];
    for (const line of kept)
      expect(findingsOf(line, TABLE).some(({ isLiftable }) => isLiftable !== true)).toBe(true);
    const lifted = ["multi change", "multi frob", "service ps", "two", "multi list x"];
    for (const line of lifted)
      expect(findingsOf(line, TABLE).every(({ isLiftable }) => isLiftable === true)).toBe(true);
  });

  it("trusts nothing of git in a workspace that is not trusted, but its version", () => {
    const untrusted = { ...inside, trustedWorkspace: false };
    expect(
      findingsOf("git status", undefined, untrusted).map(({ ruleId, isLiftable }) => [
        ruleId,
        isLiftable,
      ]),
    ).toEqual([["git.exec", undefined]]);
    expect(findingsOf("git --version", undefined, untrusted)).toEqual([]);
    expect(findingsOf("git status")).toEqual([]);
  });

  it("lets a program say its version, alone, that was seen to do nothing else", () => {
    expect(findingsOf("cargo --version")).not.toEqual([]);
    for (const program of ["rm", "python3", "git"]) {
      expect(findingsOf(`${program} --version`)).toEqual([]);
      expect(findingsOf(`${program} --version x`)).not.toEqual([]);
    }
  });

  it("prefers the built-in entry", () => {
    expect(findingsOf("rm a", { rm: { operands: "path*", examples } })).toHaveLength(1);
  });

  it("makes rule ids of names with other letters", () => {
    const ids = ["[ -v a ]", ". x", "g++ x", "lsb_release x", "R x"].map(
      (line) => findingsOf(line)[0]?.ruleId,
    );
    expect(ids).toEqual([
      "test.exec",
      "source.exec",
      "g--.change",
      "lsb-release.unknown",
      "r.change",
    ]);
  });

  it("shows no control characters and no long texts", () => {
    const [finding] = findingsOf(`cat --${"\u001b[2J\u202e".repeat(50)}`);
    expect(finding?.message).toMatch(/^[\u0020-\u007e…]{1,600}$/);
  });
});
