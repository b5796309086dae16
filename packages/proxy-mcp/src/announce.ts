/** Announce: tells a client that what a server lists may be another than it was. */
import { isRecord } from "./message.js";
import { notificationLine } from "./rpc.js";

const LISTS = ["tools", "prompts", "resources"] as const;

/** One notification for each list that a server with these capabilities has. */
export function announce(
  capabilities: Readonly<Record<string, unknown>>,
  send: (line: Buffer) => void,
): void {
  for (const list of LISTS)
    if (isRecord(capabilities[list]))
      send(notificationLine(`notifications/${list}/list_changed`, undefined));
}
