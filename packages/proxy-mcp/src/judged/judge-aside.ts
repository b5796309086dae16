/**
 * Judging what is no call of the client: a request of a server, one that stands in an answer, the
 * roots that a client tells. The same path through the gate as a call's. Rules: spec/mcp-proxy.md §18.
 */
import { reservedName } from "@acp/core";
import type { JsonObject } from "@acp/core";
import type { NoticeResult } from "../call-result.js";
import { resultLine } from "../rpc.js";
import type { Judging } from "./judging.js";

/** What is judged. */
export interface AsideParts {
  readonly server: string;
  readonly method: string;
  readonly args: JsonObject;
}

/** What came of it: a no, or a yes with what a person made of the arguments, if anything. */
export type Judged =
  | { readonly denied: NoticeResult }
  | { readonly changed: JsonObject | undefined };

const DONE = resultLine(0, {});

/** Asks the gate; nothing is sent. */
export function judgeAside(calls: Judging, { server, method, args }: AsideParts): Promise<Judged> {
  return new Promise((resolve) => {
    let judged: Judged | undefined;
    calls.begin(
      {
        id: 0,
        server,
        tool: reservedName(method),
        args,
        argumentChars: JSON.stringify(args).length,
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
        onOver() {},
      },
      // Whatever is said of it is said by whoever waits here.
      () => {
        if (judged !== undefined) resolve(judged);
      },
    );
  });
}
