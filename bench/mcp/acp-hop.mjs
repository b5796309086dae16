// Our proxy in front of the echo server: policy allows, the log is in memory or durable (second
// argument: its path).
import { openAuditLog } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createMcpProxy } from "@acp/proxy-mcp";

const [, , server, logPath] = process.argv;
const memory = { append: () => Promise.resolve({ seq: 0, hash: "" }) };
const audit = logPath === undefined ? memory : await openAuditLog({ path: logPath });
const policy = parsePolicy({
  version: "1",
  default_action: "deny",
  rules: [{ match: { tool: "echo" }, action: "allow" }],
});
const gate = createConsentGate({
  policy,
  audit,
  channel: { name: "none", deliver: () => Promise.reject(new Error("nobody")) },
});
const proxy = createMcpProxy({
  gate,
  agent: { id: "bench" },
  upstreams: [{ name: "echo", command: [process.execPath, server] }],
  input: process.stdin,
  output: process.stdout,
  log: () => undefined,
});
await proxy.done;
process.exit(0);
