/** Running what was allowed: the same bytes in the same place, or nothing. Real processes. */
import { execFile } from "node:child_process";
import { access, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { type Allowed, type RunResult, systemClock, type Verdict } from "@acp/core";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { createVault, Secret } from "@acp/core/vault";
import { memoryAuditSink } from "@acp/audit";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CommandOutcome } from "../src/executor/run-shell.js";
import { createExecApprovalHub } from "../src/hub.js";
import type { ExecApprovalHub, ExecApprovalHubOptions, ExecContext } from "../src/hub-options.js";
import type { RunOptions } from "../src/run-approved.js";
import { PHONE, scratchDirectory } from "./desk.js";

const run = promisify(execFile);
const PATIENCE_MS = 120_000;
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** A hub that allows whatever is not dangerous, on the system's clock. */
interface Bench {
  readonly hub: ExecApprovalHub;
  readonly project: string;
  readonly audit: ReturnType<typeof memoryAuditSink>;
  allow(command: string, more?: Partial<ExecContext>): Promise<Allowed>;
  /** Allows and runs; what it wrote, both streams in order. */
  exec(
    command: string,
    more?: Partial<ExecContext>,
    options?: RunOptions,
  ): Promise<{ readonly result: RunResult<CommandOutcome>; readonly text: string }>;
}

async function openBench(options: Partial<ExecApprovalHubOptions> = {}): Promise<Bench> {
  const project = await scratchDirectory();
  const audit = memoryAuditSink();
  const hub = createExecApprovalHub({
    config: parseExecApprovalConfig({ security: "full", ask: "off" }),
    clients: [PHONE],
    send: () => Promise.resolve(),
    audit,
    projectRoot: project,
    variables: { PATH: SYSTEM_PATH, HOME: project },
    ...options,
  });
  onTestFinished(() => hub.close());
  const allow = async (command: string, more: Partial<ExecContext> = {}): Promise<Allowed> => {
    const verdict: Verdict = await hub.onApprovalNeeded(command, { agentId: "agent-1", ...more });
    if (verdict.decision === "deny") throw new Error(`${verdict.code}: ${verdict.reason}`);
    return verdict;
  };
  return {
    hub,
    project,
    audit,
    allow,
    async exec(command, more, runOptions) {
      const chunks: Uint8Array[] = [];
      const result = await hub.runApproved(await allow(command, more), {
        onOutput: ({ chunk }) => void chunks.push(chunk),
        ...runOptions,
      });
      return { result, text: Buffer.concat(chunks).toString("utf8") };
    },
  };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function eventually(what: string, check: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await check())) {
    if (performance.now() > endMs) throw new Error(`not so after ${PATIENCE_MS} ms: ${what}`);
    await wait(5);
  }
}

const refusalOf = (result: RunResult<CommandOutcome>): string =>
  result.ran ? `ran: ${result.value.end}` : `${result.verdict.code}: ${result.verdict.reason}`;

describe("runApproved()", () => {
  it("runApproved() runs what was judged, and the log knows before and after", async () => {
    const bench = await openBench();
    const { result, text } = await bench.exec("echo 'hello  world'; exit 7");
    expect(result).toMatchObject({
      ran: true,
      recorded: true,
      value: { end: "exited", exitCode: 7 },
    });
    expect(text).toBe("hello  world\n");
    expect(bench.audit.events().map(({ eventType }) => eventType)).toEqual([
      "tool_call_intercepted",
      "policy_evaluated",
      "tool_call_forwarded",
      "tool_call_completed",
    ]);
  });

  it("runApproved() runs a verdict once", async () => {
    const bench = await openBench();
    const verdict = await bench.allow("echo x >> count.txt");
    const [first, second] = await Promise.all([
      bench.hub.runApproved(verdict),
      bench.hub.runApproved(verdict),
    ]);
    expect([first, second].filter(({ ran }) => ran).length).toBe(1);
    expect(refusalOf(await bench.hub.runApproved(verdict))).toContain("permit_refused");
    expect(await readFile(join(bench.project, "count.txt"), "utf8")).toBe("x\n");
  });

  it("runApproved() runs no other bytes than those that were judged", async () => {
    const bench = await openBench();
    const verdict = await bench.allow("touch judged");
    const other = await bench.allow("touch other");
    const forged: Allowed = { ...verdict, action: other.action };
    expect(refusalOf(await bench.hub.runApproved(forged))).toBe(
      "permit_refused: this hub gave no such verdict",
    );
    expect(await exists(join(bench.project, "other"))).toBe(false);
    expect((await bench.hub.runApproved(verdict)).ran).toBe(true);
  });

  it("runApproved() runs no verdict of another hub", async () => {
    const [bench, stranger] = [await openBench(), await openBench()];
    expect(refusalOf(await bench.hub.runApproved(await stranger.allow("touch x")))).toContain(
      "permit_refused",
    );
    expect(await exists(join(stranger.project, "x"))).toBe(false);
  });

  it("runApproved() runs nothing where the directory became another one", async () => {
    const bench = await openBench();
    const [sub, away] = [join(bench.project, "sub"), await scratchDirectory()];
    await mkdir(sub);
    const verdict = await bench.allow("touch here", { cwd: "sub" });
    await rename(sub, join(bench.project, "moved"));
    expect(refusalOf(await bench.hub.runApproved(verdict))).toBe(
      "permit_refused: the working directory is not the one that was judged",
    );
    await symlink(away, sub);
    expect(refusalOf(await bench.hub.runApproved(verdict))).toBe(
      "permit_refused: the working directory is not the one that was judged",
    );
    expect(await exists(join(away, "here"))).toBe(false);
  });

  it("runApproved() runs nothing where the environment became another one", async () => {
    let mode = "1";
    const bench = await openBench({ variables: () => ({ PATH: SYSTEM_PATH, MODE: mode }) });
    const verdict = await bench.allow("touch here");
    mode = "2";
    expect(refusalOf(await bench.hub.runApproved(verdict))).toBe(
      "permit_refused: the environment is not the one that was judged",
    );
    expect(await exists(join(bench.project, "here"))).toBe(false);
    mode = "1";
    expect((await bench.hub.runApproved(verdict)).ran).toBe(true);
  });

  it("runApproved() runs nothing where the host's variables cannot be had any more", async () => {
    let isGone = false;
    const bench = await openBench({
      variables: () => {
        if (isGone) throw new Error("no variables");
        return { PATH: SYSTEM_PATH };
      },
    });
    const verdict = await bench.allow("touch here");
    isGone = true;
    expect(refusalOf(await bench.hub.runApproved(verdict))).toBe(
      "permit_refused: the environment is not the one that was judged",
    );
    expect(await exists(join(bench.project, "here"))).toBe(false);
  });

  it("runApproved() runs nothing where the search path leads into the project by now", async () => {
    const tools = join(await scratchDirectory(), "tools");
    await mkdir(tools);
    const bench = await openBench({ variables: { PATH: `${tools}:${SYSTEM_PATH}` } });
    const verdict = await bench.allow("ls");
    await rm(tools, { recursive: true });
    await symlink(bench.project, tools);
    expect(refusalOf(await bench.hub.runApproved(verdict))).toBe(
      "permit_refused: the environment is not the one that was judged",
    );
  });

  it("runApproved() asks the layers in force again", async () => {
    let isOpen = true;
    const door = {
      name: "door",
      judge: () =>
        isOpen ? undefined : ({ effect: "deny", ruleId: "door", reason: "closed" } as const),
    };
    const bench = await openBench({ layers: [door] });
    const verdict = await bench.allow("touch here");
    isOpen = false;
    expect(refusalOf(await bench.hub.runApproved(verdict))).toContain("policy_denied");
    expect(await exists(join(bench.project, "here"))).toBe(false);
  });

  it("runApproved() runs nothing where the log fails", async () => {
    const bench = await openBench();
    const verdict = await bench.allow("touch here");
    bench.audit.fail(new Error("the disk is full"));
    expect(refusalOf(await bench.hub.runApproved(verdict))).toContain("audit_failed");
    expect(await exists(join(bench.project, "here"))).toBe(false);
  });

  it("runApproved() ends the command with its caller, with the caller of the decision, and with the hub", async () => {
    const [decider, runner] = [new AbortController(), new AbortController()];
    for (const [name, more, options, stop] of [
      ["run", {}, { signal: runner.signal }, async () => runner.abort()],
      ["decide", { signal: decider.signal }, {}, async () => decider.abort()],
      ["hub", {}, {}, undefined],
    ] as const) {
      const bench = await openBench();
      const running = bench.exec(`touch ${name}; sleep 1000`, more, options);
      await eventually("it runs", () => exists(join(bench.project, name)));
      await (stop ?? ((): Promise<void> => bench.hub.close()))();
      expect((await running).result).toMatchObject({ ran: true, value: { end: "aborted" } });
    }
  });

  it("runApproved() ends a command whose time is over", async () => {
    const bench = await openBench({ clock: systemClock });
    expect((await bench.exec("sleep 1000", {}, { timeoutMs: 50 })).result).toMatchObject({
      ran: true,
      value: { end: "timed_out" },
    });
  });

  it("runApproved() puts no secret into a command", async () => {
    const secrets = Object.freeze([
      new Secret({ name: "TOKEN", value: "s3cr3t-value-123", servers: ["*"], hosts: ["*"] }),
    ]);
    const vault = createVault(() => secrets);
    const bench = await openBench({ vault });
    const { result } = await bench.exec("echo '{{secret:TOKEN}}' > out.txt");
    expect(refusalOf(result)).toContain("vault_failed");
    expect(await exists(join(bench.project, "out.txt"))).toBe(false);
    expect(bench.audit.lines.join("\n")).not.toContain("s3cr3t-value-123");
  });

  it("runApproved() masks what a command writes", async () => {
    const secrets = Object.freeze([new Secret({ name: "TOKEN", value: "s3cr3t-value-123" })]);
    const bench = await openBench({ vault: createVault(() => secrets) });
    await writeFile(join(bench.project, "a.txt"), "here: s3cr3t-value-123\n");
    expect((await bench.exec("cat a.txt")).text).toBe("here: [secret TOKEN]\n");
  });
});

describe("runApproved(): what the command meets", () => {
  it("a command meets none of the variables that would change what it means", async () => {
    const evil = join(await scratchDirectory(), "evil.sh");
    await writeFile(evil, "echo EVIL; ls() { echo EVIL; }\n");
    const hostile = {
      BASH_ENV: evil,
      ENV: evil,
      "BASH_FUNC_ls%%": "() { echo EVIL; }",
      PS4: "$(echo EVIL >&2)",
      SHELLOPTS: "xtrace",
      IFS: "l",
      CDPATH: "/",
      LD_PRELOAD: "/nonexistent.so",
      PROMPT_COMMAND: "echo EVIL",
    };
    const bench = await openBench({ variables: { PATH: SYSTEM_PATH, ...hostile } });
    await writeFile(join(bench.project, "a.txt"), "");
    expect((await bench.exec("ls; echo $((1+1))")).text).toBe("a.txt\n2\n");
  });

  it("a command finds no program of the project by its name", async () => {
    const project = await scratchDirectory();
    const bin = join(project, "bin");
    await mkdir(bin);
    for (const place of [join(bin, "ls"), join(project, "ls")])
      await writeFile(place, "#!/bin/sh\necho EVIL\n", { mode: 0o755 });
    for (const path of [
      `${bin}:${SYSTEM_PATH}`,
      `.:${SYSTEM_PATH}`,
      `:${SYSTEM_PATH}`,
      `bin:${SYSTEM_PATH}`,
      "",
      bin,
    ]) {
      const bench = await openBench({ projectRoot: project, variables: { PATH: path } });
      expect([path, (await bench.exec("ls bin")).text]).toEqual([path, "ls\n"]);
    }
  });

  it("a command reads no terminal and no input", async () => {
    const bench = await openBench();
    expect((await bench.exec("cat; [ -t 0 ] || echo closed; : < /dev/tty")).text).toMatch(
      /^closed\n.*\/dev\/tty/,
    );
  });

  it("what looks at a repository among the project's files, or pages one, runs unasked and runs nothing of it", async () => {
    const bench = await openBench({
      config: parseExecApprovalConfig({ security: "allowlist", ask: "off" }),
    });
    const mark = join(bench.project, "was-run");
    await run("git", ["init", "-q", "--bare", join(bench.project, "evil.git")]);
    const settings = `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = touch '${mark}'; false\n`;
    await writeFile(join(bench.project, "evil.git", "config"), settings);
    await run("git", ["-C", join(bench.project, "evil.git"), "status"]);
    expect(await exists(mark)).toBe(true);
    await rm(mark);
    await writeFile(join(bench.project, "a.txt"), "one\n");
    for (const command of ["git -C evil.git status", "cd evil.git && git status", "less a.txt"])
      await bench.exec(command);
    expect(await exists(mark)).toBe(false);
  });

  it("git runs nothing that the repository's own configuration names", async () => {
    const bench = await openBench({ config: parseExecApprovalConfig({}) });
    const mark = join(bench.project, "was-run");
    const git = (...args: readonly string[]): Promise<unknown> =>
      run("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], {
        cwd: bench.project,
      });
    await git("init", "-q");
    await writeFile(join(bench.project, "a.txt"), "one\n");
    await git("add", "a.txt");
    await git("commit", "-qm", "one");
    await writeFile(join(bench.project, "a.txt"), "two\n");
    // Asked for by the safe layer alone: these are the commands that run without a person.
    expect((await bench.exec("git diff")).text).toContain("+two");
    for (const [key, value] of [
      ["core.fsmonitor", `touch '${mark}'; false`],
      ["diff.external", `touch '${mark}'; false`],
      ["filter.x.clean", `touch '${mark}'; cat`],
      ["core.pager", `touch '${mark}'; cat`],
    ] as const)
      await git("config", key, value);
    await writeFile(join(bench.project, ".gitattributes"), "* filter=x\n");
    for (const command of ["git status", "git diff", "git log"]) {
      expect((await bench.exec(command)).result.ran).toBe(true);
      expect([command, await exists(mark)]).toEqual([command, false]);
    }
    await git("diff").catch(() => undefined);
    expect(await exists(mark)).toBe(true);
  });
});
