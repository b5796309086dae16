/**
 * Proxy log: what the proxy has to say while it runs, on stderr. A line for a person, or a JSON
 * object for a program. What was decided stands in the audit log, not here.
 */
import { escapeText } from "@acp/core";
import type { ProxyLogEntry } from "@acp/proxy-http";
import type { Printer, Sink } from "../printer.js";

/** Where it writes. */
export interface ProxyLogParts {
  readonly print: Pick<Printer, "json">;
  readonly stderr: Sink;
}

/** Writes entries. */
export function createProxyLog({ print, stderr }: ProxyLogParts): (entry: ProxyLogEntry) => void {
  return (entry) => {
    const line = print.json
      ? JSON.stringify({ time: new Date().toISOString(), ...entry })
      : `acp: ${escapeText(lineOf(entry))}`;
    stderr.write(`${line}\n`);
  };
}

function lineOf({ event, text, agent, host, method, code }: ProxyLogEntry): string {
  const about = [method, host].filter((each) => each !== undefined && each !== "").join(" ");
  const who = agent === undefined ? "" : ` by ${agent}`;
  const end = code === undefined ? "" : ` [${code}]`;
  return event === "note" ? text : `${event.replace("_", " ")} ${about}${who}: ${text}${end}`;
}
