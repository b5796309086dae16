/**
 * Audit logs of a home: one file a running gate, because a chain has one writer. Which file a gate
 * takes: docs/adr/0040-one-audit-chain-a-gate.md.
 */
import { join, resolve } from "node:path";
import { ConsentError } from "@acp/core";
import type { Invocation } from "../command.js";
import { listFolder } from "../home/list-folder.js";
import { selectFiles } from "../select-files.js";

const NAME = /^audit(?:\.(\d{1,4}))?\.jsonl$/;
/** Gates that may write logs of one home at a time. */
const LOGS_MAX = 64;

/** Name of the n-th log of a home, from 1: `audit.jsonl`, `audit.2.jsonl`, … */
export function auditFileName(number: number): string {
  return number === 1 ? "audit.jsonl" : `audit.${number}.jsonl`;
}

/** Whether a gate may write a log under this name: "audit.02.jsonl" would count a log twice. */
export function isLogName(name: string): boolean {
  return numberOf(name) !== undefined;
}

function numberOf(name: string): number | undefined {
  const match = NAME.exec(name);
  const number = Number(match?.[1] ?? "1");
  return match !== null && name === auditFileName(number) ? number : undefined;
}

/**
 * Paths of the home's logs, in the order of their numbers.
 *
 * @throws ConsentError `home_invalid` where the home is missing or cannot be read: that is not a
 *   home without logs.
 */
export async function listAuditFiles(home: string): Promise<readonly string[]> {
  const names = await listFolder(home);
  const numbered = names.flatMap((name) => {
    const number = numberOf(name);
    return number === undefined ? [] : [{ name, number }];
  });
  return numbered.sort((a, b) => a.number - b.number).map(({ name }) => join(home, name));
}

/** Every name a gate may take, in the order in which it tries them. */
export function auditFileNames(): readonly string[] {
  return Array.from({ length: LOGS_MAX }, (_, index) => auditFileName(index + 1));
}

/**
 * Paths of the audit logs that a command line names.
 *
 * @throws ConsentError `options_invalid` as `selectFiles()` does.
 */
export async function namedLogs(invocation: Invocation): Promise<readonly string[]> {
  const names = await selectFiles(invocation, "audit logs");
  return names.map((name) => resolve(invocation.io.cwd, name));
}

/**
 * The named files, or the home's logs.
 *
 * @throws ConsentError `home_invalid` where the home has none.
 */
export async function auditFilesFor(
  named: readonly string[],
  home: string,
): Promise<readonly string[]> {
  if (named.length > 0) return named;
  const files = await listAuditFiles(home);
  if (files.length === 0)
    throw new ConsentError(
      "home_invalid",
      `Cannot find an audit log in "${home}": no gate has run here yet; name a file, or start one with acp mcp`,
    );
  return files;
}
