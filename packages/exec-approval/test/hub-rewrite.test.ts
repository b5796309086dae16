/**
 * A command that would be asked about only because it may show secrets runs in the form that leaves
 * these out. Real processes.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { parsePolicy } from "@acp/core/policy";
import { memoryAuditSink } from "@acp/audit";
import { expect, it, onTestFinished, vi } from "vitest";
import { createExecApprovalHub } from "../src/hub.js";
import type { ExecApprovalHub, ExecApprovalHubOptions } from "../src/hub-options.js";
import { PHONE, scratchDirectory } from "./desk.js";

const COMMAND = "grep -rn password .";

async function openHub(options: Partial<ExecApprovalHubOptions> = {}): Promise<{
  readonly hub: ExecApprovalHub;
  readonly audit: ReturnType<typeof memoryAuditSink>;
  readonly asked: readonly string[];
}> {
  const projectRoot = await scratchDirectory();
  await writeFile(join(projectRoot, ".env"), "password=SECRET\n");
  await writeFile(join(projectRoot, "a.json"), '{ "password": "ORDINARY" }\n');
  const audit = memoryAuditSink();
  const asked: string[] = [];
  const hub = createExecApprovalHub({
    config: parseExecApprovalConfig({ security: "allowlist", ask: "on-miss" }),
    clients: [PHONE],
    send: (message) => {
      asked.push(JSON.stringify(message));
      return Promise.resolve();
    },
    audit,
    projectRoot,
    variables: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: projectRoot },
    ...options,
  });
  onTestFinished(() => hub.close());
  return { hub, audit, asked };
}

it("onApprovalNeeded() lets a search run without secrets, and tells what the agent wrote", async () => {
  const { hub, audit, asked } = await openHub();
  const verdict = await hub.onApprovalNeeded(COMMAND, { agentId: "agent-1" });
  if (verdict.decision === "deny") throw new Error(verdict.reason);
  expect(verdict.action.args).toMatch(/^grep --exclude-dir=.* -rn password \.$/);
  let text = "";
  const result = await hub.runApproved(verdict, {
    onOutput: ({ chunk }) => void (text += Buffer.from(chunk).toString("utf8")),
  });
  expect(result.ran).toBe(true);
  expect(text).toContain("ORDINARY");
  expect(text).not.toContain("SECRET");
  expect(asked).toEqual([]);
  expect(audit.lines.join("\n")).toContain(`the agent wrote \\"${COMMAND}\\"`);
});

/** The text of the question that is asked about a command; nobody answers it. */
async function questionAbout(
  command: string,
  options: Partial<ExecApprovalHubOptions>,
): Promise<string> {
  const { hub, asked } = await openHub(options);
  const verdict = hub.onApprovalNeeded(command, { agentId: "agent-1" });
  await vi.waitFor(() => expect(hub.openApprovals()).toHaveLength(1), { timeout: 60_000 });
  const [open] = hub.openApprovals();
  await hub.cancelPending("agent-1");
  expect((await verdict).decision).toBe("deny");
  expect(asked.length).toBeGreaterThan(0);
  return open?.command ?? "";
}

it("asks about the agent's own text where everything is asked, and where a rule asks or something else is wrong", async () => {
  const always = parseExecApprovalConfig({ security: "allowlist", ask: "always" });
  const policy = parsePolicy({
    version: "1",
    default: "allow",
    rules: [{ match: { kind: "shell", args: "grep -rn *" }, action: "ask" }],
  });
  expect(await questionAbout(COMMAND, { config: always })).toBe(COMMAND);
  expect(await questionAbout(COMMAND, { policy })).toBe(COMMAND);
  expect(await questionAbout(`${COMMAND} && npm test`, {})).toBe(`${COMMAND} && npm test`);
});

it("keeps a rule's no about the agent's own text", async () => {
  const policy = parsePolicy({
    version: "1",
    default: "allow",
    rules: [{ match: { kind: "shell", args: "grep -rn *" }, action: "deny" }],
  });
  const { hub } = await openHub({ policy });
  expect(await hub.onApprovalNeeded(COMMAND, { agentId: "agent-1" })).toMatchObject({
    decision: "deny",
    code: "policy_denied",
  });
});

it("runs the agent's own text where nobody is asked in any case", async () => {
  const { hub } = await openHub({
    config: parseExecApprovalConfig({ security: "full", ask: "off" }),
  });
  expect(await hub.onApprovalNeeded(COMMAND, { agentId: "agent-1" })).toMatchObject({
    decision: "allow",
    action: { args: COMMAND },
  });
});
