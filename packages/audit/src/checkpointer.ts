/**
 * Checkpointer: signs how far the log has come, on a schedule and at its end, and hands that to
 * every witness. Never holds up an append.
 */
import type { AuditEventType, JsonObject } from "@acp/core";
import type { KeptGroup } from "./after-release.js";
import { signCheckpoint } from "./checkpoint.js";
import { causeText } from "./errors.js";
import type { NoteSigner } from "./note.js";
import type { GrowingTree } from "./tree-edge.js";
import type { Witness } from "./witness.js";

/** When checkpoints are made. */
export interface CheckpointSchedule {
  /** Number of events after which a checkpoint is made; 1,000 unless given. */
  readonly everyEvents?: number;
  /** Milliseconds that an event may wait for a checkpoint; 60,000 unless given. */
  readonly everyMs?: number;
}

/** What a checkpointer works with. */
export interface CheckpointerParts {
  readonly origin: string;
  /** What signs now. */
  readonly signer: () => NoteSigner;
  /** Tree of the events so far. */
  readonly tree: GrowingTree;
  /** How many of them the last checkpoint covers. */
  readonly covered: number;
  readonly schedule: CheckpointSchedule;
  readonly witnesses: readonly Witness[];
  /** Puts an event into the log; may fail when the log ends. */
  readonly record: (eventType: AuditEventType, metadata: JsonObject) => Promise<unknown>;
}

/** Checkpoints of one open log. */
export interface Checkpointer {
  /** Takes lines that are durable. */
  add(group: Pick<KeptGroup, "lines">): void;
  /** Signs now; resolves with the note when every witness has it or has failed. */
  publish(): Promise<string>;
  /** How many events every witness has: what it took in this process, the least of them. */
  witnessed(): number;
  /** Signs what is not covered yet and waits for the witnesses, within reason. Never rejects. */
  close(): Promise<void>;
}

const EVERY_EVENTS = 1_000;
const EVERY_MS = 60_000;
const PUBLISH_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;

/** Makes the checkpoints of one log. */
export function createCheckpointer({
  origin,
  signer,
  tree,
  covered,
  schedule,
  witnesses,
  record,
}: CheckpointerParts): Checkpointer {
  const { everyEvents = EVERY_EVENTS, everyMs = EVERY_MS } = schedule;
  const closing = new AbortController();
  const posts = witnesses.map((witness) =>
    createPost(witness, { record, closing: closing.signal }),
  );
  const taken = witnesses.map(() => 0);
  let signedSize = covered;
  let timer: NodeJS.Timeout | undefined;

  function sign(): { readonly note: string; readonly kept: Promise<unknown> } {
    clearTimeout(timer);
    timer = undefined;
    const size = tree.size();
    signedSize = size;
    const note = signCheckpoint({ origin, size, root: tree.root(), edge: tree.edge() }, signer());
    const keep = async (post: Post, at: number): Promise<void> => {
      if (await post(note)) taken[at] = Math.max(taken[at] ?? 0, size);
    };
    return { note, kept: Promise.all(posts.map(keep)) };
  }

  return {
    add({ lines }) {
      for (const { leaf } of lines) tree.addHash(leaf);
      if (tree.size() - signedSize >= everyEvents) sign();
      else timer ??= setTimeout(sign, everyMs).unref();
    },
    async publish() {
      const { note, kept } = sign();
      await kept;
      return note;
    },
    witnessed: () => Math.min(...taken),
    async close() {
      clearTimeout(timer);
      const limit = setTimeout(
        () => closing.abort(new Error("the log is closing")),
        CLOSE_TIMEOUT_MS,
      );
      await (tree.size() > signedSize
        ? sign().kept
        : Promise.all(posts.map((post) => post(undefined))));
      clearTimeout(limit);
    },
  };
}

/** Sends a note, or waits for those that wait; whether the witness took the last of them. */
type Post = (note: string | undefined) => Promise<boolean>;

/**
 * Hands checkpoints to one witness, one at a time; of those that wait only the newest, because it
 * covers the others. Resolves, never rejects, when the one given is kept, replaced by a newer one,
 * or lost. That a witness fails, and that it works again, is recorded once.
 */
function createPost(
  witness: Witness,
  {
    record,
    closing,
  }: { readonly record: CheckpointerParts["record"]; readonly closing: AbortSignal },
): Post {
  let waiting: string | undefined;
  let isFailing = false;
  let running: Promise<boolean> | undefined;

  async function run(): Promise<boolean> {
    while (waiting !== undefined) {
      const note = waiting;
      waiting = undefined;
      const failure = await publishOnce(witness, note, closing);
      const isChange = isFailing === (failure === undefined);
      isFailing = failure !== undefined;
      if (!isChange) continue;
      const event = isFailing ? "witness_failed" : "witness_restored";
      // Not awaited: the log may be ending, or be what fails.
      record(event, {
        witness: witness.name,
        ...(failure === undefined ? {} : { reason: failure }),
      }).catch(() => {});
    }
    running = undefined;
    return !isFailing;
  }

  return (note) => {
    waiting = note ?? waiting;
    if (waiting !== undefined) running ??= run();
    return running ?? Promise.resolve(!isFailing);
  };
}

/** Why it was not kept. */
async function publishOnce(
  witness: Witness,
  note: string,
  closing: AbortSignal,
): Promise<string | undefined> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(PUBLISH_TIMEOUT_MS)]);
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    signal.throwIfAborted();
    await Promise.race([witness.publish(note, signal), aborted]);
    return undefined;
  } catch (error) {
    return causeText(error);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
