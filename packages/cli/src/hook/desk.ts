/**
 * Desk: what answering hooks takes of one home: its log, its pauses, and the gate that asks people.
 * Opened when it is needed and kept: for one event by a hook that answers alone, for many by the
 * resident. Where there is no home nothing is written and nobody is asked: a hook makes none.
 */
import { existsSync } from "node:fs";
import type { AuditSink, Outcome } from "@acp/core";
import type { AuditLog } from "@acp/audit";
import { openHome, readAgentPause, readPause } from "@acp/home";
import { readAuditConfig } from "../logs/log-settings.js";
import type { Invocation } from "../command.js";
import { openHomeAudit } from "../logs/open-audit.js";
import { makeHookIndex, openHookGate } from "./gate.js";
import type { HookGate, HookGates } from "./gate.js";

/** What hooks need of a home. */
export interface HookDesk extends AsyncDisposable {
  /** Keeps what was decided; swallows it where there is no home. */
  readonly log: AuditSink;
  /** Why `agent` may do nothing now, or nothing that a person would be asked about. */
  pauseOf(agent: string, wouldAsk: boolean): Promise<string | undefined>;
  /** Keeps what takes the agent's word for what became of a command that a person approved. */
  keepReport(key: string, report: Report): void;
  /** The same, once. */
  takeReport(key: string): Report | undefined;
  /**
   * The gate that asks people.
   *
   * @throws ConsentError what keeps the gate from opening: no home, locked keys, a configuration
   *   that does not load.
   */
  gate(): Promise<HookGate>;
}

/** Takes the outcome of a command. */
export type Report = (outcome: Outcome) => Promise<void>;

/** Commands that were approved and may still be running. */
const REPORTS_MAX = 256;
/** What is given back where nothing is kept. */
const NOT_KEPT = { seq: -1, hash: "" };

/**
 * Makes the desk of a home; opens nothing yet.
 *
 * @param dir - The home's path, whether or not there is one.
 * @param gates - Where its gate comes from. Default: one of its own.
 */
export function openDesk(dir: string, invocation: Invocation, gates?: HookGates): HookDesk {
  let opening: Promise<HookGate> | undefined;
  let gate: HookGate | undefined;
  let own: Promise<AuditLog> | undefined;
  const openOwnLog = async (): Promise<AuditLog> => {
    const home = await openHome(dir);
    if (gates === undefined) await makeHookIndex(home);
    return openHomeAudit(home, { config: await readAuditConfig({ home, io: invocation.io }) });
  };
  // What failed once may work the next time.
  const ownLog = (): Promise<AuditLog> =>
    (own ??= openOwnLog().catch((error: unknown) => {
      own = undefined;
      throw error;
    }));
  const reports = new Map<string, Report>();
  const openGate = async (): Promise<HookGate> => {
    const opened = await openHookGate(dir, invocation, gates);
    gate = opened;
    return opened;
  };
  return {
    log: {
      append: async (events) =>
        existsSync(dir) ? (gate?.log ?? (await ownLog())).append(events) : NOT_KEPT,
    },
    async pauseOf(agent, wouldAsk) {
      if (!existsSync(dir)) return undefined;
      const home = await openHome(dir);
      const nowMs = Date.now();
      return (
        readAgentPause(home, { id: agent }, nowMs) ??
        (wouldAsk ? readPause(home, nowMs) : undefined)
      );
    },
    keepReport(key, report) {
      reports.set(key, report);
      const [oldest] = reports.keys();
      if (reports.size > REPORTS_MAX && oldest !== undefined) reports.delete(oldest);
    },
    takeReport(key) {
      const report = reports.get(key);
      reports.delete(key);
      return report;
    },
    gate() {
      opening ??= openGate().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    async [Symbol.asyncDispose]() {
      await opening?.catch(() => undefined);
      await gate?.[Symbol.asyncDispose]();
      await (await own?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
