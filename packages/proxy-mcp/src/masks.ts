/**
 * Masks: the secrets that a gate has shown to know, taken out of everything that servers say. A
 * server that was given a value can say it in any message, and what one server stored another can
 * read back. Rules: spec/mcp-proxy.md §9.
 */
import type { Masker, Release } from "@acp/core";
import type { LineSplitter } from "./framing.js";
import { maskLine } from "./mask-line.js";
import { INTERNAL_ERROR } from "./rpc.js";
import type { RpcError } from "./rpc.js";

/** Of a release: the secrets that it knows. */
export type Known = Pick<Release, "masker">;

/** What all servers of a proxy are masked with. */
export interface Masks {
  /** From now on what this release knows is masked. */
  learn(release: Known): void;
  /** Tells of each release that is learnt from now on, until it is ended. */
  follow(learn: (release: Known) => void): Disposable;
  /**
   * A server's line as it may be heard; `undefined` where a value cannot be taken out of it.
   *
   * @param keepsId - Whether the message's id is one that the client gave.
   */
  line(line: Buffer, keepsId: () => boolean): Buffer | undefined;
  /**
   * The answer to the call that was released, where later calls were released since and may know
   * less.
   */
  answer(line: Buffer, release: Release): Buffer | undefined;
  /** A splitter whose input is masked as one stream: a value may have several lines. */
  stream(splitter: LineSplitter): MaskedStream;
}

/** A stream that is masked before it is split into lines. */
export interface MaskedStream extends LineSplitter {
  /**
   * Nothing came for a while: lines that are complete come out, unless a value of several lines is
   * under way.
   */
  settle(): void;
}

const EMPTY: Uint8Array = new Uint8Array(0);

/**
 * Masks that know what `first` knows until a call is released.
 *
 * @param first - Makes a masker of the secrets known from the start; `undefined` where there are
 *   none.
 */
export function createMasks(first: () => Masker | undefined = () => undefined): Masks {
  let latest: Source = { make: first };
  let masker = first();
  const followers = new Set<(release: Known) => void>();
  return {
    learn(release): void {
      const known = release.masker();
      // A vault that was emptied takes no value back that is out already.
      if (known === undefined) return;
      latest = { release, make: () => release.masker() };
      masker = known;
      for (const tell of followers) tell(release);
    },
    follow(learn) {
      const tell = (release: Known): void => learn(release);
      followers.add(tell);
      return { [Symbol.dispose]: () => void followers.delete(tell) };
    },
    line: (line, keepsId) => (masker === undefined ? line : maskLine(line, masker, keepsId)),
    answer(line, release): Buffer | undefined {
      const known = release === latest.release ? undefined : release.masker();
      return known === undefined ? line : maskLine(line, known, () => true);
    },
    stream: (splitter) => maskedStream(splitter, () => latest),
  };
}

/** Where maskers come from; another object for each release. */
interface Source {
  readonly release?: Known;
  readonly make: () => Masker | undefined;
}

function maskedStream(splitter: LineSplitter, latest: () => Source): MaskedStream {
  let source = latest();
  let masker = source.make();
  const push = (bytes: Uint8Array): void => {
    if (bytes.length > 0) splitter.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  };
  return {
    push(chunk): void {
      let held = EMPTY;
      if (latest() !== source) {
        // What one masker held back may be the beginning of a value for the next one too.
        held = masker?.end() ?? EMPTY;
        source = latest();
        masker = source.make();
      }
      push(
        masker === undefined
          ? chunk
          : masker.push(held.length === 0 ? chunk : Buffer.concat([held, chunk])),
      );
    },
    settle(): void {
      push(masker?.settle() ?? EMPTY);
    },
    end(): void {
      push(masker?.end() ?? EMPTY);
      splitter.end();
    },
  };
}

/** What is told instead of a message that cannot be masked. */
export function unmaskable(server: string): RpcError {
  return {
    code: INTERNAL_ERROR,
    message: `Cannot pass on what server "${server}" said: it holds a secret across several values`,
    data: { code: "secret_in_answer", server },
  };
}
