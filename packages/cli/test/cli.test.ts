import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAuditLog } from "@acp/audit";
import type { AuditEventInput } from "@acp/core";
import { COMMANDS } from "../src/commands.js";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acp, scratch, startAcp } from "./harness.js";

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

const event = (id: string): AuditEventInput => ({
  id,
  atMs: Date.UTC(2026, 0, 1),
  eventType: "policy_evaluated",
  requestId: "",
  agent: "a\u001b[2J",
  tool: "read_file",
  category: "read",
  riskLevel: "low",
  decision: "allow",
  responseTimeMs: 0,
  policyRule: "reads",
  metadata: {},
});

async function logAt(path: string, events: number): Promise<void> {
  await using log = await openAuditLog({ path });
  for (let number = 1; number <= events; number++) await log.append([event(`ae_${number}`)]);
}

describe("acp", () => {
  it("shows every command without arguments, and exits with usage", async () => {
    const { code, stdout, stderr } = await acp([]);
    expect([code, stdout]).toEqual([EXIT_CODES.usage.code, ""]);
    for (const { name } of COMMANDS) expect(stderr).toContain(`  ${name} `);
  });

  it.each([["--help"], ["-h"]])("%s shows every command on stdout", async (flag) => {
    const { code, stdout, stderr } = await acp([flag]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const { name } of COMMANDS) expect(stdout).toContain(`  ${name} `);
  });

  it("--version is the package's", async () => {
    const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
    expect(await acp(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(JSON.parse((await acp(["--version", "--json"])).stdout)).toEqual({ version });
  });

  it.each(COMMANDS.map(({ name }) => [name]))("%s --help says what it does, with its options, exits and examples", async (name) => {
    const command = COMMANDS.find((each) => each.name === name);
    const { code, stdout } = await acp([...name.split(" "), "--help"]);
    expect(code).toBe(0);
    for (const text of [
      command?.summary,
      ...(command?.options ?? []).map((option) => `--${option}`),
      ...(command?.examples ?? []),
      "Exit codes:",
    ])
      expect(stdout).toContain(text);
    const described = JSON.parse((await acp([...name.split(" "), "--help", "--json"])).stdout);
    expect(described).toMatchObject({ name, summary: command?.summary });
  });

  it("writes errors on one line with fix and code, or as JSON", async () => {
    expect(await acp(["aprove"])).toEqual({
      code: EXIT_CODES.usage.code,
      signal: null,
      stdout: "",
      stderr: 'acp: Cannot run "acp aprove": there is no such command; did you mean "approve"? [options_invalid]\n',
    });
    const { stderr } = await acp(["policy", "check", "--jsn", "--json"]);
    expect(JSON.parse(stderr)).toEqual({
      error: { code: "options_invalid", message: 'Cannot read option "--jsn": acp policy check has no such option', suggestion: "--json" },
    });
  });

  it("has no colours where nobody looks", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY);
    const { stdout } = await acp(["policy", "check", "p.yml"], { cwd: at.path });
    expect(stdout).not.toContain("\u001b");
  });
});

describe("acp init", () => {
  it("makes a home that loads, and keeps what exists", async () => {
    await using at = await scratch();
    const home = join(at.path, "home");
    const first = JSON.parse((await acp(["init", "--json", "--home", home])).stdout);
    expect(first).toEqual({ home, created: [home, join(home, "config.yml"), join(home, "policy.yml")], existing: [] });
    await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
    expect((await acp(["init"], { home })).stdout).toContain(`kept ${home}/policy.yml`);
    expect(await readFile(join(home, "policy.yml"), "utf8")).toBe(POLICY);
    expect((await acp(["policy", "check"], { home })).code).toBe(0);
  });

  it("refuses a home that others may enter, with the fix", async () => {
    await using at = await scratch();
    const home = join(at.path, "home");
    await mkdir(home);
    await chmod(home, 0o755);
    const { code, stderr } = await acp(["init", "--home", home]);
    expect(code).toBe(EXIT_CODES.invalid.code);
    expect(stderr).toMatch(/^acp: Cannot open home .* others may enter it; run: chmod 700 .* \[home_invalid\]\n$/);
  });
});

describe("acp policy check", () => {
  it("lists the rules, by person and by program", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY);
    const { code, stdout } = await acp(["policy", "check", "p.yml"], { cwd: at.path });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("2 rules, everything else: ask\n  allow reads (line 4)\n  deny  no-moves (line 7)"),
    ]);
    const json = JSON.parse((await acp(["policy", "check", "--json", "-"], { input: POLICY })).stdout);
    expect(json).toMatchObject({ ok: true, default: "ask", rules: [{ ruleId: "reads" }, { ruleId: "no-moves" }], warnings: [] });
  });

  it("names file, line, column and what was meant", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY.replace("reason:", "reson:"));
    const { code, stdout, stderr } = await acp(["policy", "check", "p.yml"], { cwd: at.path });
    expect([code, stdout]).toEqual([EXIT_CODES.invalid.code, ""]);
    expect(stderr).toMatch(/^acp: \S+\/p\.yml:10:5: Cannot load policy .*unknown key "reson"; did you mean reason\? \[policy_invalid\]\n$/);
    const failure = JSON.parse((await acp(["policy", "check", "p.yml", "--json"], { cwd: at.path })).stderr);
    expect(failure.error).toMatchObject({ code: "policy_invalid", line: 10, column: 5, suggestion: "reason" });
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
    const { code, stderr } = await acp(["policy", "check", file], { cwd: at.path });
    expect([code, stderr]).toEqual([EXIT_CODES.usage.code, expect.stringMatching(message)]);
  });

  it("without a file and a home says how to make one", async () => {
    await using at = await scratch();
    const { code, stderr } = await acp(["policy", "check"], { home: join(at.path, "none") });
    expect([code, stderr]).toEqual([EXIT_CODES.invalid.code, expect.stringMatching(/it does not exist; run: acp init \[home_invalid\]/)]);
  });
});

describe("acp policy explain", () => {
  const explain = async (
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY);
    await writeFile(join(at.path, "action.json"), JSON.stringify({ name: "move_file", args: {}, meta: { kind: "tool", server: "files" } }));
    return await acp(["policy", "explain", "p.yml", ...args], { cwd: at.path });
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
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ effect, rule: expect.objectContaining({ id: rule }) })]);
  });

  it("shows rule, line, reason, and word for word what a person would be asked", async () => {
    const denied = await explain("--tool", "files.move_file");
    expect(denied.stdout).toMatch(/^deny tool move_file on files\n {2}rule {3}no-moves \(\S+\/p\.yml:7\)\n {2}why {4}files stay here\n/);
    const asked = await explain("--tool", "files.write_file", "--args", '{"path":"a\u202eb"}');
    expect(asked.stdout).toContain("  Wants: call write_file on files\n");
    expect(asked.stdout).toContain('      "path": "a\\u202eb"\n');
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
    expect([code, stdout, stderr]).toEqual([EXIT_CODES.usage.code, "", expect.stringContaining(message)]);
  });
});

describe("acp audit", () => {
  it("verify names the first bad line of a changed log, and every log of a home", async () => {
    await using home = await scratch();
    await logAt(join(home.path, "audit.jsonl"), 3);
    await logAt(join(home.path, "audit.2.jsonl"), 1);
    const good = await acp(["audit", "verify"], { home: home.path });
    expect([good.code, good.stdout]).toEqual([
      0,
      expect.stringMatching(/^ok \S+audit\.jsonl: 3 events, head sha256:.*\nok \S+audit\.2\.jsonl: 1 event, /),
    ]);
    const file = join(home.path, "audit.jsonl");
    await writeFile(file, (await readFile(file, "utf8")).replace("ae_2", "ae_9"));
    const bad = await acp(["audit", "verify", "--json"], { home: home.path });
    expect(bad.code).toBe(EXIT_CODES.audit.code);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      ok: false,
      logs: [{ ok: false, events: 1, firstBad: { line: 2, code: "hash_mismatch" } }, { ok: true }],
    });
    expect((await acp(["audit", "verify", file])).stdout).toMatch(
      /^broken \S+audit\.jsonl:2: .* \[hash_mismatch\]; 1 event before it are? good/,
    );
  });

  it("show prints the last events, escaped, and all of them as JSON", async () => {
    await using home = await scratch();
    await logAt(join(home.path, "audit.jsonl"), 30);
    const { stdout } = await acp(["audit", "show"], { home: home.path });
    expect(stdout.trimEnd().split("\n")).toHaveLength(20);
    expect(stdout).toContain("read_file  allow");
    expect(stdout).not.toContain("\u001b");
    const lines = (await acp(["audit", "show", "--json", "--limit", "0"], { home: home.path })).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(Array.from({ length: 30 }, (_, index) => `ae_${index + 1}`));
    expect(await acp(["audit", "show", "--limit", "x"], { home: home.path })).toMatchObject({ code: EXIT_CODES.usage.code });
  });

  it("says that there is no log", async () => {
    await using home = await scratch();
    expect(await acp(["audit", "verify"], { home: home.path })).toMatchObject({
      code: EXIT_CODES.invalid.code,
      stderr: expect.stringContaining("no gate has run here yet"),
    });
    expect(await acp(["audit", "verify", join(home.path, "x")])).toMatchObject({
      code: EXIT_CODES.audit.code,
      stderr: expect.stringContaining("[audit_failed]"),
    });
  });

  it("show ends quietly when its reader has seen enough", async () => {
    await using home = await scratch();
    await logAt(join(home.path, "audit.jsonl"), 200);
    await using running = startAcp(["audit", "show", "--json", "--limit", "0"], { home: home.path, input: "" });
    running.child.stdout?.destroy();
    expect(await running.ended).toMatchObject({ stderr: "" });
  });
});

describe("acp pause", () => {
  it("is set, shown and ended", async () => {
    await using home = await scratch();
    expect(JSON.parse((await acp(["pause", "--json"], { home: home.path })).stdout)).toEqual({ paused: true, until: "until-off" });
    expect(JSON.parse((await acp(["pause", "30m", "--json"], { home: home.path })).stdout).until).toMatch(/^\d{4}-/);
    expect((await acp(["pause", "--off"], { home: home.path })).stdout).toContain("The pause is over");
    expect((await acp(["pause", "--off"], { home: home.path })).stdout).toContain("Nothing was paused");
  });

  it.each([[["soon"]], [["--off", "5m"]]])("refuses %j", async (args) => {
    await using home = await scratch();
    expect(await acp(["pause", ...args], { home: home.path })).toMatchObject({ code: EXIT_CODES.usage.code });
  });
});

describe("acp approve and acp pending", () => {
  it("say that nothing runs", async () => {
    await using home = await scratch();
    expect(JSON.parse((await acp(["pending", "--json"], { home: home.path })).stdout)).toEqual({ gates: 0, pending: [] });
    expect((await acp(["pending"], { home: home.path })).stdout).toContain("0 gates are running");
    const { code, stdout } = await acp(["approve", "--once", "cr_x", "--approve"], { home: home.path });
    expect([code, stdout]).toEqual([EXIT_CODES.nothing.code, expect.stringContaining("No such question is open: cr_x")]);
  });

  it.each([
    [["approve"], "standard input is no terminal"],
    [["approve", "--approve"], "name the question with --once ID"],
    [["approve", "--reason", "x"], "name the question with --once ID"],
    [["approve", "--once", "cr_x"], "give one of --approve and --deny"],
    [["approve", "--once", "cr_x", "--approve", "--deny"], "give only one of"],
  ])("%j is refused", async (args, message) => {
    await using home = await scratch();
    expect(await acp(args, { home: home.path })).toMatchObject({ code: EXIT_CODES.usage.code, stderr: expect.stringContaining(message) });
  });
});
