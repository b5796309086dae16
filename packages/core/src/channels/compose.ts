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
 * One part of an escalation: from when a channel shows the question, and who may answer from then
 * on.
 */
export interface EscalationStage {
  /** Where the question is shown at this stage. */
  readonly channel: Channel;
  /** After the question was asked; 0 unless given. */
  readonly afterMs?: number;
  /**
   * Ids or group names of a gate's approvers. Given for every stage, or for none: then all may
   * answer from the start.
   */
  readonly approvers?: readonly string[];
}

/** The ways to make one channel of several. */
export interface Composer {
  /**
   * Shows a question on the first channel that can; one that fails or is silent for 30 s goes on to
   * the next.
   */
  firstOf(...channels: readonly Channel[]): Channel;
  /**
   * Shows a question on every channel; delivered where one of them shows it. The first answer that
   * counts ends it everywhere.
   */
  toAll(...channels: readonly Channel[]): Channel;
  /**
   * Shows a question on the first stage's channel, and on the others when their time has come, or
   * at once where nobody could be shown it before. People of a later stage cannot answer earlier: a
   * gate holds to that, whatever the channel says. Time counts from when the question was asked,
   * over restarts too. Outermost: no other composition takes it.
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
    throw refused("the stages are not in the order of their times");
  const named = stages.filter(({ approvers }) => approvers !== undefined).length;
  if (named > 0 && named < stages.length)
    throw refused("some stages name approvers and some do not");
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
          error: new Error(`it was silent for ${PART_TIMEOUT_MS} ms`),
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

/** Composition with another clock than the process's. */
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
/** {@link Composer.escalate}, by the process's clock. */
export const escalate: Composer["escalate"] = system.escalate;
