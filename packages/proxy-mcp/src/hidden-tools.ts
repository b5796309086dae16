/**
 * Hidden tools: those that the gate denies whatever their arguments are left out of lists, where the
 * operator wants that. Calls by name are judged and logged as ever. Rules: spec/mcp-proxy.md §16.
 */
import { isConsentError, toolAction } from "@acp/core";
import type { ConsentGate } from "@acp/core";
import { replaceValues } from "./json-walk.js";
import { isRecord, resultOf } from "./message.js";
import { notificationLine } from "./rpc.js";

/** Of which servers tools are hidden. */
export interface HideDenied {
  /** Names of the servers. */
  readonly servers: ReadonlySet<string>;
  /**
   * Has a listener called when another policy may be in force; returns how to end that. Left out: no
   * policy changes.
   */
  readonly onChange?: (listener: () => void) => () => void;
}

/** The tools of one server that its client does not see. */
export interface HiddenTools {
  /** Whether a tool is to be left out of a list now. */
  hides(tool: string): boolean;
  /** Its answer to `initialize`, which says that its list of tools changes. */
  declare(line: Buffer): Buffer;
  /** Ends it. */
  close(): void;
}

/** Tools of one client whose state is remembered, to tell it of changes. */
const SHOWN_MAX = 10_000;

/**
 * Follows what the gate denies.
 *
 * @param send - Sends a line to the client: the list of tools is another one now.
 * @returns `undefined` where this server's tools are all shown.
 */
export function createHiddenTools(
  server: string,
  {
    gate,
    hideDenied,
  }: { readonly gate: ConsentGate; readonly hideDenied?: HideDenied | undefined },
  send: (line: Buffer) => void,
): HiddenTools | undefined {
  if (hideDenied?.servers.has(server) !== true) return undefined;
  /** By tool, what its client was last told. */
  const shown = new Map<string, boolean>();
  const isHidden = (tool: string): boolean => {
    try {
      return gate.deniesAll(toolAction(server, tool, {}));
    } catch (error) {
      // A name that no action can have: no call of it gets as far as the policy.
      if (isConsentError(error)) return false;
      throw error;
    }
  };
  const look = (): void => {
    if ([...shown].some(([tool, was]) => isHidden(tool) !== was))
      send(notificationLine("notifications/tools/list_changed", undefined));
  };
  const end = hideDenied.onChange?.(look);
  return {
    hides(tool) {
      const isNow = isHidden(tool);
      if (shown.size < SHOWN_MAX || shown.has(tool)) shown.set(tool, isNow);
      return isNow;
    },
    declare(line) {
      const result = resultOf(line);
      const capabilities = isRecord(result) ? result.capabilities : undefined;
      const tools = isRecord(capabilities) ? capabilities.tools : undefined;
      if (!isRecord(tools) || tools.listChanged === true) return line;
      const path = ["result", "capabilities", "tools"];
      return replaceValues(line, [{ path, value: { ...tools, listChanged: true } }]);
    },
    close: () => end?.(),
  };
}
