/**
 * Gates that ask for everything: in a process of its own on its controlling terminal, and in this
 * one on another terminal.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AuditSink,
  type JsonObject,
  type RiskLevel,
  type Verdict,
  createConsentGate,
  toolAction,
} from "@acp/core";
import { expect } from "vitest";
import { bundled } from "../../../tools/bundled.js";
import { type TerminalChannelOptions, createTerminalChannel } from "../src/index.js";
import { type TemporaryHome, temporaryHome } from "./temporary-home.js";
import { type Pane, openPane } from "./tmux.js";

const PROGRAMS = {
  approver: await bundled(new URL("fixtures/approver.ts", import.meta.url)),
  "asking-gate": await bundled(new URL("fixtures/asking-gate.ts", import.meta.url)),
};
/** A command line that runs a fixture. */
export const runTypeScript = (name: keyof typeof PROGRAMS, ...args: readonly string[]): string =>
  [
    "exec",
    process.execPath,
    PROGRAMS[name],
    ...args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`),
  ].join(" ");

/** A process of its own with a gate that asks on its controlling terminal. */
export async function gateProcess(
  home: TemporaryHome,
  calls: readonly object[],
  options: TerminalChannelOptions & {
    readonly waitForClient?: boolean;
    readonly inBackground?: boolean;
  } = {},
) {
  const file = join(home.path, "verdicts.jsonl");
  const { inBackground = false, ...given } = options;
  const gate = runTypeScript("asking-gate", file, JSON.stringify(calls), JSON.stringify(given));
  const script = inBackground ? `set -m; (${gate}) & wait` : gate;
  const command = `sh -c '${script.replaceAll("'", "'\\''")}'`;
  const pane = await openPane({ command, directory: home.path });
  const reported = async (): Promise<readonly JsonObject[]> =>
    (await readFile(file, "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as JsonObject);
  const verdicts = async (count: number): Promise<readonly JsonObject[]> => {
    await expect
      .poll(async () => (await reported()).filter(({ tool }) => tool !== undefined).length)
      .toBe(count);
    return (await reported()).filter(({ tool }) => tool !== undefined);
  };
  return { pane, verdicts };
}

export interface Desk extends AsyncDisposable {
  readonly pane: Pane;
  ask(
    tool: string,
    args: JsonObject,
    terms?: {
      readonly level?: RiskLevel;
      readonly timeoutMs?: number;
      readonly agentName?: string;
    },
  ): Promise<Verdict>;
}

/** A gate of this process that asks on the terminal of a pane where nothing else runs. */
export async function desk(
  options: { readonly columns?: number; readonly color?: boolean } = {},
): Promise<Desk> {
  const home = await temporaryHome();
  const pane = await openPane({ command: "sleep 120", directory: home.path, ...options });
  const channel = createTerminalChannel({ terminal: pane.tty, color: options.color ?? false });
  let seq = -1;
  const audit: AuditSink = {
    append: async (events) => ({ seq: (seq += events.length), hash: `sha256:${"0".repeat(64)}` }),
  };
  const terms = new Map<string, { readonly level?: RiskLevel; readonly timeoutMs?: number }>();
  const gate = createConsentGate({
    channel,
    audit,
    layers: [
      {
        name: "asks",
        judge: ({ name }) => ({
          effect: "ask",
          ruleId: "ask_all",
          reason: "everything is asked",
          level: terms.get(name)?.level ?? "medium",
          ask: { timeoutMs: terms.get(name)?.timeoutMs ?? 60_000 },
        }),
      },
    ],
  });
  return {
    pane,
    ask(tool, args, given = {}) {
      terms.set(tool, given);
      return gate(toolAction("files", tool, args), {
        agent: {
          id: "agent-1",
          ...(given.agentName === undefined ? {} : { name: given.agentName }),
        },
      });
    },
    async [Symbol.asyncDispose]() {
      await gate.close();
      await channel.close();
      await pane[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
