import { writeFile } from "node:fs/promises";
import { openAuditLog } from "@acp/audit";
import { createTerminalChannel } from "@acp/channel-terminal";
import { createConsentGate, parametersOf, toolAction } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";

const policy = parsePolicy({
  version: "1",
  default: "ask",
  rules: [{ match: { tool: "read_*" }, action: "allow" }],
});
const gate = createConsentGate({
  policy,
  channel: createTerminalChannel(),
  audit: await openAuditLog({ path: "audit.jsonl" }),
});
const mail = toolAction("mail", "send_email", { to: "ada@example.com", subject: "Hello" });
// what must not happen unasked
const send = (approved: unknown) => writeFile("outbox.json", JSON.stringify(approved));
const result = await gate.run(mail, ({ action }) => send(parametersOf(action).parameters), {
  agent: { id: "my-agent" },
});
console.log(result.ran ? "sent" : `not sent: ${result.verdict.reason}`);
