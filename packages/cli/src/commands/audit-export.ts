/**
 * `acp audit export`: audit logs as text for other programs.
 */
import { once } from "node:events";
import { EXPORT_FORMATS, exportAuditLog, type ExportFormat } from "@acp/audit";
import { ConsentError } from "@acp/core";
import { homePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { auditFilesFor, namedLogs } from "../logs/log-files.js";
import { readFilter } from "../logs/log-filter.js";
import type { Run } from "../command.js";
import { homePath } from "../home/home-source.js";

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
  const nowMs = Date.now();
  const filter = readFilter(invocation, nowMs);
  const named = await namedLogs(invocation);
  const home = homePath({ values, io });
  const indexKey = await readIndexKey(homePaths(home));
  const files = await auditFilesFor(named, home);
  let text = "";
  const flush = async (): Promise<void> => {
    // A reader that is slower than the disk must not fill the memory.
    if (!io.stdout.write(text)) await once(io.stdout, "drain");
    text = "";
  };
  try {
    for (const [index, file] of files.entries()) {
      let isHeader = format === "csv";
      for await (const line of exportAuditLog(file, { format, filter, indexKey, nowMs })) {
        const isRepeated = isHeader && index > 0;
        isHeader = false;
        if (isRepeated) continue;
        text += line;
        if (text.length > WRITE_CHARS) await flush();
      }
    }
  } finally {
    // What stands before a bad line is written, too.
    await flush();
  }
  return "ok";
};

/** Written at once: a write for each line takes longer than reading it. */
const WRITE_CHARS: number = 64 * 1024;

function readFormat(text: string): ExportFormat {
  const format = EXPORT_FORMATS.find((each) => each === text);
  if (format !== undefined) return format;
  const formats = `${EXPORT_FORMATS.slice(0, -1).join(", ")} or ${EXPORT_FORMATS.at(-1)}`;
  throw new ConsentError("options_invalid", `Cannot export as "${text}": write ${formats}`);
}
