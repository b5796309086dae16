import { writeFile } from "node:fs/promises";
import { openAuditLog } from "@acp/audit";
import { createTerminalChannel } from "@acp/channel-terminal";
import { createConsentGate, isToolAction, parsePolicy, toolAction } from "@acp/core";

const policy = parsePolicy({ version: "1", default: "ask", rules: [{ match: { tool: "read_*" }, action: "allow" }] });
const gate = createConsentGate({ policy, channel: createTerminalChannel(), audit: await openAuditLog({ path: "audit.jsonl" }) });

const action = toolAction("files", "write_file", { path: "hello.txt", content: "Hello" });
const result = await gate.run(action, async ({ action: approved }) => {
  if (isToolAction(approved)) await writeFile(String(approved.args.path), String(approved.args.content));
}, { agent: { id: "my-agent" } });
console.log(result.ran ? "written" : `not written: ${result.verdict.reason}`);
