/**
 * WebChannel: the inbox as one gate of this process sees it. Whoever is signed in answers as
 * themselves.
 */
import { type AskSession, type Channel, ConsentError, type ConsentRequest } from "@acp/core";
import type { Settings } from "./options.js";
import { runOf } from "./outcomes.js";
import type { OpenQuestion } from "./question-source.js";
import { mayAnswer } from "./question-view.js";
import type { Carrier, Questions } from "./questions.js";

const NAME = /^[a-z][a-z0-9-]*$/;

/** What a channel needs of its inbox. */
export interface ChannelParts {
  readonly settings: Settings;
  readonly questions: Questions;
  readonly isClosed: () => boolean;
}

function unavailable(why: string): ConsentError {
  return new ConsentError("channel_unavailable", `Cannot ask anybody: ${why}`);
}

/** A channel of the inbox. A question stands there until it is over, also while nobody looks. */
export function createWebChannel(
  { settings, questions, isClosed }: ChannelParts,
  name: string,
): Channel {
  if (!NAME.test(name))
    throw new ConsentError(
      "options_invalid",
      `Cannot create a channel: its name is not of the form [a-z][a-z0-9-]*`,
    );
  const carrier: Carrier = { channel: name };
  return {
    name,
    async deliver(request: ConsentRequest, session: AskSession) {
      if (isClosed()) throw unavailable("the inbox is closed");
      const question: OpenQuestion = { request, redelivery: session.redelivery };
      const nowMs = settings.clock.now();
      if (
        ![...settings.people.values()].some(
          (person) => mayAnswer({ question, carrier }, person, nowMs) !== "no",
        )
      )
        throw unavailable("none of its approvers signs in to this inbox");
      const entry = questions.put({
        carrier,
        question,
        submit: (claim, { subject }) => session.submit(claim, { subject }),
      });
      if (entry === undefined)
        throw new ConsentError(
          "channel_failed",
          `Cannot show question "${request.id}": another gate has a question with this ID open here`,
        );
      void session.ended.then((ending) => questions.end(entry, ending));
      void session.outcome.then((outcome) => {
        if (outcome !== undefined) questions.tellRun(entry, runOf(outcome));
      });
    },
  };
}
