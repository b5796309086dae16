/**
 * Left of home: what a resident that died left open in its home, taken over once by the next one for
 * all of its configurations. A client's questions are its own whichever configuration it comes back
 * with, and none is another's. Format: spec/resident.md §5.3.
 */
import { createConsentGate } from "@acp/core";
import { machineClock } from "@acp/home";
import type { PendingFiles } from "@acp/home";
import { isForwarded, loggedOf } from "../gate/forwarded.js";
import { openHomePending } from "../gate/home-store.js";
import { createLeftQuestions } from "../gate/left-questions.js";
import type { LeftQuestions } from "../gate/left-questions.js";
import type { Notices } from "../gate/notices.js";
import { recordKeyOf, sayIgnored } from "../gate/shared-gate.js";
import type { SharedGate, WithGateParts } from "../gate/shared-gate.js";

/** What was left. */
export interface LeftOfHome extends AsyncDisposable {
  readonly files: PendingFiles;
  readonly questions: LeftQuestions;
  /** Says once how much of it does not count. */
  tellIgnored(notices: Notices): void;
  /** Ends what no client came back for, in the log of this configuration. */
  endUnclaimed(shared: SharedGate): Promise<void>;
}

/**
 * Takes it over.
 *
 * @throws ConsentError as `openHomePending`.
 */
export async function openLeftOfHome({
  home,
  homeKeys,
}: Pick<WithGateParts, "home" | "homeKeys">): Promise<LeftOfHome> {
  const files = await openHomePending(home, await recordKeyOf(home, homeKeys));
  const questions = createLeftQuestions({
    left: files.left,
    store: files,
    isForwarded: (ids) => isForwarded(home.dir, ids),
  });
  let { ignored } = files;
  return {
    files,
    questions,
    tellIgnored(notices) {
      sayIgnored(notices, { ignored, onIgnoredGrants: () => undefined });
      ignored = 0;
    },
    async endUnclaimed({ channel, sink: audit, recordKey, lastEventMs, kept }) {
      const pending = questions.unclaimed();
      const logged = await loggedOf(home.dir, files);
      await using gate = createConsentGate({
        channel,
        audit,
        store: { ...kept.store, pending },
        clock: machineClock,
        recordKey,
        ...(lastEventMs !== undefined && { lastEventMs }),
      });
      await gate.resume({ ...logged, areCallersGone: true });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(files[Symbol.asyncDispose]()),
  };
}
