/**
 * `acp audit show`: the last events of a log, or of all logs of the home by time, and those that
 * follow.
 */
import { once } from "node:events";
import { readNextSeq } from "@acp/audit";
import type { AuditEvent, AuditFilter } from "@acp/audit";
import { ConsentError } from "@acp/core";
import { homePaths } from "@acp/home";
import { eventLines } from "../logs/event-text.js";
import { readIndexKey } from "../logs/index-key.js";
import { lastEvents } from "../logs/last-events.js";
import type { WantedEvents } from "../logs/last-events.js";
import { auditFilesFor, listAuditFiles, namedLogs } from "../logs/log-files.js";
import { readFilter } from "../logs/log-filter.js";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { followLogs } from "../logs/follow-logs.js";
import { homePath } from "../home/home-source.js";

const LIMIT = 20;

/** Runs the command. */
export const auditShow: Run = async (invocation) => {
  const { values, flags, io, print } = invocation;
  const limit = readLimit(values.limit);
  const nowMs = Date.now();
  const filter = readFilter(invocation, nowMs);
  const named = await namedLogs(invocation);
  const home = homePath({ values, io });
  const indexKey = await readIndexKey(homePaths(home));
  if (flags.has("follow")) return follow(invocation, named, { limit, filter, indexKey, nowMs });
  const files = await auditFilesFor(named, home);
  for await (const event of lastEvents({ files, limit, filter, indexKey, nowMs })) {
    const lines = print.json ? [JSON.stringify(event)] : eventLines(event, print);
    // A reader that is slower than the disk must not fill the memory.
    if (!io.stdout.write(`${lines.join("\n")}\n`)) await once(io.stdout, "drain");
  }
  return "ok";
};

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT;
  if (!/^\d{1,9}$/.test(text))
    throw new ConsentError(
      "options_invalid",
      `Cannot read --limit "${text}": write a whole number; 0 shows all`,
    );
  return Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text);
}

type Wanted = Omit<WantedEvents, "files"> & { readonly filter: AuditFilter };

/**
 * What is there, then every event as it becomes durable, until a signal; also of logs that appear
 * meanwhile.
 */
async function follow(
  { values, io, print }: Invocation,
  named: readonly string[],
  wanted: Wanted,
): Promise<Exit> {
  const signal = io.onStop();
  const home = homePath({ values, io });
  const list = (): Promise<readonly string[]> =>
    named.length === 0 ? listAuditFiles(home) : Promise.resolve(named);
  const there = await list();
  const show = (event: AuditEvent): void => print.result(event, () => eventLines(event, print));
  // Looked up before the events are read: what is written in between comes twice, not never.
  const fromSeqs = new Map(
    await Promise.all(there.map(async (file) => [file, await readNextSeq(file)] as const)),
  );
  // Only what comes twice has to be known again, and that is after these numbers.
  const hashes = new Set<string>();
  for await (const event of lastEvents({ ...wanted, files: there })) {
    show(event);
    if (event.seq >= leastOf(fromSeqs)) hashes.add(event.hash);
  }
  const onEvent = (event: AuditEvent): void => {
    if (!hashes.has(event.hash)) show(event);
  };
  await followLogs({ list, fromSeqs, filter: wanted.filter, signal, onEvent });
  return "ok";
}

const leastOf = (fromSeqs: ReadonlyMap<string, number>): number => Math.min(...fromSeqs.values());
