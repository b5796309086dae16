/**
 * Pauses: who pauses agents from the page, and the list of those that are paused. The inbox keeps
 * none of it and ends no question: what holds is where the gates read it. Format: spec/web-inbox.md
 * §6.
 */
import { type FieldReader, type JsonObject, readFields } from "@acp/core";
import type { Person, Settings } from "./options.js";
import type { InboxPauses, PausedAgent } from "./inbox-options.js";
import { oneLine, refuse, reply } from "./reply.js";
import type { InboxParts, Route, SessionCall } from "./routes.js";
import type { PausedMessage } from "./wire.js";

/** Characters of an agent's id. */
const AGENT_CHARS_MAX = 256;

/**
 * Where this person may pause agents; `undefined` where not: to see a question, or to answer it, is
 * no right to stop an agent.
 */
function pausesFor({ pauses }: Settings, { approver }: Person): InboxPauses | undefined {
  return pauses?.operators.includes(approver) === true ? pauses : undefined;
}

/** Does it; what fails there is told and ends nothing here. */
async function attempt(
  { settings }: InboxParts,
  { session }: SessionCall,
  act: (pauses: InboxPauses) => Promise<JsonObject>,
): Promise<Response> {
  const pauses = pausesFor(settings, session.person);
  if (pauses === undefined) return refuse("not_an_operator");
  try {
    return reply(200, await act(pauses));
  } catch (error) {
    settings.warn(
      `Cannot pause, resume or list agents: ${error instanceof Error ? error.message : "it failed"}`,
    );
    return refuse("pauses_unavailable");
  }
}

function readAgent({ body }: SessionCall): string | Response {
  const fields: FieldReader = readFields(body, "body");
  const agent = fields.text("agent", AGENT_CHARS_MAX);
  fields.done();
  return agent === "" ? refuse("body_invalid", { message: `"agent" is empty` }) : agent;
}

function encodePaused({ agent, untilMs }: PausedAgent): PausedMessage {
  return { agent, ...(untilMs === undefined ? {} : { until: untilMs }) };
}

async function list(parts: InboxParts, call: SessionCall): Promise<Response> {
  if (pausesFor(parts.settings, call.session.person) === undefined)
    return reply(200, { may_pause: false, agents: [] });
  return attempt(parts, call, async (pauses) => ({
    may_pause: true,
    agents: (await pauses.list()).map(encodePaused),
  }));
}

async function pause(parts: InboxParts, call: SessionCall): Promise<Response> {
  const agent = readAgent(call);
  if (agent instanceof Response) return agent;
  return attempt(parts, call, async (pauses) => {
    const { ended, left } = await pauses.pause(agent, call.session.person.approver);
    parts.settings.warn(
      oneLine(
        `${call.session.person.approver} paused the agent ${agent}: ${ended} open questions denied`,
      ),
    );
    return { ended, left };
  });
}

async function resume(parts: InboxParts, call: SessionCall): Promise<Response> {
  const agent = readAgent(call);
  if (agent instanceof Response) return agent;
  return attempt(parts, call, async (pauses) => {
    const was = await pauses.resume(agent, call.session.person.approver);
    if (was)
      parts.settings.warn(oneLine(`${call.session.person.approver} resumed the agent ${agent}`));
    return { was };
  });
}

/** The routes of pausing. */
export const PAUSE_ROUTES: readonly Route[] = [
  { method: "GET", path: "/api/pauses", access: "session", handle: list },
  { method: "POST", path: "/api/pauses", access: "session", handle: pause },
  { method: "POST", path: "/api/pauses/end", access: "session", handle: resume },
];
