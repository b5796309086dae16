/** A real gate in front of a Telegram channel, whose releases are counted. */
import {
  type AuditEventInput,
  type ConsentGate,
  type GateOptions,
  type JsonObject,
  type RunResult,
  createConsentGate,
  toolAction,
} from "@acp/core";

export interface Gated extends AsyncDisposable {
  readonly gate: ConsentGate;
  readonly events: readonly AuditEventInput[];
  /** The arguments of what was performed, in order. */
  readonly released: readonly JsonObject[];
  call(args?: JsonObject): Promise<RunResult<string>>;
}

export const agent = { id: "agent-1" } as const;

/** A gate that asks for everything, as often as it must, for two minutes each. */
export function gated(options: Pick<GateOptions, "channel"> & Partial<GateOptions>): Gated {
  const events: AuditEventInput[] = [];
  const released: JsonObject[] = [];
  const gate = createConsentGate({
    audit: {
      append: async (more) => ({ seq: events.push(...more) - 1, hash: `sha256:${"0".repeat(64)}` }),
    },
    layers: [
      {
        name: "asks",
        judge: () => ({
          effect: "ask",
          ruleId: "ask_all",
          reason: "everything is asked",
          ask: { timeoutMs: 120_000 },
        }),
      },
    ],
    promptLimit: "none",
    ...options,
  });
  return {
    gate,
    events,
    released,
    call: (args = { path: "notes.txt" }) =>
      gate.run(
        toolAction("files", "write_file", args),
        async ({ action }) => {
          released.push(typeof action.args === "object" ? action.args : {});
          return "done";
        },
        { agent },
      ),
    [Symbol.asyncDispose]: () => gate.close(),
  };
}
