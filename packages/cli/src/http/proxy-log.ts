/**
 * Proxy log: what the proxy has to say while it runs, on stderr. A line for a person, or a JSON object for a program. What was decided stands in the
 * audit log, not here.
 */
import type { ProxyLogEntry } from "@acp/proxy-http";
import type { Invocation } from "../command.js";

/** Writes entries. */
export function createProxyLog({ io, print }: Pick<Invocation, "io" | "print">): (entry: ProxyLogEntry) => void {
  return (entry) => {
    const line = print.json ? JSON.stringify({ time: new Date().toISOString(), ...entry }) : `acp: ${lineOf(entry)}`;
    io.stderr.write(`${line}\n`);
  };
}

function lineOf({ event, text, agent, host, method, code }: ProxyLogEntry): string {
  const about = [method, host].filter((each) => each !== undefined && each !== "").join(" ");
  const who = agent === undefined ? "" : ` by ${agent}`;
  const end = code === undefined ? "" : ` [${code}]`;
  return event === "note" ? text : `${event.replace("_", " ")} ${about}${who}: ${text}${end}`;
}
