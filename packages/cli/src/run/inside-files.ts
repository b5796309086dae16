/**
 * Inside files: what an agent finds of ours beside the sandbox's own files.
 */
import { fileURLToPath } from "node:url";
import { FETCH_PATCH_FILE } from "./agent-environment.js";

/** Name → path of this machine. */
export function insideFiles(): Readonly<Record<string, string>> {
  return { [FETCH_PATCH_FILE]: fileURLToPath(import.meta.resolve("@acp/proxy-http/fetch-patch")) };
}
