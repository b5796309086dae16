/**
 * Audit logs at the command line: checkpoints, filters, several logs and export.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAuditLog } from "@acp/audit";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import type { AcpOptions, Ended, Scratch } from "./environment.js";
import { SAMPLE_MS, sampleEvent } from "./sample-event.js";

const HOUR_MS = 3_600_000;

interface World extends Scratch {
  readonly home: string;
  readonly log: string;
  run(args: readonly string[], options?: AcpOptions): Promise<Ended>;
}

async function world(): Promise<World> {
  const at = await scratch();
  const home = join(at.path, "h");
  const run = (args: readonly string[], options: AcpOptions = {}): Promise<Ended> =>
    acpHere(args, { home, cwd: at.path, ...options });
  expect(await run(["init"])).toMatchObject({ code: 0 });
  return { ...at, home, log: join(home, "audit.jsonl"), run };
}

const idsOf = ({ stdout }: Ended): readonly string[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).id);

describe("acp audit verify with checkpoints", () => {
  it("finds an end that was cut off, a log that was written anew, and says what was not looked at", async () => {
    await using at = await world();
    for (const name of ["A_TOKEN", "B_TOKEN"])
      await at.run(["vault", "set", name, "--server", "a"], { input: "tok-0123456789" });
    const good = await at.run(["audit", "verify"]);
    expect(good).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(
        /^ok .*: 4 events, .*\n {2}3 checkpoints hold, of 4 of 4 events\n$/,
      ),
    });

    const text = await readFile(at.log, "utf8");
    const lines = text.split("\n");
    await writeFile(at.log, `${lines.slice(0, 2).join("\n")}\n`);
    const cut = await at.run(["audit", "verify", "--json"]);
    expect([cut.code, JSON.parse(cut.stdout).logs[0].firstBad]).toEqual([
      EXIT_CODES.audit.code,
      expect.objectContaining({ line: 3 }),
    ]);

    // Whoever also takes the checkpoints away is found by a copy elsewhere.
    const witness = join(at.path, "witness");
    await rename(`${at.log}.checkpoints`, witness);
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("0 checkpoints hold, of 0 of 2 events"),
    });
    const key: string = JSON.parse(
      (await at.run(["keys", "list", "--json"])).stdout,
    ).checkpoint_key;
    const stranger = await acpHere(
      ["audit", "verify", at.log, "--checkpoints", witness, "--key", key],
      { home: join(at.path, "none") },
    );
    expect(stranger).toMatchObject({
      code: EXIT_CODES.audit.code,
      stdout: expect.stringMatching(/^broken .*audit\.jsonl:3: /),
    });
    // A log of the home is known by its place, however it is named.
    expect(
      await at.run(["audit", "verify", "h/audit.jsonl", "--checkpoints", witness]),
    ).toMatchObject({ code: EXIT_CODES.audit.code });
    await writeFile(at.log, text);
    const whole = await acpHere(["audit", "verify", at.log], { home: join(at.path, "none") });
    expect(whole).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("no checkpoints were checked"),
    });
  });

  it("names the first bad line and the broken promise", async () => {
    await using at = await world();
    for (const name of ["A_TOKEN", "B_TOKEN"])
      await at.run(["vault", "set", name, "--server", "a"], { input: "tok-0123456789" });
    await writeFile(at.log, (await readFile(at.log, "utf8")).replace("A_TOKEN", "C_TOKEN"));
    const { code, stdout } = await at.run(["audit", "verify"]);
    expect([code, stdout]).toEqual([
      EXIT_CODES.audit.code,
      expect.stringMatching(/^broken .*audit\.jsonl:3: .* \[\w+\]; 2 events before it are good\n/),
    ]);
  });
});

describe("acp audit show and export", () => {
  async function logged(): Promise<World> {
    const at = await world();
    await using log = await openAuditLog({ path: at.log });
    await log.append([
      sampleEvent("ae_1", { agent: "two" }),
      sampleEvent("ae_2", { atMs: SAMPLE_MS + HOUR_MS, tool: "write_file", decision: "denied" }),
      sampleEvent("ae_3", { atMs: SAMPLE_MS + 2 * HOUR_MS, decision: "deny,\n=1+1" }),
      sampleEvent("ae_4", { atMs: Date.now() - 60_000, tool: "write_file" }),
    ]);
    return at;
  }

  it.each([
    [["--agent", "two"], ["ae_1"]],
    [
      ["--tool", "write_file"],
      ["ae_2", "ae_4"],
    ],
    [["--decision", "denied"], ["ae_2"]],
    // What the home noted when it was made is of now: these are of a clock that was set back.
    [
      ["--since", "5m", "--agent", "one"],
      ["ae_2", "ae_3", "ae_4"],
    ],
    [["--since", "5m", "--until", "2999-01-01", "--agent", "one"], ["ae_4"]],
    [["--since", "2025-12-31 10:00", "--until", "2026-01-01T01:00:00Z"], ["ae_1"]],
    [["--until", "2026-01-01T01:00:00Z"], ["ae_1"]],
    [
      ["--since", "2026-01-01T01:00:00Z", "--until", "2026-01-02"],
      ["ae_2", "ae_3"],
    ],
    [["--agent", "one", "--limit", "1"], ["ae_4"]],
  ])("show %j filters", async (args, ids) => {
    await using at = await logged();
    expect(idsOf(await at.run(["audit", "show", "--json", ...args]))).toEqual(ids);
  });

  it("export writes the log's own lines, CSV in which no text is a line or a formula, and what the filter lets through", async () => {
    await using at = await logged();
    expect((await at.run(["audit", "export"])).stdout).toBe(await readFile(at.log, "utf8"));
    const csv = await at.run(["audit", "export", "--format", "csv", "--agent", "one"]);
    expect(csv.stdout.trimEnd().split(/\r?\n/)).toHaveLength(4);
    expect(csv.stdout).toMatch(/^"seq","timestamp","event_type",/);
    const json = await at.run(["audit", "export", "--json"]);
    expect([json.code, json.stdout]).toEqual([0, await readFile(at.log, "utf8")]);
    const both = await at.run(["audit", "export", "--format", "csv", "--json"]);
    expect([both.code, both.stdout, JSON.parse(both.stderr).error.message]).toEqual([
      EXIT_CODES.usage.code,
      "",
      expect.stringContaining("Cannot export CSV with --json"),
    ]);
    expect(await at.run(["audit", "export", "--format", "xml"])).toMatchObject({
      code: EXIT_CODES.usage.code,
      stderr: expect.stringMatching(/write jsonl, csv or v0\.3/),
    });
  });

  it("--since that is no time is refused in one line", async () => {
    await using at = await world();
    const { code, stderr } = await at.run(["audit", "show", "--since", "last week"]);
    expect([code, stderr]).toEqual([
      EXIT_CODES.usage.code,
      expect.stringMatching(/^acp: Cannot read --since "last week": .*\n$/),
    ]);
  });
});

describe("acp audit and acp suggest with several logs", () => {
  async function twoLogs(at: World): Promise<void> {
    for (const name of ["one", "two"]) {
      await using log = await openAuditLog({ path: join(at.path, `${name}.jsonl`) });
      await log.append([sampleEvent(name)]);
    }
  }

  it("reads those that a pattern matches, and those that are named", async () => {
    await using at = await world();
    await twoLogs(at);
    for (const files of [["*.jsonl"], ["one.jsonl", "two.jsonl"]]) {
      const { code, stdout } = await at.run(["audit", "verify", "--json", ...files]);
      expect(code).toBe(EXIT_CODES.ok.code);
      expect(JSON.parse(stdout)).toMatchObject({
        ok: true,
        logs: [
          { file: join(at.path, "one.jsonl"), events: 1 },
          { file: join(at.path, "two.jsonl"), events: 1 },
        ],
      });
      expect(idsOf(await at.run(["audit", "show", "--json", ...files]))).toEqual(["one", "two"]);
      expect(idsOf(await at.run(["audit", "export", ...files]))).toEqual(["one", "two"]);
      expect(JSON.parse((await at.run(["suggest", "--json", ...files])).stdout).events).toBe(2);
    }
  });

  it("says which of them is broken", async () => {
    await using at = await world();
    await twoLogs(at);
    await writeFile(join(at.path, "two.jsonl"), "no log\n");
    const { code, stdout } = await at.run(["audit", "verify", "--json", "*.jsonl"]);
    expect(code).toBe(EXIT_CODES.audit.code);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, logs: [{ ok: true }, { ok: false }] });
  });

  it.each(["verify", "show", "export"])(
    "acp audit %s refuses a pattern that matches none",
    async (name) => {
      await using at = await world();
      const { code, stdout, stderr } = await at.run(["audit", name, "*.jsonl"]);
      expect([code, stdout]).toEqual([EXIT_CODES.usage.code, ""]);
      expect(stderr).toContain('Cannot find audit logs "*.jsonl": no file matches the pattern');
    },
  );
});
