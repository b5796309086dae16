/**
 * Inbox: one page, any number of gates. Joins the parts; each of them stands in a file of its own.
 * Guide: docs/how-to/channels/web.md.
 */
import { ConsentError, quoteText } from "@acp/core";
import { createChallenges } from "./challenges.js";
import { createStreams } from "./events.js";
import { createFiles } from "./files.js";
import { createHandler, sessionHolds } from "./handler.js";
import { createHistory } from "./history.js";
import { createKeyring } from "./keyring.js";
import { readOptions } from "./options.js";
import { createOutcomes } from "./outcomes.js";
import type { Inbox, InboxOptions } from "./inbox-options.js";
import type { PasskeyCeremony } from "./passkey.js";
import { type CeremonyPlace, createPasskeyCeremony } from "./passkey-ceremony.js";
import { createQuestions } from "./questions.js";
import type { InboxParts } from "./routes.js";
import { createSessions } from "./session.js";
import { createSignInCodes } from "./sign-in-codes.js";
import { follow } from "./source.js";
import { createTickets } from "./tickets.js";
import { createTries } from "./tries.js";
import { createWebChannel } from "./web-channel.js";

function makeParts(
  options: InboxOptions,
  makeCeremony: (place: CeremonyPlace) => PasskeyCeremony,
): InboxParts {
  const settings = readOptions(options);
  const { clock } = settings;
  const keyring = createKeyring(settings);
  const sessions = createSessions(settings);
  const questions = createQuestions(clock);
  return {
    settings,
    ceremony: makeCeremony(settings),
    keyring,
    sessions,
    codes: createSignInCodes(clock),
    tries: createTries(clock),
    challenges: createChallenges(clock),
    questions,
    tickets: createTickets(clock),
    reviewTickets: createTickets(clock),
    history: createHistory(questions, settings),
    outcomes: createOutcomes(questions, settings),
    streams: createStreams({
      settings,
      questions,
      holds: (session) => sessionHolds({ sessions, keyring }, session),
    }),
  };
}

/**
 * Makes an approval inbox: a page where people sign in and answer questions. Source:
 * spec/web-inbox.md.
 *
 * @throws ConsentError `options_invalid` where an option is wrong, by itself or with another one.
 */
export function createInboxWith(
  options: InboxOptions,
  makeCeremony: (place: CeremonyPlace) => PasskeyCeremony,
): Inbox {
  const parts = makeParts(options, makeCeremony);
  const { settings, questions, sessions } = parts;
  const closed = new AbortController();
  const isClosed = (): boolean => closed.signal.aborted;

  const close = async (): Promise<void> => {
    closed.abort();
    sessions.endAll();
    parts.streams.close();
    for (const part of [
      parts.codes,
      parts.tickets,
      parts.reviewTickets,
      parts.challenges,
      parts.outcomes,
      questions,
    ])
      part.clear();
  };
  return {
    handler: createHandler({ parts, files: createFiles(), isClosed }),
    channel: (name = "web") => createWebChannel({ settings, questions, isClosed }, name),
    attach(source, { channel, subject = "local" }) {
      if (!isClosed())
        void follow(source, {
          questions,
          carrier: { channel, subject },
          warn: settings.warn,
          closed: closed.signal,
        });
    },
    signInCode(approver) {
      const person = settings.people.get(approver);
      if (person === undefined)
        throw new ConsentError(
          "options_invalid",
          `Cannot make a sign-in code: nobody has the approver ID ${quoteText(approver)}`,
        );
      return parts.codes.make(person);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * An approval inbox.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createInbox, memoryPasskeys } from "@acp/channel-web";
 * import { createConsentGate } from "@acp/core";
 * import { toNodeHandler } from "@acp/host";
 *
 * await using inbox = createInbox({
 *   origin: "http://localhost:8789",
 *   people: [{ approver: "ada" }],
 *   passkeys: memoryPasskeys(),
 * });
 * createServer(toNodeHandler(inbox.handler)).listen(8789, "127.0.0.1");
 * const gate = createConsentGate({ policy, channel: inbox.channel(), audit });
 * console.log(inbox.signInCode("ada"));
 * ```
 * @throws ConsentError `options_invalid` where the options do not fit together.
 */
export function createInbox(options: InboxOptions): Inbox {
  return createInboxWith(options, createPasskeyCeremony);
}
