/**
 * The section `audit` of config.yml at work: witnesses, rotation, retention, as child processes
 * with a real gate.
 */
import { copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAuditLog, readAuditLog } from "@acp/audit";
import type { Rotation } from "@acp/audit";
import { logEvent } from "@acp/core";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import type { AcpOptions, Ended, Scratch } from "./harness.js";
import { startGated } from "./mcp-client.js";

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
  readonly log: string;
  /** A directory elsewhere. */
  readonly elsewhere: string;
  run(args: readonly string[], options?: AcpOptions): Promise<Ended>;
}

async function world(audit: (elsewhere: string) => string): Promise<World> {
  const at = await scratch();
  const [home, folder, elsewhere] = [
    join(at.path, "h"),
    join(at.path, "files"),
    join(at.path, "elsewhere"),
  ];
  await mkdir(folder);
  await mkdir(elsewhere);
  const run = (args: readonly string[], options: AcpOptions = {}): Promise<Ended> =>
    acpHere(args, { home, cwd: at.path, ...options });
  expect(await run(["init"])).toMatchObject({ code: 0 });
  await writeFile(join(home, "config.yml"), `version: "1"\naudit:\n${audit(elsewhere)}`, {
    mode: 0o600,
  });
  return { ...at, home, folder, elsewhere, log: join(home, "audit.jsonl"), run };
}

describe("witnesses", () => {
  it("that keep checkpoints in a directory show what was cut off, and a log that was removed, without being named", async () => {
    await using at = await world((elsewhere) => `  witnesses: [{ directory: ${elsewhere} }]\n`);
    for (const name of ["A_TOKEN", "B_TOKEN"])
      await at.run(["vault", "set", name, "--server", "a"], { input: "tok-0123456789" });
    const [kept = ""] = await readdir(at.elsewhere);
    expect(kept).toMatch(/^acp-[0-9a-f]{16}\.audit\.jsonl\.checkpoints$/);
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("of 4 of 4 events"),
    });

    // Whoever cuts the log cuts the checkpoints beside it too.
    const text = await readFile(at.log, "utf8");
    await writeFile(at.log, `${text.split("\n").slice(0, 2).join("\n")}\n`);
    await rm(`${at.log}.checkpoints`);
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: EXIT_CODES.audit.code,
      stdout: expect.stringMatching(/^broken .*audit\.jsonl:3: .*\[end_missing\]/),
    });
    // What the witness has keeps the next writer from going on with what is left.
    expect(
      await at.run(["vault", "set", "C_TOKEN", "--server", "a"], { input: "tok-0123456789" }),
    ).toMatchObject({
      code: expect.not.stringMatching(/^0$/),
      stderr: expect.stringContaining("a checkpoint that a witness keeps covers"),
    });
    await rm(at.log);
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: EXIT_CODES.audit.code,
      stdout: expect.stringMatching(
        /^broken .*audit\.jsonl:1: there are signed checkpoints of this log, but the log itself is missing \[end_missing\]/,
      ),
    });

    await writeFile(at.log, text, { mode: 0o600 });
    await rename(at.elsewhere, join(at.path, "away"));
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`A witness is not checked: ${at.elsewhere} does not exist`),
    });
  });

  it("beside the log alone show a log that was removed", async () => {
    await using at = await world(() => "  checkpoint_events: 1\n");
    await rm(at.log);
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: EXIT_CODES.audit.code,
      stdout: expect.stringContaining("the log itself is missing"),
    });
    await writeFile(`${at.log}.checkpoints`, "", { mode: 0o600 });
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: EXIT_CODES.invalid.code,
      stderr: expect.stringContaining("no gate has run"),
    });
  });

  it("at a URL get checkpoints of a running gate, and one that fails is in the log", async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        bodies.push(body);
        response.writeHead(request.url === "/kept" ? 200 : 500).end();
      });
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    await using at = await world(
      () =>
        `  checkpoint_events: 1\n  witnesses: [{ url: "${url}/kept" }, { url: "${url}/lost" }]\n`,
    );
    {
      await using gated = await startGated(at);
      await gated.client.listTools();
    }
    expect(bodies.at(-1)).toMatch(/^acp-[0-9a-f]{16}\/audit\.jsonl\n\d+\n/);
    const failed: unknown[] = [];
    for await (const { metadata } of readAuditLog(at.log, {
      filter: { eventType: "witness_failed" },
    }))
      failed.push(metadata);
    expect(failed).toEqual([{ witness: `url ${url}`, reason: "it answered with status 500" }]);
  });

  it("are refused where nothing can be signed for them", async () => {
    await using at = await world((elsewhere) => `  witnesses: [{ directory: ${elsewhere} }]\n`);
    await rm(join(at.home, "keys/checkpoint.key"));
    expect(await at.run(["mcp", "--", "true"])).toMatchObject({
      code: EXIT_CODES.invalid.code,
      stderr: expect.stringMatching(
        /needs a key that signs checkpoints, and this home has none; run acp init \[config_invalid\]\n$/,
      ),
    });
  });
});

describe("format v0.3", () => {
  it("writes the decisions beside the chained log as ACP v0.3 has them", async () => {
    await using at = await world(() => "  format: v0.3\n");
    const policy =
      'version: "1"\ndefault_action: deny\nrules: [{ match: { tool: "read_*" }, action: allow }]\n';
    await writeFile(join(at.home, "policy.yml"), policy, { mode: 0o600 });
    await writeFile(join(at.folder, "a.txt"), "x");
    {
      await using gated = await startGated(at);
      expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({
        isError: false,
      });
      expect(await gated.call("write_file", { path: "b.txt", content: "x" })).toMatchObject({
        code: "policy_denied",
      });
    }
    const entriesOf = (text: string): readonly unknown[] =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    const entries = entriesOf(await readFile(join(at.home, "audit.v0.3.jsonl"), "utf8"));
    expect(entries).toMatchObject([
      {
        timestamp: expect.any(String),
        action: { name: "read_text_file", args: { path: "a.txt" } },
        verdict: { decision: "allow" },
      },
      { action: { name: "write_file" }, verdict: { decision: "deny" } },
    ]);
    // It is no chained log: nobody takes it for one.
    expect(await at.run(["audit", "verify"])).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining("v0.3"),
    });
    expect(entriesOf((await at.run(["audit", "export", "--format", "v0.3"])).stdout)).toEqual(
      entries,
    );
  });
});

describe("rotation and retention", () => {
  it("fill files of the size that is set, and remove the oldest, but not what the vault is held against", async () => {
    await using at = await world(() => "  rotate_megabytes: 1\n  keep_files: 2\n");
    await at.run(["vault", "set", "TOKEN", "--server", "a"], { input: "tok-0123456789" });
    const old = await readFile(join(at.home, "vault.json"), "utf8");
    await at.run(["vault", "set", "OTHER", "--server", "a"], { input: "tok-0123456789" });
    {
      const path = at.log;
      await using log = await openAuditLog({ path, rotation: { maxBytes: 1024 * 1024 } });
      const filler = "x".repeat(300_000);
      // What is newer than ten minutes stays.
      const atMs = Date.now() - 3_600_000;
      for (let index = 0; index < 16; index++)
        await log.append([logEvent("gate_notice", { id: `ae_${index}`, atMs }, { filler })]);
    }
    const filesOf = async (): Promise<readonly string[]> =>
      (await readdir(at.home)).filter((name) => /^audit\.jsonl(?:\.\d+)?$/.test(name));
    const before = await filesOf();
    expect(before.length).toBeGreaterThan(4);
    {
      await using gated = await startGated(at);
      await gated.said(/audit\.jsonl: removed as too old: audit\.jsonl\.000000000000/);
    }
    expect(await filesOf()).toHaveLength(3);
    const verified = await at.run(["audit", "verify"]);
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok .* from event \d+ on/),
    });
    const marks: unknown[] = [];
    for await (const { metadata } of readAuditLog(at.log, { filter: { eventType: "state_saved" } }))
      marks.push(metadata);
    expect(marks).toEqual([
      expect.objectContaining({ file: "keys", counter: 1, carried_seq: 0 }),
      expect.objectContaining({ file: "vault", counter: 3, carried_seq: 3 }),
    ]);
    // The note that showed an older vault is among what was removed.
    await writeFile(join(at.home, "vault.json"), old, { mode: 0o600 });
    await using gated = await startGated(at);
    await gated.said(/an older one \(save 2\) than the log notes \(save 3\)/);
  });

  it("leave a file that does not follow the one before, and say so", async () => {
    await using at = await world(() => "  keep_files: 1\n");
    const other = join(at.elsewhere, "audit.jsonl");
    for (const path of [other, at.log]) {
      const append = async (index: number, rotation: Rotation): Promise<void> => {
        await using log = await openAuditLog({ path, rotation });
        await log.append([logEvent("gate_notice", { id: `ae_${index}`, atMs: 0 }, { path })]);
      };
      // What is newer than ten minutes stays: the first file ends with what is not.
      await append(0, {});
      for (let index = 1; index < 5; index++) await append(index, { maxBytes: 1 });
    }
    const replaced = "audit.jsonl.000000000003";
    await copyFile(join(at.elsewhere, replaced), join(at.home, replaced));
    await using gated = await startGated(at);
    await gated.said(/Cannot prune .*audit\.jsonl.*: it does not follow the file before it/);
    const left = await readdir(at.home);
    expect([left.includes("audit.jsonl.000000000000"), left.includes(replaced)]).toEqual([
      false,
      true,
    ]);
  });
});
