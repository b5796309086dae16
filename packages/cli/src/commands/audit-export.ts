/**
 * `acp audit export`: audit logs as text for other programs.
 */
import { once } from "node:events";
import { exportAuditLog } from "@acp/audit";
import type { ExportFormat } from "@acp/audit";
import { ConsentError } from "@acp/core";
import { auditFilesFor } from "../logs/log-files.js";
import { readFilter } from "../logs/log-filter.js";
import type { Run } from "../command.js";
import { homePath } from "../home/home-source.js";
import { selectFiles } from "../select-files.js";

const FORMATS: readonly string[] = ["jsonl", "csv", "v0.3"] satisfies readonly ExportFormat[];

/** Runs the command. */
export const auditExport: Run = async (invocation) => {
  const { values, io, print } = invocation;
  const format = readFormat(values.format ?? "jsonl");
  // The other formats are what --json means: one JSON object a line.
  if (print.json && format === "csv")
    throw new ConsentError(
      "options_invalid",
      "Cannot export CSV with --json: leave out --json, or write --format jsonl",
    );
  const filter = readFilter(invocation, Date.now());
  const named = await selectFiles(invocation, "audit logs");
  const files = await auditFilesFor(named, homePath({ values, io }));
  for (const [index, file] of files.entries()) {
    let isHeader = format === "csv";
    for await (const line of exportAuditLog(file, { format, filter })) {
      const isRepeated = isHeader && index > 0;
      isHeader = false;
      if (isRepeated) continue;
      // A reader that is slower than the disk must not fill the memory.
      if (!io.stdout.write(line)) await once(io.stdout, "drain");
    }
  }
  return "ok";
};

function readFormat(text: string): ExportFormat {
  if (isFormat(text)) return text;
  throw new ConsentError("options_invalid", `Cannot export as "${text}": write jsonl, csv or v0.3`);
}

function isFormat(text: string): text is ExportFormat {
  return FORMATS.includes(text);
}
