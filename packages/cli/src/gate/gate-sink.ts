/**
 * Where a gate writes its events: its chained log, and with `audit.format: v0.3` also the plain log
 * of that format beside it.
 */
import { openPlainLog, teeSinks } from "@acp/audit";
import type { AuditLog } from "@acp/audit";
import type { AuditSink } from "@acp/core";
import { DEFAULT_AUDIT_CONFIG } from "@acp/home";
import type { AuditConfig } from "@acp/home";
import type { Printer } from "../printer.js";

/** The sink of one gate. */
export interface GateSink extends AsyncDisposable {
  readonly sink: AuditSink;
}

/** `audit.2.jsonl` has `audit.2.v0.3.jsonl` beside it. */
export function plainLogPath(path: string): string {
  return path.replace(/\.jsonl$/, ".v0.3.jsonl");
}

/**
 * Opens what stands beside the chained log.
 *
 * @throws ConsentError `audit_failed`, `audit_busy`.
 */
export async function openGateSink(
  audit: AuditLog,
  config: AuditConfig | undefined,
  print: Printer,
): Promise<GateSink> {
  const { format } = config ?? DEFAULT_AUDIT_CONFIG;
  if (format === "v0.2") return { sink: audit, [Symbol.asyncDispose]: () => Promise.resolve() };
  const plain = await openPlainLog({ path: plainLogPath(audit.path) });
  if (plain.recovered !== undefined)
    print.notice(`${plain.path}: a line that a crash had cut short was removed`);
  return { sink: teeSinks(audit, plain), [Symbol.asyncDispose]: () => plain.close() };
}
