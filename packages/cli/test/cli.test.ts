import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import { openAuditLog } from "@acp/audit";
import { COMMANDS } from "../src/commands.js";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import { sampleEvent } from "./sample-event.js";

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

async function logAt(path: string, events: number): Promise<void> {
  await using log = await openAuditLog({ path });
  for (let number = 1; number <= events; number++)
    await log.append([sampleEvent(`ae_${number}`, { agent: "a\u001b[2J" })]);
}

describe("acp", () => {
  it("shows every command without arguments, and exits with usage", async () => {
    const { code, stdout, stderr } = await acpHere([]);
    expect([code, stdout]).toEqual([EXIT_CODES.usage.code, ""]);
    for (const { name } of COMMANDS) expect(stderr).toContain(`  ${name} `);
  });

  it.each([["--help"], ["-h"]])("%s shows every command on stdout", async (flag) => {
    const { code, stdout, stderr } = await acpHere([flag]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const { name } of COMMANDS) expect(stdout).toContain(`  ${name} `);
  });

  it("--version is the package's", async () => {
    const { version } = JSON.parse(
      await readFile(new URL("../package.json", import.meta.url), "utf8"),
    );
    expect(await acpHere(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(JSON.parse((await acpHere(["--version", "--json"])).stdout)).toEqual({ version });
  });

  it.each(someInLane(COMMANDS).map(({ name }) => [name]))(
    "%s --help says what it does, with its options, exits and examples",
    async (name) => {
      const command = COMMANDS.find((each) => each.name === name);
      const { code, stdout } = await acpHere([...name.split(" "), "--help"]);
      expect(code).toBe(0);
      for (const text of [
        command?.summary,
        ...(command?.options ?? []).map((option) => `--${option}`),
        ...(command?.examples ?? []),
        "Exit codes:",
      ])
        expect(stdout).toContain(text);
      const described = JSON.parse(
        (await acpHere([...name.split(" "), "--help", "--json"])).stdout,
      );
      expect(described).toMatchObject({ name, summary: command?.summary });
    },
  );

  it("writes errors on one line with fix and code, or as JSON", async () => {
    expect(await acpHere(["aprove"])).toEqual({
      code: EXIT_CODES.usage.code,
      signal: null,
      stdout: "",
      stderr:
        'acp: Cannot run "acp aprove": there is no such command; did you mean "approve"? [options_invalid]\n',
    });
    const { stderr } = await acpHere(["policy", "check", "--jsn", "--json"]);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "options_invalid",
        message: 'Cannot read option "--jsn": acp policy check has no such option',
        suggestion: "--json",
      },
    });
  });

  it("has no colours where nobody looks", async () => {
    await using at = await scratch();
    await writeFile(join(at.path, "p.yml"), POLICY);
    const { stdout } = await acpHere(["policy", "check", "p.yml"], { cwd: at.path });
    expect(stdout).not.toContain("\u001b");
  });
});

describe("acp init", () => {
  it("makes a home that loads, and keeps what exists", async () => {
    await using at = await scratch();
    const home = join(at.path, "home");
    const first = JSON.parse((await acpHere(["init", "--json", "--home", home])).stdout);
    const files = [
      "config.yml",
      "policy.yml",
      "keys/unlock.key",
      "keys/private.key",
      "keys/public.key",
      "vault.json",
      "keys/checkpoint.key",
    ];
    expect(first).toEqual({
      home,
      created: [home, ...files.map((name) => join(home, name))],
      existing: [],
      unlock: "key-file",
    });
    await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
    expect((await acpHere(["init"], { home })).stdout).toContain(`kept ${home}/policy.yml`);
    expect(await readFile(join(home, "policy.yml"), "utf8")).toBe(POLICY);
    expect((await acpHere(["policy", "check"], { home })).code).toBe(0);
  });

  it("refuses a home that others may enter, with the fix", async () => {
    await using at = await scratch();
    const home = join(at.path, "home");
    await mkdir(home);
    await chmod(home, 0o755);
    const { code, stderr } = await acpHere(["init", "--home", home]);
    expect(code).toBe(EXIT_CODES.invalid.code);
    expect(stderr).toMatch(
      /^acp: Cannot open home .* other users can enter it; run: chmod 700 .* \[home_invalid\]\n$/,
    );
  });
});

describe("acp audit", () => {
  it("verify names the first bad line of a changed log, and every log of a home", async () => {
    await using home = await scratch();
    await logAt(join(home.path, "audit.jsonl"), 3);
    await logAt(join(home.path, "audit.2.jsonl"), 1);
    const good = await acpHere(["audit", "verify"], { home: home.path });
    expect([good.code, good.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^ok \S+audit\.jsonl: 3 events, head sha256:.*\n {2}no checkpoints .*\nok \S+audit\.2\.jsonl: 1 event, /,
      ),
    ]);
    const file = join(home.path, "audit.jsonl");
    await writeFile(file, (await readFile(file, "utf8")).replace("ae_2", "ae_9"));
    const bad = await acpHere(["audit", "verify", "--json"], { home: home.path });
    expect(bad.code).toBe(EXIT_CODES.audit.code);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      ok: false,
      logs: [{ ok: false, events: 1, firstBad: { line: 2, code: "hash_mismatch" } }, { ok: true }],
    });
    expect((await acpHere(["audit", "verify", file])).stdout).toMatch(
      /^broken \S+audit\.jsonl:2: .* \[hash_mismatch\]; 1 event before it are? good/,
    );
  });

  it("show prints the last events, escaped, and all of them as JSON", async () => {
    await using home = await scratch();
    await logAt(join(home.path, "audit.jsonl"), 30);
    const { stdout } = await acpHere(["audit", "show"], { home: home.path });
    expect(stdout.trimEnd().split("\n")).toHaveLength(20);
    expect(stdout).toContain("read_file  allow");
    expect(stdout).not.toContain("\u001b");
    const lines = (
      await acpHere(["audit", "show", "--json", "--limit", "0"], { home: home.path })
    ).stdout
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(
      Array.from({ length: 30 }, (_, index) => `ae_${index + 1}`),
    );
    expect(await acpHere(["audit", "show", "--limit", "x"], { home: home.path })).toMatchObject({
      code: EXIT_CODES.usage.code,
    });
  });

  it("says that there is no log", async () => {
    await using home = await scratch();
    expect(await acpHere(["audit", "verify"], { home: home.path })).toMatchObject({
      code: EXIT_CODES.invalid.code,
      stderr: expect.stringContaining("no gate has run here yet"),
    });
    expect(await acpHere(["audit", "verify", join(home.path, "x")])).toMatchObject({
      code: EXIT_CODES.audit.code,
      stderr: expect.stringContaining("[audit_failed]"),
    });
  });
});

describe("acp pause", () => {
  it("is set, shown and ended", async () => {
    await using home = await scratch();
    expect(JSON.parse((await acpHere(["pause", "--json"], { home: home.path })).stdout)).toEqual({
      paused: true,
      until: "until-off",
    });
    expect(
      JSON.parse((await acpHere(["pause", "30m", "--json"], { home: home.path })).stdout).until,
    ).toMatch(/^\d{4}-/);
    expect((await acpHere(["pause", "--off"], { home: home.path })).stdout).toContain(
      "The pause is over",
    );
    expect((await acpHere(["pause", "--off"], { home: home.path })).stdout).toContain(
      "Nothing was paused",
    );
  });

  it.each([[["soon"]], [["--off", "5m"]]])("refuses %j", async (args) => {
    await using home = await scratch();
    expect(await acpHere(["pause", ...args], { home: home.path })).toMatchObject({
      code: EXIT_CODES.usage.code,
    });
  });
});

describe("acp approve and acp pending", () => {
  it("say that nothing runs", async () => {
    await using home = await scratch();
    expect(JSON.parse((await acpHere(["pending", "--json"], { home: home.path })).stdout)).toEqual({
      gates: 0,
      pending: [],
    });
    expect((await acpHere(["pending"], { home: home.path })).stdout).toContain(
      "0 gates are running",
    );
    const { code, stdout } = await acpHere(["approve", "--once", "cr_x", "--approve"], {
      home: home.path,
    });
    expect([code, stdout]).toEqual([
      EXIT_CODES.nothing.code,
      expect.stringContaining("No open question has the ID cr_x"),
    ]);
  });

  it.each([
    [["approve"], "standard input is not a terminal"],
    [["approve", "--approve"], "name the question with --once ID"],
    [["approve", "--reason", "x"], "name the question with --once ID"],
    [["approve", "--once", "cr_x"], "give one of --approve and --deny"],
    [["approve", "--once", "cr_x", "--approve", "--deny"], "give only one of"],
    [["approve", "--once", "cr_x", "--deny", "--word", "approve"], "it works only with --approve"],
    [["approve", "--word", "approve"], "name the question with --once ID"],
    [["grants", "revoke"], "name one grant"],
    [["grants", "revoke", "gr_x", "--all"], "name one grant"],
  ])("%j is refused", async (args, message) => {
    await using home = await scratch();
    expect(await acpHere(args, { home: home.path })).toMatchObject({
      code: EXIT_CODES.usage.code,
      stderr: expect.stringContaining(message),
    });
  });
});
