/**
 * Held changes: what somebody outside does to files that are held while an agent runs. A person is
 * told, and the log; at the end, and after a crash, such a file counts as theirs.
 */
import type { HeldAgent } from "@acp/sandbox-linux";
import { afterChange, sayChange } from "./left-behind.js";
import type { WorkspaceBefore } from "./left-behind.js";
import type { LeftRecord } from "./left-record.js";

/** What a workspace was like before, and what is told of its changes. */
export interface HeldChangesParts {
  readonly before: WorkspaceBefore;
  readonly record: Pick<LeftRecord, "keep">;
  readonly say: (text: string) => void;
}

/** Follows them. Returns what counts as known by now. */
export function followChanges(
  { onHeldName }: Pick<HeldAgent, "onHeldName">,
  { before, record, say }: HeldChangesParts,
): () => WorkspaceBefore {
  let known = before;
  onHeldName?.((change) => {
    known = afterChange(known, change);
    record.keep(known);
    say(sayChange(change, before.path));
  });
  return () => known;
}
