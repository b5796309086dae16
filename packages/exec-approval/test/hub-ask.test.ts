/** The hub as an agent's exec tool sees it: what is asked, where it would run, and what follows. */
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuditSink, Layer } from "@acp/core";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { readPolicy } from "@acp/core/yaml";
import { describe, expect, it } from "vitest";
import { createExecApprovalHub } from "../src/hub.js";
import { denialMessage } from "../src/hub-refusal.js";
import { isUuidV7 } from "../src/uuid-v7.js";
import { AGENT, codeOf, DANGEROUS, openDesk, PHONE, REVIEWED, scratchDirectory } from "./desk.js";

describe("onApprovalNeeded()", () => {
  it("onApprovalNeeded() allows a safe command without asking", async () => {
    const desk = await openDesk();
    expect((await desk.hub.onApprovalNeeded("ls", AGENT)).decision).toBe("allow");
    expect(desk.sent).toEqual([]);
    expect(desk.types()).toEqual(["tool_call_intercepted", "policy_evaluated"]);
  });

  it("onApprovalNeeded() sends the document's request, with the whole command and where it runs", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    const request = await desk.request();
    expect(Object.keys(request)).toEqual([
      "approvalId",
      "agentId",
      "command",
      "cwd",
      "riskLevel",
      "riskReasons",
      "expiresAtMs",
    ]);
    expect(request).toMatchObject({
      agentId: "agent-1",
      command: REVIEWED,
      cwd: desk.project,
      riskLevel: "needs-review",
    });
    expect(request.expiresAtMs).toBe(desk.clock.now() + 60_000);
    expect(isUuidV7(request.approvalId)).toBe(true);
    expect(request.riskReasons.length).toBeGreaterThan(0);
    expect(await desk.answer("allow-once")).toEqual({ ok: true, payload: { ok: true } });
    expect((await verdict).decision).toBe("allow");
    expect(desk.ends.get(request.approvalId)).toBe("allowed");
  });

  it("onApprovalNeeded() denies what a person denies, with a message that the agent can act on", async () => {
    const desk = await openDesk();
    const asked = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    expect(await desk.answer("deny")).toEqual({ ok: true, payload: { ok: true } });
    const verdict = await asked;
    if (verdict.decision !== "deny") throw new Error("it was allowed");
    expect(verdict.code).toBe("consent_denied");
    expect(denialMessage(verdict)).toBe(
      "The command was not run (consent_denied): a person denied the command. Do not repeat the call; ask the person what they would accept.",
    );
    expect(desk.ends.get(desk.sent[0]?.approvalId ?? "")).toBe("denied");
  });

  it("onApprovalNeeded() takes a bare allow-once for a dangerous command, as the document's client sends it", async () => {
    const desk = await openDesk();
    const verdict = desk.hub.onApprovalNeeded(DANGEROUS, AGENT);
    expect((await desk.request()).riskLevel).toBe("dangerous");
    expect(await desk.answer("allow-once")).toEqual({ ok: true, payload: { ok: true } });
    expect((await verdict).decision).toBe("allow");
  });

  it("onApprovalNeeded() makes two questions of the same command asked twice", async () => {
    const desk = await openDesk();
    const first = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request(0);
    const second = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.request(1);
    expect(desk.sent[0]?.approvalId).not.toBe(desk.sent[1]?.approvalId);
    await desk.answer("deny", 1);
    await desk.answer("allow-once", 0);
    expect([codeOf(await first), codeOf(await second)]).toEqual(["allow", "consent_denied"]);
  });

  it("onApprovalNeeded() denies where the request cannot be sent", async () => {
    const desk = await openDesk({
      send: () => Promise.reject(new Error("no client is connected")),
    });
    const verdict = await desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    expect(verdict).toMatchObject({ decision: "deny", code: "channel_failed" });
    expect(desk.hub.openApprovals()).toEqual([]);
  });

  it("onApprovalNeeded() denies without asking where nobody may answer", async () => {
    const desk = await openDesk({ clients: [] });
    expect(codeOf(await desk.hub.onApprovalNeeded(REVIEWED, AGENT))).toBe("no_approver");
    expect(desk.sent).toEqual([]);
  });

  it("onApprovalNeeded() denies where the log cannot keep the question", async () => {
    const audit: AuditSink = { append: () => Promise.reject(new Error("the disk is full")) };
    const desk = await openDesk({ audit });
    for (const command of [REVIEWED, "ls"])
      expect(codeOf(await desk.hub.onApprovalNeeded(command, AGENT))).toBe("audit_failed");
    expect(desk.sent).toEqual([]);
  });

  it("onApprovalNeeded() takes its question back when its caller goes away", async () => {
    const desk = await openDesk();
    const stop = new AbortController();
    const verdict = desk.hub.onApprovalNeeded(REVIEWED, { ...AGENT, signal: stop.signal });
    const { approvalId } = await desk.request();
    stop.abort();
    expect(codeOf(await verdict)).toBe("consent_cancelled");
    expect(await desk.answer("allow-once")).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
    expect(desk.ends.get(approvalId)).toBe("cancelled");
  });

  it.each([
    ["deny", "off", "ls", "policy_denied"],
    ["deny", "always", "ls", "policy_denied"],
    ["allowlist", "off", "ls", "allow"],
    ["allowlist", "off", REVIEWED, "policy_denied"],
    ["full", "off", REVIEWED, "allow"],
    ["full", "on-miss", REVIEWED, "allow"],
    ["allowlist", "always", "ls", "asked"],
    ["full", "always", "ls", "asked"],
    ["allowlist", "on-miss", REVIEWED, "asked"],
  ])(
    "onApprovalNeeded() with security %s and ask %s: %s is %s",
    async (security, ask, command, want) => {
      const desk = await openDesk({ written: { security, ask } });
      const verdict = desk.hub.onApprovalNeeded(command, AGENT);
      if (want === "asked") await desk.answer("deny");
      expect(codeOf(await verdict)).toBe(want === "asked" ? "consent_denied" : want);
    },
  );

  it("onApprovalNeeded() follows the operator's rules beside the configuration, the strictest first", async () => {
    const policy = readPolicy(`
version: "1"
default_action: allow
rules:
  - { name: no ls, match: { kind: shell, name: ls }, action: deny }
  - { name: cat is asked, match: { kind: shell, name: cat }, action: ask }
  - { name: touch is fine, match: { kind: shell, name: touch }, action: allow }
`);
    const desk = await openDesk({ policy });
    await writeFile(join(desk.project, "a.txt"), "");
    expect(codeOf(await desk.hub.onApprovalNeeded("ls", AGENT))).toBe("policy_denied");
    const cat = desk.hub.onApprovalNeeded("cat a.txt", AGENT);
    expect((await desk.request(0)).riskReasons).toEqual([
      `the rule "cat is asked" wants a person's consent`,
    ]);
    await desk.answer("deny", 0);
    await cat;
    const touch = desk.hub.onApprovalNeeded(REVIEWED, AGENT);
    await desk.answer("deny", 1);
    expect(codeOf(await touch)).toBe("consent_denied");
  });

  it("onApprovalNeeded() follows layers that are given", async () => {
    const guard: Layer = {
      name: "guard",
      judge: () => ({ effect: "deny", ruleId: "guard", reason: "not today" }),
    };
    const desk = await openDesk({ layers: [guard], written: { security: "full", ask: "off" } });
    expect(await desk.hub.onApprovalNeeded("ls", AGENT)).toMatchObject({
      code: "policy_denied",
      reason: "not today",
    });
  });

  it("onApprovalNeeded() asks anew about another byte, directory or environment", async () => {
    const desk = await openDesk();
    await mkdir(join(desk.project, "sub"));
    const circumstances = [
      [REVIEWED, {}],
      [`${REVIEWED} `, {}],
      [REVIEWED, { cwd: "sub" }],
      [REVIEWED, { env: { TZ: "UTC" } }],
    ] as const;
    const digests = new Set<string>();
    for (const [at, [command, more]] of circumstances.entries()) {
      const verdict = desk.hub.onApprovalNeeded(command, { ...AGENT, ...more });
      await desk.answer("allow-once", at);
      const allowed = await verdict;
      if (allowed.decision !== "allow") throw new Error(allowed.reason);
      digests.add(JSON.stringify([allowed.action.args, allowed.action.meta]));
    }
    expect(digests.size).toBe(4);
    expect(desk.sent.length).toBe(4);
  });
});

describe("onApprovalNeeded(): where a command runs", () => {
  it.each([
    ["gone", "does not exist or cannot be entered"],
    ["file.txt", "is not a directory"],
    ["..", "is outside the project"],
    ["/", "is outside the project"],
    ["way-out", "is outside the project"],
    ["a\u0000b", "has a NUL character"],
  ])("onApprovalNeeded() denies in %j, which %s", async (cwd, why) => {
    const desk = await openDesk({
      projectRoot: join(await scratchDirectory(), "."),
      written: { security: "full", ask: "off" },
    });
    await writeFile(join(desk.project, "file.txt"), "");
    await symlink("/", join(desk.project, "way-out"));
    const verdict = await desk.hub.onApprovalNeeded("ls", { ...AGENT, cwd });
    if (verdict.decision !== "deny") throw new Error("it was allowed");
    expect([verdict.code, verdict.reason]).toEqual([
      "action_invalid",
      expect.stringContaining(why),
    ]);
    expect(verdict.remedy).toBe("Call again with a directory of the project that exists");
  });

  const GONE = 'the working directory \\"gone\\" does not exist or cannot be entered';
  it.each([
    [
      "a rule allows",
      { security: "full", ask: "off" },
      "tool_call_completed",
      '"outcome":"failed"',
    ],
    [
      "a person would be asked",
      { security: "full", ask: "always" },
      "policy_evaluated",
      `"denied":"${GONE}"`,
    ],
    [
      "a rule denies",
      { security: "deny" },
      "policy_evaluated",
      '"reason":"commands may not run at all"',
    ],
  ])(
    "onApprovalNeeded() logs what it refuses itself where %s, and asks nobody",
    async (_name, written, last, why) => {
      const desk = await openDesk({ written });
      expect(codeOf(await desk.hub.onApprovalNeeded(REVIEWED, { ...AGENT, cwd: "gone" }))).toBe(
        "action_invalid",
      );
      expect([desk.types()[0], desk.types().at(-1)]).toEqual(["tool_call_intercepted", last]);
      expect(desk.audit.lines.at(-1)).toContain(why);
      expect(desk.sent).toEqual([]);
    },
  );

  it("onApprovalNeeded() judges and binds the real directory, links followed", async () => {
    const desk = await openDesk();
    await mkdir(join(desk.project, "real"));
    await symlink(join(desk.project, "real"), join(desk.project, "link"));
    const verdict = await desk.hub.onApprovalNeeded("ls", {
      ...AGENT,
      cwd: join(desk.project, "link"),
    });
    if (verdict.decision !== "allow") throw new Error(verdict.reason);
    expect(verdict.action.meta).toMatchObject({
      cwd: join(desk.project, "real"),
      shell: "/bin/bash",
    });
  });

  it("onApprovalNeeded() takes each call's directory as its project where none is named", async () => {
    const project = await scratchDirectory();
    const { hub } = await openDesk();
    await using bare = createExecApprovalHub({
      config: parseExecApprovalConfig({}),
      clients: [PHONE],
      send: () => Promise.resolve(),
      audit: { append: () => Promise.resolve({ seq: 0, hash: `sha256:${"0".repeat(64)}` }) },
    });
    expect((await bare.onApprovalNeeded("ls", { ...AGENT, cwd: project })).decision).toBe("allow");
    expect(await bare.onApprovalNeeded("ls", { ...AGENT, cwd: "sub" })).toMatchObject({
      reason: 'the working directory "sub" is not absolute',
    });
    expect(await bare.onApprovalNeeded("ls", AGENT)).toMatchObject({
      reason: "no working directory is named",
    });
    expect((await hub.onApprovalNeeded("ls", { ...AGENT, shell: "/bin/zsh" })).decision).toBe(
      "deny",
    );
  });

  it.each(["", "   ", "a\u0000b", "\ud800"])(
    "onApprovalNeeded() denies the text %j, which is no command",
    async (command) => {
      const desk = await openDesk({ written: { security: "full", ask: "off" } });
      expect(codeOf(await desk.hub.onApprovalNeeded(command, AGENT))).toBe("action_invalid");
    },
  );

  it.each(["PATH", "HOME", "BASH_ENV", "LD_PRELOAD", "XDG_CONFIG_HOME", "MODE", "PAGER"])(
    "onApprovalNeeded() takes no %s from a call: it belongs into the command, where it is judged and shown",
    async (name) => {
      const desk = await openDesk({ written: { security: "full", ask: "off" } });
      const verdict = await desk.hub.onApprovalNeeded("ls", {
        ...AGENT,
        env: { LANG: "C", [name]: "/tmp/x" },
      });
      expect(verdict).toMatchObject({
        code: "action_invalid",
        reason: `the variable "${name}" may change what the command does`,
      });
      expect(
        (await desk.hub.onApprovalNeeded("ls", { ...AGENT, env: { LANG: "C", [name]: undefined } }))
          .decision,
      ).toBe("allow");
    },
  );

  it.each([5, {}, ["sub"]])(
    "onApprovalNeeded() denies the directory %j, and never rejects",
    async (cwd) => {
      const desk = await openDesk({ written: { security: "full", ask: "off" } });
      // @ts-expect-error What an agent's tool may hand on unlooked at.
      expect((await desk.hub.onApprovalNeeded("ls", { ...AGENT, cwd })).decision).toBe("deny");
      // @ts-expect-error As above.
      expect((await desk.hub.onApprovalNeeded(cwd, AGENT)).decision).toBe("deny");
    },
  );

  it("onApprovalNeeded() denies a call without an agent", async () => {
    const desk = await openDesk();
    expect(codeOf(await desk.hub.onApprovalNeeded("ls", { agentId: "" }))).toBe("context_invalid");
  });
});

describe("createExecApprovalHub()", () => {
  it.each(["relative", "/does/not/exist"])(
    "createExecApprovalHub() refuses the project root %j",
    (projectRoot) => {
      const make = (): unknown =>
        createExecApprovalHub({
          config: parseExecApprovalConfig({}),
          clients: [PHONE],
          send: () => Promise.resolve(),
          audit: { append: () => Promise.resolve({ seq: 0, hash: "" }) },
          projectRoot,
        });
      expect(make).toThrow(expect.objectContaining({ code: "options_invalid" }));
    },
  );

  it("createExecApprovalHub() follows a project root that is a link", async () => {
    const folder = await scratchDirectory();
    await mkdir(join(folder, "real"));
    await symlink(join(folder, "real"), join(folder, "link"));
    const desk = await openDesk({ projectRoot: join(folder, "link") });
    const verdict = await desk.hub.onApprovalNeeded("ls", AGENT);
    if (verdict.decision !== "allow") throw new Error(verdict.reason);
    expect(verdict.action.meta).toMatchObject({ cwd: await realpath(join(folder, "link")) });
  });
});
