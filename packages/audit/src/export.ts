/**
 * Export: a log, or what a filter lets through, as JSON lines, as CSV or in the plain format of ACP
 * v0.3. Format: spec/audit.md §10.
 */
import { canonicalJson, isoTime } from "@acp/core";
import { csvRow } from "./csv.js";
import type { AuditEvent } from "./event.js";
import { scanAuditLog } from "./log-index/scan.js";
import { onOneLine } from "./line-ends.js";
import { plainEntries, plainLine } from "./plain-format.js";
import { type ReadOptions, readRecords } from "./read.js";
import type { AuditRecord } from "./wanted-line.js";

/** Every format of an exported log. Source: spec/audit.md §10. */
export const EXPORT_FORMATS = [
  /** The log's own lines. */
  "jsonl",
  /** One row an event, with a header. */
  "csv",
  /** One line a decision, ACP v0.3 §6.2. */
  "v0.3",
] as const;

/** Format of an exported log: one of {@link EXPORT_FORMATS}. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Options of {@link exportAuditLog}. */
export interface ExportOptions extends ReadOptions {
  /** `jsonl`, `csv` or `v0.3`: see {@link ExportFormat}. */
  readonly format: ExportFormat;
}

/**
 * The log as text, line by line, each with its line end. No name in it can start a line of its own,
 * even for readers that end lines at more than a newline.
 *
 * @throws ConsentError `audit_failed` at a line that is not an event; `aborted` where the signal
 *   ended it.
 */
export async function* exportAuditLog(
  path: string,
  { format, ...options }: ExportOptions,
): AsyncGenerator<string> {
  // The log's own lines need not be parsed.
  if (format === "jsonl" && Object.keys(options.filter ?? {}).length === 0) {
    const lines = scanAuditLog(path, options, (line) => [`${onOneLine(line.text())}\n`]);
    for await (const each of lines) yield* each;
    return;
  }
  const write = WRITERS[format]();
  if (write.header !== undefined) yield write.header;
  for await (const record of readRecords(path, options)) {
    const line = write.line(record);
    if (line !== undefined) yield line;
  }
}

interface Writer {
  readonly header?: string;
  line(record: AuditRecord): string | undefined;
}

const WRITERS: Readonly<Record<ExportFormat, () => Writer>> = {
  jsonl: () => ({ line: ({ line }) => `${onOneLine(line)}\n` }),
  csv: () => ({
    header: csvRow(Object.keys(COLUMNS)),
    line: ({ event }) => csvRow(Object.values(COLUMNS).map((column) => column(event))),
  }),
  "v0.3": () => {
    const next = plainEntries();
    return {
      line({ event }) {
        const entry = next(event);
        return entry === undefined ? undefined : `${plainLine(entry)}\n`;
      },
    };
  },
};

const COLUMNS: Readonly<Record<string, (event: AuditEvent) => string | number>> = {
  seq: ({ seq }) => seq,
  timestamp: ({ atMs }) => isoTime(atMs),
  event_type: ({ eventType }) => eventType,
  decision: ({ decision }) => decision,
  agent: ({ agent }) => agent,
  tool: ({ tool }) => tool,
  category: ({ category }) => category,
  risk_level: ({ riskLevel }) => riskLevel,
  policy_rule: ({ policyRule }) => policyRule,
  request_id: ({ requestId }) => requestId,
  response_time_ms: ({ responseTimeMs }) => responseTimeMs,
  id: ({ id }) => id,
  metadata: ({ metadata }) => canonicalJson(metadata),
  event_hash: ({ hash }) => hash,
};
