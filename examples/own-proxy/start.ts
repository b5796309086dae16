/**
 * Runs the proxy on loopback: `npm start`, then `curl --proxy http://127.0.0.1:8080
 * http://example.com/`. You are asked in this terminal.
 */
import { openAuditLog } from "@acp/audit";
import { createTerminalChannel } from "@acp/channel-terminal";
import { createConsentGate } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { createGatedProxy } from "./proxy.js";

const policy = parsePolicy({
  version: "1",
  default: "deny",
  rules: [{ match: { kind: "http" }, action: "ask" }],
});
const audit = await openAuditLog({ path: "audit.jsonl" });
const gate = createConsentGate({ policy, channel: createTerminalChannel(), audit });
const proxy = createGatedProxy(gate);
const port = Number(process.env["PORT"] ?? 8080);

proxy.listen(port, "127.0.0.1", () => {
  const address = proxy.address();
  console.log(
    `Listening on http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : port}`,
  );
});
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    proxy.close().closeAllConnections();
    void gate.close().then(() => audit.close());
  });
