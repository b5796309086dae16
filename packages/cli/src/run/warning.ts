/**
 * Warning: where nothing holds the agent, that is said so that nobody misses it.
 */
import type { SandboxReport } from "@acp/core";
import type { Io } from "../command.js";
import type { AgentHost } from "../gate/notices.js";
import { createPrinter } from "../printer.js";

const FIRST: Readonly<Partial<Record<SandboxReport["level"], string>>> = {
  none: "NO ISOLATION. The command runs with nothing around it but variables, and can go past the gate to any host.",
  advisory:
    "NO BARRIER. Programs that mean well are led to the gate; one that does not goes past it to any host.",
};

/**
 * Lines to print before the agent starts; none where there is a barrier. A program that reads gets
 * the notice of the gate.
 */
export function warningOf(
  { sharesUid, sandbox }: AgentHost,
  { stderr, env }: Pick<Io, "stderr" | "env">,
): readonly string[] {
  const { tone } = createPrinter({ stdout: stderr, stderr, env, json: false });
  const first = sandbox === undefined ? undefined : FIRST[sandbox.level];
  if (first === undefined) return [];
  const reach = sharesUid ? "what you can, and answer its own questions." : "what its user can.";
  const last = "Every event in the log says so. acp sandbox probe shows what would hold it.";
  const lines = [first, `It can read and write ${reach}`, last];
  const bar = "!".repeat(Math.max(...lines.map((line) => line.length + 3)));
  return [bar, ...lines.map((line) => `!! ${line}`), bar].map((line) => tone("red", line));
}
