import { mkdir, readFile, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAuditLog, verifyAuditLog } from "@acp/audit";
import type { AuditEvent } from "@acp/audit";
import { attachApprovers } from "@acp/channel-terminal";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acp, scratch, startAcp } from "./harness.js";
import type { Running, Scratch } from "./harness.js";
import { answering, fileServer, startGated } from "./mcp-client.js";

const POLICY = `version: "1"
default_action: deny
rules:
  - id: reads
    match: { tool: "read_*" }
    action: allow
  - id: writes
    match: { tool: write_file }
    action: ask
`;

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
  readonly log: string;
  readonly policy: string;
}

async function world(policy: string | undefined = POLICY): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  await writeFile(join(folder, "a.txt"), "hello");
  await mkdir(home, { mode: 0o700 });
  const file = join(home, "policy.yml");
  if (policy !== "") await writeFile(file, policy, { mode: 0o600 });
  return { ...at, home, folder, log: join(home, "audit.jsonl"), policy: file };
}

/** Replaces a file at once, as editors do. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function eventsOf(log: string): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = [];
  for await (const event of readAuditLog(log)) events.push(event);
  return events;
}

/** The id of the first question that `acp approve --json` shows. */
async function firstQuestion(watcher: Running): Promise<string> {
  await watcher.seen("stdout", '"type":"open"');
  return JSON.parse(watcher.stdout().split("\n")[0] ?? "").request.id;
}

describe("acp mcp with the real file server", () => {
  it("forwards what the policy allows, denies what it denies, and what nobody is there to answer", async () => {
    await using at = await world();
    await using gated = await startGated(at);
    expect((await gated.client.listTools()).tools.map(({ name }) => name)).toContain("write_file");
    expect(await gated.call("read_text_file", { path: "a.txt" })).toEqual({
      text: "hello",
      isError: false,
      code: undefined,
    });
    expect(await gated.call("move_file", { source: "a.txt", destination: "b.txt" })).toMatchObject({
      isError: true,
      code: "policy_denied",
    });
    // At once, with the remedy, where nobody is attached.
    const answer = await gated.call("write_file", { path: "b.txt", content: "x" });
    expect(answer).toMatchObject({
      isError: true,
      code: "channel_unavailable",
      text: expect.stringContaining("acp approve"),
    });
    expect(await readdir(at.folder)).toEqual(["a.txt"]);
  });

  it("writes what a person approved, as approved, and nothing that they denied", async () => {
    await using at = await world();
    await using gated = await startGated(at);
    const write = (path: string) => () => gated.call("write_file", { path, content: "as asked" });
    expect(await answering(at.home, { decision: "approved" }, write("b.txt"))).toMatchObject({
      isError: false,
    });
    const modifications = { path: "c.txt", content: "as edited" };
    expect(
      await answering(
        at.home,
        { decision: "approved_with_modifications", modifications },
        write("c.txt"),
      ),
    ).toMatchObject({
      isError: false,
    });
    const denied = await answering(
      at.home,
      { decision: "denied", reason: "not today" },
      write("d.txt"),
    );
    expect(denied).toMatchObject({
      code: "consent_denied",
      text: expect.stringContaining("not today"),
    });
    expect(await readFile(join(at.folder, "b.txt"), "utf8")).toBe("as asked");
    expect(await readFile(join(at.folder, "c.txt"), "utf8")).toBe("as edited");
    expect((await readdir(at.folder)).sort()).toEqual(["a.txt", "b.txt", "c.txt"]);
    expect(await verifyAuditLog(at.log)).toMatchObject({ ok: true });
  });

  it("says on stderr and in the log that nothing isolates the agent and that it shares the user", async () => {
    await using at = await world();
    await using gated = await startGated(at);
    expect(gated.stderr()).toMatch(/acp: No isolation: /);
    expect(gated.stderr()).toMatch(/acp: The agent runs as the same user/);
    const notices = (await eventsOf(at.log))
      .filter(({ eventType }) => eventType === "gate_notice")
      .map(({ metadata }) => metadata["notice"]);
    expect(notices).toEqual(["isolation_none", "shared_uid", "unsigned", "policy_loaded"]);
    await gated.call("read_text_file", { path: "a.txt" });
    // What the log itself records is of no agent.
    for (const { agent, metadata } of await eventsOf(at.log))
      if (agent !== "") expect(metadata["isolation"]).toBe("none");
  });

  it("names agent and server as told", async () => {
    await using at = await world(POLICY.replace('tool: "read_*"', 'tool: "read_*", server: files'));
    await using gated = await startGated({
      ...at,
      args: ["--agent", "claude", "--server", "files"],
    });
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({ isError: false });
    expect((await eventsOf(at.log)).at(-1)).toMatchObject({ agent: "claude", policyRule: "reads" });
  });

  it("works without acp init: makes the home and asks about everything", async () => {
    await using at = await world("");
    await using gated = await startGated({ ...at, home: join(at.path, "new") });
    expect(gated.stderr()).toContain("does not exist: you are asked about every call");
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({
      code: "channel_unavailable",
    });
    // And takes a policy that is written later.
    await replace(join(at.path, "new/policy.yml"), POLICY);
    await gated.said("is there now and in force: 2 rules");
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({ isError: false });
  });
});

describe("acp mcp and the policy file", () => {
  it("follows it, and keeps the old policy when the new one is broken", async () => {
    await using at = await world();
    await using gated = await startGated(at);
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({ isError: false });
    await replace(at.policy, POLICY.replace("action: allow", "acton: deny"));
    await gated.said(
      /policy\.yml:6:5: .*unknown key "acton".*; the previous policy stays in force/,
    );
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({ isError: false });
    await replace(at.policy, POLICY.replace("action: allow", "action: deny"));
    await gated.said("was reloaded: 2 rules");
    expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({
      code: "policy_denied",
    });
    const notices = (await eventsOf(at.log))
      .map(({ metadata }) => metadata)
      .filter(({ notice }) => String(notice).startsWith("policy_"));
    expect(notices.map(({ notice }) => notice)).toEqual([
      "policy_loaded",
      "policy_kept",
      "policy_reloaded",
    ]);
    // The log names the text that was in force, and the home keeps it.
    await replace(at.policy, POLICY);
    await gated.said("this text was in force before, last from");
    const [first, , second] = notices.map(({ policy }) => String(policy).slice("sha256:".length));
    const keptText = (name: string | undefined) =>
      readFile(join(at.home, "policies", `${name}.yml`), "utf8");
    expect([await keptText(first), await keptText(second)]).toEqual([
      POLICY,
      POLICY.replace("action: allow", "action: deny"),
    ]);
  });

  it("does not start with a broken one", async () => {
    await using at = await world(POLICY.replace("rules:", "rulez:"));
    const ended = await acp(["mcp", "--", ...fileServer(at.folder)], { home: at.home });
    expect(ended).toMatchObject({
      code: EXIT_CODES.invalid.code,
      stdout: "",
      stderr: expect.stringMatching(/policy\.yml:3:1: .*did you mean rules\? \[policy_invalid\]/),
    });
    expect(await readdir(join(at.home, "run")).catch(() => [])).toEqual([]);
  });
});

describe("acp approve, pending and pause beside a running gate", () => {
  it("shows the question in another process, answers it there, and the call goes through", async () => {
    await using at = await world();
    await using gated = await startGated(at);
    await using watcher = startAcp(["approve", "--json"], { home: at.home });
    // Somebody must be attached for a question to be asked; this one never answers.
    const stop = new AbortController();
    await using silent = await attachApprovers({
      directory: join(at.home, "run"),
      signal: stop.signal,
    });
    expect(silent.gates()).toBe(1);
    const call = gated.call("write_file", { path: "b.txt", content: "x" });
    const id = await firstQuestion(watcher);
    const listed = JSON.parse((await acp(["pending", "--json"], { home: at.home })).stdout);
    expect(listed).toMatchObject({ gates: 1, pending: [{ id, agent: { id: "mcp-client" } }] });
    expect((await acp(["pending"], { home: at.home })).stdout).toMatch(
      new RegExp(`^${id} {2}medium {4}call write_file on default {2}mcp-client {2}`),
    );
    const tooLong = await acp(["approve", "--once", id, "--deny", "--reason", "x".repeat(1_001)], {
      home: at.home,
    });
    expect([tooLong.code, tooLong.stdout]).toEqual([
      EXIT_CODES.failed.code,
      expect.stringContaining("refused"),
    ]);
    const answered = await acp(["approve", "--once", id, "--approve", "--json"], { home: at.home });
    const logged = expect.objectContaining({
      id,
      status: "approved",
      run: { state: "ran" },
    }) as unknown;
    expect([answered.code, JSON.parse(answered.stdout)]).toEqual([
      0,
      { ok: true, id, status: "final", outcome: "approved", logged },
    ]);
    expect(await call).toMatchObject({ isError: false });
    await watcher.seen("stdout", '"type":"ended"');
    expect(await acp(["approve", "--once", id, "--deny"], { home: at.home })).toMatchObject({
      code: EXIT_CODES.nothing.code,
    });
    expect(await readFile(join(at.folder, "b.txt"), "utf8")).toBe("x");
  });

  it("pause denies what would be asked, lets pass what is allowed, until it is over", async () => {
    await using at = await world();
    await using gated = await startGated(at);
    const write = () => gated.call("write_file", { path: "b.txt", content: "x" });
    await answering(at.home, { decision: "approved" }, async () => {
      await acp(["pause"], { home: at.home });
      expect(await write()).toMatchObject({ code: "paused" });
      expect(await gated.call("read_text_file", { path: "a.txt" })).toMatchObject({
        isError: false,
      });
      await acp(["pause", "--off"], { home: at.home });
      expect(await write()).toMatchObject({ isError: false });
    });
  });
});
