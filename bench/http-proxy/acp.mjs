// Ours, with everything: the policy allows, addresses are checked, the log is in memory or durable
// (first argument: its path).
import { openAuditLog } from "@acp/audit";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createHttpConsentProxy } from "@acp/proxy-http";

const [, , logPath] = process.argv;
const memory = { append: () => Promise.resolve({ seq: 0, hash: "" }) };
const audit = logPath === undefined ? memory : await openAuditLog({ path: logPath });
const policy = parsePolicy({
  version: "1",
  default_action: "deny",
  rules: [{ match: { kind: "http", host: "127.0.0.1" }, action: "allow" }],
});
const gate = createConsentGate({
  policy,
  audit,
  channel: { name: "none", deliver: () => Promise.reject(new Error("nobody")) },
});
const proxy = createHttpConsentProxy({ gate, agent: { id: "bench" }, privateHosts: ["127.0.0.1"] });
console.log(JSON.stringify({ port: (await proxy.listen({ port: 0 })).port }));
