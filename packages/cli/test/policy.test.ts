import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";

const POLICY = `version: "1"
default_action: ask
rules:
  - id: reads
    match: { tool: "read_*" }
    action: allow
  - id: no-moves
    match: { tool: move_file }
    action: deny
    reason: files stay here
`;

describe("acp policy schema", () => {
  it("prints the schema that is published", async () => {
    const published = new URL("../../../spec/schemas/policy.schema.json", import.meta.url);
    const { code, stdout } = await acpHere(["policy", "schema"]);
    expect([code, JSON.parse(stdout)]).toEqual([0, JSON.parse(await readFile(published, "utf8"))]);
  });
});

describe("acp policy check", () => {
  it("lists the rules, by person and by program", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY);
    const { code, stdout } = await acpHere(["policy", "check", "p.yml"], { cwd: at.path });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(
        "2 rules, everything else: ask\n  allow reads (line 4)\n  deny  no-moves (line 7)",
      ),
    ]);
    const json = JSON.parse(
      (await acpHere(["policy", "check", "--json", "-"], { input: POLICY })).stdout,
    );
    expect(json).toMatchObject({
      ok: true,
      default: "ask",
      rules: [{ ruleId: "reads" }, { ruleId: "no-moves" }],
      warnings: [],
    });
  });

  it("names file, line, column and what was meant", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY.replace("reason:", "reson:"));
    const { code, stdout, stderr } = await acpHere(["policy", "check", "p.yml"], { cwd: at.path });
    expect([code, stdout]).toEqual([EXIT_CODES.invalid.code, ""]);
    expect(stderr).toMatch(
      /^acp: \S+\/p\.yml:10:5: Cannot load policy .*unknown key "reson"; did you mean reason\? \[policy_invalid\]\n$/,
    );
    const failure = JSON.parse(
      (await acpHere(["policy", "check", "p.yml", "--json"], { cwd: at.path })).stderr,
    );
    expect(failure.error).toMatchObject({
      code: "policy_invalid",
      line: 10,
      column: 5,
      suggestion: "reason",
    });
  });

  it("names every mistake, each on a line with its place, and as a list for a program", async () => {
    await using at = await scratch();
    await writeFile(
      join(at.path, "p.yml"),
      POLICY.replace("reason:", "reson:").replace("ask", "aks"),
    );
    const { code, stdout, stderr } = await acpHere(["policy", "check", "p.yml"], { cwd: at.path });
    expect([code, stdout]).toEqual([EXIT_CODES.invalid.code, ""]);
    const lines = stderr.replaceAll(`${at.path}/`, "").trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(
        /^acp: \S*p\.yml:2:17: Cannot load policy \(default_action\): .*; did you mean ask\? \[policy_invalid\]$/,
      ),
      expect.stringMatching(
        /^acp: \S*p\.yml:10:5: Cannot load policy \(rules\[1\]\.reson\): .*; did you mean reason\? \[policy_invalid\]$/,
      ),
    ]);
    const { error } = JSON.parse(
      (await acpHere(["policy", "check", "p.yml", "--json"], { cwd: at.path })).stderr,
    );
    expect(error).toMatchObject({
      code: "policy_invalid",
      line: 2,
      column: 17,
      suggestion: "ask",
      mistakes: [
        { code: "policy_invalid", line: 2, column: 17, path: "default_action", suggestion: "ask" },
        {
          code: "policy_invalid",
          line: 10,
          column: 5,
          path: "rules[1].reson",
          suggestion: "reason",
        },
      ],
    });
  });

  it("checks every file that it is given or that a pattern matches, and says which do not load", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "good.yml"), POLICY);
    await writeFile(join(at.path, "better.yml"), POLICY);
    const checked = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await acpHere(["policy", "check", "--json", ...args], {
        cwd: at.path,
      });
      const files = stdout.split("\n").flatMap((line) => {
        return line === "" ? [] : [String(JSON.parse(line).file).slice(at.path.length + 1)];
      });
      return { code, files, stderr };
    };
    const both = { code: 0, files: ["better.yml", "good.yml"], stderr: "" };
    expect(await checked("*.yml")).toEqual(both);
    expect(await checked("better.yml", "good.yml")).toEqual(both);
    expect(await checked("--", "better.yml", "good.yml")).toEqual(both);
    await writeFile(join(at.path, "bad.yml"), POLICY.replace("reason:", "reson:"));
    const some = await checked("*.yml");
    expect([some.code, some.files]).toEqual([EXIT_CODES.invalid.code, both.files]);
    expect(JSON.parse(some.stderr).error).toMatchObject({ code: "policy_invalid", line: 10 });
    for (const args of [["*.json"], ["--", "*.yml"]])
      expect(await checked(...args)).toMatchObject({
        code: EXIT_CODES.usage.code,
        files: [],
        stderr: expect.stringContaining("options_invalid"),
      });
  });

  it("refuses a rule for several people in a home without approvers, as a start does, and warns of it in a file", async () => {
    await using at = await scratch();
    const home = join(at.path, "home");
    expect((await acpHere(["init"], { home })).code).toBe(0);
    const several = `${POLICY}  - { id: pay, match: { tool: pay }, action: ask, quorum: 2 }\n`;
    await writeFile(join(home, "policy.yml"), several);
    const problem = 'rule "pay" needs 2 people';
    const check = (...more: readonly string[]) =>
      acpHere(["policy", "check", ...more], { home, input: several });
    for (const run of [
      await check("--json"),
      await acpHere(["mcp", "--json", "--", "true"], { home }),
    ]) {
      const { error } = JSON.parse(run.stderr.trimEnd().split("\n").at(-1) ?? "");
      expect(error).toMatchObject({
        code: "config_invalid",
        line: 11,
        column: 59,
        message: expect.stringContaining(problem) as string,
      });
      expect(run.code).toBe(EXIT_CODES.invalid.code);
    }
    expect((await check()).stderr).toMatch(
      /^acp: \S+\/policy\.yml:11:59: Cannot use policy: rule "pay" needs 2 people, and /,
    );
    const file = await check("-");
    expect([file.code, file.stdout]).toEqual([
      0,
      expect.stringContaining(`mind ${problem} at line 11, column 59`),
    ]);
    const config = await readFile(join(home, "config.yml"), "utf8");
    const people =
      'approvers: [{ id: ada, channel: terminal, subject: local }, { id: bob, channel: telegram, subject: "7" }]\n';
    await writeFile(join(home, "config.yml"), config + people);
    expect((await check()).code).toBe(0);
  });

  it.each([
    ["nowhere.yml", /"\S+\/nowhere\.yml": there is no such file \[options_invalid\]/],
    [".", /: it is a directory \[options_invalid\]/],
    ["binary.yml", /: it is not UTF-8 text \[options_invalid\]/],
    ["large.yml", /: it is larger than \d+ bytes \[options_invalid\]/],
  ])("refuses %s", async (file, message) => {
    await using at = await scratch();
    await writeFile(join(at.path, "binary.yml"), new Uint8Array([0xff, 0xfe]));
    if (file === "large.yml") await writeFile(join(at.path, file), "#".repeat(4 * 1024 * 1024 + 1));
    const { code, stderr } = await acpHere(["policy", "check", file], { cwd: at.path });
    expect([code, stderr]).toEqual([EXIT_CODES.usage.code, expect.stringMatching(message)]);
  });

  it("without a file and a home says how to make one", async () => {
    await using at = await scratch();
    const { code, stderr } = await acpHere(["policy", "check"], { home: join(at.path, "none") });
    expect([code, stderr]).toEqual([
      EXIT_CODES.invalid.code,
      expect.stringMatching(/it does not exist; run: acp init \[home_invalid\]/),
    ]);
  });
});

describe("acp policy explain", () => {
  const explain = async (
    ...args: readonly string[]
  ): Promise<{
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }> => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY);
    await writeFile(
      join(at.path, "action.json"),
      JSON.stringify({ name: "move_file", args: {}, meta: { kind: "tool", server: "files" } }),
    );
    return await acpHere(["policy", "explain", "p.yml", ...args], { cwd: at.path });
  };

  it.each([
    [["--tool", "files.read_file"], "allow", "reads"],
    [["--tool", "files.move_file", "--args", "{}"], "deny", "no-moves"],
    [["--action", "action.json"], "deny", "no-moves"],
    [["--tool", "files.write_file", "--args", '{"path":"x"}'], "ask", "default"],
    [["--http", "GET https://example.com/"], "ask", "default"],
    [["--shell", "git push"], "ask", "default"],
  ])("of %j is %s by %s", async (args, effect, rule) => {
    const { code, stdout } = await explain(...args, "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ effect, rule: expect.objectContaining({ id: rule }) }),
    ]);
  });

  it("shows rule, line, reason, and word for word what a person would be asked", async () => {
    const denied = await explain("--tool", "files.move_file");
    expect(denied.stdout).toMatch(
      /^deny tool move_file on files\n {2}rule {3}no-moves \(\S+\/p\.yml:7\)\n {2}why {4}files stay here\n/,
    );
    const asked = await explain("--tool", "files.write_file", "--args", '{"path":"a\u202eb"}');
    expect(asked.stdout).toContain("  Wants: call write_file on files\n");
    expect(asked.stdout).toContain('      "path": "a\\u202eb"\n');
  });

  it("of the home's policy asks with the home's time-out and people", async () => {
    await using home = await scratch();
    await writeFile(join(home.path, "policy.yml"), POLICY, { mode: 0o600 });
    const config =
      'version: "1"\ndefaults: { timeout_seconds: 7 }\napprovers: [{ id: ada, channel: terminal, subject: local }]\n';
    await writeFile(join(home.path, "config.yml"), config, { mode: 0o600 });
    const { stdout } = await acpHere(["policy", "explain", "--tool", "a.b"], { home: home.path });
    expect(stdout).toContain("  ask    ada; denied after 7 s\n");
    await writeFile(join(home.path, "config.yml"), 'version: "1"\napprovers: []\n', {
      mode: 0o600,
    });
    const nobody = await acpHere(["policy", "explain", "--tool", "a.b"], { home: home.path });
    expect(nobody.stdout).toMatch(/ {2}but {4}denied, .* \[no_approver\]/);
  });

  it.each([
    [[], "not none"],
    [["--tool", "a.b", "--shell", "ls"], "not several"],
    [["--shell", "ls", "--args", "{}"], "Cannot use --args with --shell"],
    [["--tool", "noserver"], "write SERVER.TOOL"],
    [["--tool", "a.b", "--args", "[]"], "[action_invalid]"],
    [["--tool", "a.b", "--args", '{"a":1,"a":2}'], "[json_duplicate_key]"],
    [["--http", "https://example.com/"], "write METHOD and URL"],
    [["--http", "GET example.com"], "[host_invalid]"],
    [["--action", "nowhere.json"], "there is no such file"],
  ])("refuses %j", async (args, message) => {
    const { code, stdout, stderr } = await explain(...args);
    expect([code, stdout, stderr]).toEqual([
      EXIT_CODES.usage.code,
      "",
      expect.stringContaining(message),
    ]);
  });
});
