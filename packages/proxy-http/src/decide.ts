/**
 * Deciding: one request to the gate, held until a person answered or the gate's deadline is over,
 * and performed with what was released.
 */
import {
  type ConsentGate,
  type HttpAction,
  httpAction,
  isConsentError,
  type Release,
} from "@acp/core";
import type { Caller } from "./caller.js";
import { makeDenial, makeRefusal, type Refusal, refusalOfDenied, refused } from "./refusals.js";
import { placeholderHeaders } from "./secret-headers.js";

/** One question to the gate. */
export interface Asking {
  readonly action: HttpAction;
  readonly caller: Caller;
  /** Aborts when the agent's connection is gone. */
  readonly signal: AbortSignal;
  /** Why it would be refused after a yes: nobody is asked about it. */
  readonly obstacle?: string | undefined;
}

/**
 * Decides, and performs what was allowed: `perform` runs at most once, after the log says so, and
 * settles when the last byte has passed. It sends what `release.action` says, which a person may
 * have edited: its method, URL, host and port, and its headers by `fillHeaders`.
 *
 * @returns The refusal to answer with, or `undefined` where it was performed. Never rejects for a
 *   no; rejects with what `perform` throws.
 */
export type Decide = (
  asking: Asking,
  perform: (release: Release) => Promise<void>,
) => Promise<Refusal | undefined>;

/** Parts of {@link createDecide}. */
export interface DecideOptions {
  /** Asked for every caller that has no gate of its own. */
  readonly gate: Pick<ConsentGate, "run">;
  /** Takes one line about what the agent is not told. */
  readonly log?: (line: string) => void;
}

/** The head of one request, as far as it is judged. */
export interface RequestHead {
  readonly method: string;
  /** The absolute URL; `host:port` for CONNECT. */
  readonly target: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
}

/**
 * The Action of a request: method, target, and the headers that hold a secret's placeholder.
 *
 * @throws RefusedError `request_invalid`.
 */
export function actionOf({ method, target, rawHeaders }: RequestHead): HttpAction {
  const headers = placeholderHeaders(rawHeaders);
  if (method.toUpperCase() === "CONNECT" && Object.keys(headers).length > 0)
    throw refused(
      "request_invalid",
      "a tunnel hides its headers, so no secret can be put into them",
    );
  try {
    return httpAction(method, target, { headers });
  } catch (error) {
    if (!isConsentError(error)) throw error;
    throw refused("request_invalid", error.message, { cause: error });
  }
}

/** Makes the decider of a gate. */
export function createDecide({ gate, log = () => {} }: DecideOptions): Decide {
  return async ({ action, caller, signal, obstacle }, perform) => {
    const { agent, session, gate: own = gate } = caller;
    let isPerforming = false;
    const start = (release: Release): Promise<void> => {
      isPerforming = true;
      return perform(release);
    };
    try {
      const result = await own.run(action, start, {
        agent,
        signal,
        obstacle,
        ...(session === undefined ? {} : { session }),
      });
      if (!result.ran) return refusalOfDenied(result.verdict);
      if (!result.recorded) log("the audit log could not keep that a request is completed");
      return undefined;
    } catch (error) {
      if (isPerforming) throw error;
      for (const code of ["key_locked", "index_rebuilding"] as const)
        if (isConsentError(error, code)) return makeRefusal(code, error.message);
      log(`the gate failed: ${error instanceof Error ? error.message : String(error)}`);
      return makeDenial("internal_error", "the gate failed");
    }
  };
}
