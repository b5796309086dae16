/**
 * Composing channels: several ones as one. They only pass on: what an answer is worth is the gate's
 * to say, and when a question ends every channel that shows it hears so from its own session.
 */
import { ConsentError } from "../errors.js";
import { ASK_TIMEOUT_MS_MAX, PART_TIMEOUT_MS } from "../limits.js";
import type { Channel } from "../ports.js";
import { systemClock } from "../system.js";
import {
  channelName,
  type Composite,
  compositeOf,
  joinLeaves,
  markComposite,
  showOn,
  type Showing,
  undelivered,
} from "./composite.js";
import { showInSteps } from "./show-in-steps.js";
import type { Clock } from "../types/clock.js";

/**
 * One stage of an escalation: when a channel begins to show the question, and who may answer from
 * then on.
 */
export interface EscalationStage {
  /** Where the question is shown at this stage. */
  readonly channel: Channel;
  /**
   * Milliseconds after the question was asked at which the stage begins; 0 unless given, at most a
   * week.
   */
  readonly afterMs?: number;
  /**
   * Ids or group names of the gate's approvers who may answer from this stage on. Name them for
   * every stage or for none: then all may answer from the start.
   */
  readonly approvers?: readonly string[];
}

/** The ways to make one channel of several. */
export interface Composer {
  /**
   * Shows a question on the first channel that can. A channel that fails, or takes longer than 30
   * s, is followed by the next.
   *
   * @throws ConsentError `options_invalid` where no channel is given, or one of them escalates.
   */
  firstOf(...channels: readonly Channel[]): Channel;
  /**
   * Shows a question on every channel; it counts as delivered when one of them shows it. The first
   * answer that ends the question ends it everywhere.
   *
   * @throws ConsentError `options_invalid` where no channel is given, or one of them escalates.
   */
  toAll(...channels: readonly Channel[]): Channel;
  /**
   * Shows a question on the first stage's channel, and on each later one when its time has come, or
   * at once where no channel before it could show the question. People of a later stage cannot
   * answer earlier: the gate enforces that, whatever the channel says. Time counts from when the
   * question was asked, also across restarts. No other composition takes the result: put `escalate`
   * outermost.
   *
   * @throws ConsentError `options_invalid` for no stages, a first stage that does not start at
   *   once, stages out of order or beyond a week, or approvers for only some of them.
   */
  escalate(stages: readonly EscalationStage[]): Channel;
}

const refused = (why: string): ConsentError =>
  new ConsentError("options_invalid", `Cannot compose channels: ${why}`);

function checkMembers(channels: readonly Channel[]): void {
  if (channels.length === 0) throw refused("there are none");
  if (channels.some((channel) => (compositeOf(channel)?.steps.length ?? 0) > 0))
    throw refused("one that escalates is part of another one; put escalate() outside");
}

const nameOf = (how: string, channels: readonly Channel[]): string =>
  `${how}-${channels.map(channelName).join("-")}`;

const join = (showings: readonly Showing[]): Showing => ({
  shown: showings.flatMap(({ shown }) => shown),
  failed: showings.flatMap(({ failed }) => failed),
});

function checkStages(
  stages: readonly EscalationStage[],
): readonly [EscalationStage, ...EscalationStage[]] {
  checkMembers(stages.map(({ channel }) => channel));
  const times = stages.map(({ afterMs = 0 }) => afterMs);
  if (times[0] !== 0) throw refused("the first stage does not start at once");
  if (!times.every((ms) => Number.isFinite(ms) && ms >= 0 && ms <= ASK_TIMEOUT_MS_MAX))
    throw refused("a stage's time is not within a week");
  if (!times.every((ms, at) => at === 0 || ms > (times[at - 1] ?? 0)))
    throw refused("the stages are not in ascending order of afterMs");
  const named = stages.filter(({ approvers }) => approvers !== undefined).length;
  if (named > 0 && named < stages.length)
    throw refused("some stages name approvers and some do not; name them in all stages or in none");
  const [first, ...later] = stages;
  if (first === undefined) throw refused("there are none");
  return [first, ...later];
}

/**
 * A channel that is silent for too long counts as failed; where it shows the question later all the
 * same, its answers are as good as any.
 */
async function showInTime(
  clock: Clock,
  channel: Channel,
  what: Parameters<typeof showOn>[1],
): Promise<Showing> {
  const stop = new AbortController();
  const silent = clock.sleep(PART_TIMEOUT_MS, { signal: stop.signal, background: true }).then(
    (): Showing => ({
      shown: [],
      failed: [
        {
          channel: channelName(channel),
          error: new Error(`it did not respond for ${PART_TIMEOUT_MS} ms`),
        },
      ],
    }),
    (): Showing => ({ shown: [], failed: [] }),
  );
  const showing = await Promise.race([showOn(channel, what), silent]);
  stop.abort(new Error("shown"));
  return showing;
}

/**
 * A channel that does what its composite does, for whoever is no gate; a gate takes the composite
 * itself.
 */
function makeComposite(clock: Clock, name: string, composite: Composite): Channel {
  const channel: Channel = {
    name,
    async deliver(request, session) {
      const over = new AbortController();
      void session.ended.then(() => over.abort(new Error("the question is over")));
      const { shown, failed } = await showInSteps({
        clock,
        createdAtMs: request.createdAtMs,
        steps: composite.steps,
        reached: 0,
        over: over.signal,
        show: (step, skip) =>
          step === undefined
            ? composite.show(request, session, skip)
            : showInTime(clock, step.channel, { request, session, skip }),
        reach: () => Promise.resolve(true),
      });
      if (shown.length === 0 && !over.signal.aborted) throw undelivered(failed);
    },
  };
  markComposite(channel, composite);
  return channel;
}

function makeFirstOf(clock: Clock, channels: readonly Channel[]): Channel {
  checkMembers(channels);
  const show: Composite["show"] = async (request, session, skip) => {
    let over = false;
    void session.ended.then(() => (over = true));
    const tried: Showing[] = [];
    for (const channel of channels) {
      const showing = await showInTime(clock, channel, { request, session, skip });
      tried.push(showing);
      if (showing.shown.length > 0 || over) break;
    }
    return join(tried);
  };
  return makeComposite(clock, nameOf("first", channels), {
    leaves: joinLeaves(channels),
    show,
    steps: [],
  });
}

function makeToAll(clock: Clock, channels: readonly Channel[]): Channel {
  checkMembers(channels);
  const show: Composite["show"] = async (request, session, skip) =>
    join(
      await Promise.all(
        channels.map((channel) => showInTime(clock, channel, { request, session, skip })),
      ),
    );
  return makeComposite(clock, nameOf("all", channels), {
    leaves: joinLeaves(channels),
    show,
    steps: [],
  });
}

function makeEscalate(clock: Clock, stages: readonly EscalationStage[]): Channel {
  const [first, ...later] = checkStages(stages);
  const channels = stages.map(({ channel }) => channel);
  return makeComposite(clock, nameOf("escalate", channels), {
    leaves: joinLeaves(channels),
    show: (request, session, skip) => showOn(first.channel, { request, session, skip }),
    steps: later.map(({ channel, afterMs = 0, approvers }) => ({
      channel,
      afterMs,
      ...(approvers === undefined ? {} : { approvers }),
    })),
    ...(first.approvers === undefined ? {} : { approvers: first.approvers }),
  });
}

/** The compositions, with a clock other than the process's, as for tests. */
export function composeWith(clock: Clock): Composer {
  return {
    firstOf: (...channels) => makeFirstOf(clock, channels),
    toAll: (...channels) => makeToAll(clock, channels),
    escalate: (stages) => makeEscalate(clock, stages),
  };
}

const system: Composer = composeWith(systemClock);

/** {@link Composer.firstOf}, by the process's clock. */
export const firstOf: Composer["firstOf"] = system.firstOf;
/** {@link Composer.toAll}, by the process's clock. */
export const toAll: Composer["toAll"] = system.toAll;
/**
 * {@link Composer.escalate}, by the process's clock.
 *
 * @example
 * ```ts
 * import { createConsentGate } from "@acp/core";
 * import { escalate, toAll } from "@acp/core/channels";
 *
 * const channel = escalate([
 *   { channel: toAll(web, telegram) },
 *   { channel: sms, afterMs: 300_000 },
 * ]);
 * const gate = createConsentGate({ policy, channel, audit });
 * ```
 */
export const escalate: Composer["escalate"] = system.escalate;
