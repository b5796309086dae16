/**
 * Judging what is no call of the client: a request of a server, one that stands in an answer, the
 * roots that a client tells. The same path through the gate as a call's. Rules: spec/mcp-proxy.md §18.
 */
import { reservedName } from "@acp/core";
import type { JsonObject } from "@acp/core";
import { unavailableResult } from "../call-result.js";
import type { NoticeResult } from "../call-result.js";
import { fullResult } from "../in-flight.js";
import { resultLine } from "../rpc.js";
import type { Judging } from "./judging.js";

/** What is judged. */
export interface AsideParts {
  readonly server: string;
  readonly method: string;
  readonly args: JsonObject;
  /** Nobody wants to know any more. */
  readonly signal?: AbortSignal | undefined;
}

/** What came of it: a no, or a yes with what a person made of the arguments, if anything. */
export type Judged =
  | { readonly denied: NoticeResult }
  | { readonly changed: JsonObject | undefined };

const DONE = resultLine(0, {});

/** Asks the gate; nothing is sent. What nobody wants to know any more is a no. */
export function judgeAside(
  calls: Judging,
  { server, method, args, signal }: AsideParts,
): Promise<Judged> {
  const reason = "the call was given up";
  const givenUp = { denied: unavailableResult({ server, reason }, false) };
  if (signal?.aborted === true) return Promise.resolve(givenUp);
  const { length } = JSON.stringify(args);
  const place = calls.room?.enter({ bytes: length, isCall: true });
  if (place !== undefined && "full" in place)
    return Promise.resolve({ denied: fullResult(place.full) });
  return new Promise((resolve) => {
    let judged: Judged | undefined;
    const stop = (): void => {
      call.cancel();
      resolve(givenUp);
    };
    const call = calls.begin(
      {
        id: 0,
        server,
        tool: reservedName(method),
        args,
        argumentChars: length,
        progressToken: undefined,
        typedResults: false,
        definition: () => Promise.resolve(undefined),
        forward(changed, onAnswer): void {
          judged = { changed };
          onAnswer(DONE);
        },
        tell(denied): Buffer {
          judged = { denied };
          return DONE;
        },
        onOver(): void {
          signal?.removeEventListener("abort", stop);
          place?.leave();
        },
      },
      // Whatever is said of it is said by whoever waits here.
      () => {
        if (judged !== undefined) resolve(judged);
      },
    );
    signal?.addEventListener("abort", stop, { once: true });
  });
}
