import { askDouble, manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createQuestions } from "./questions.js";
import { createSessions } from "./session.js";
import { type Ticket, createTickets } from "./tickets.js";

function setUp() {
  const clock = manualClock();
  const sessions = createSessions({ clock, isSecure: false });
  const { request, session: ask } = askDouble();
  const entry = createQuestions(clock).put({
    carrier: { channel: "web" },
    question: { request, redelivery: false },
    submit: (claim) => ask.submit(claim),
  });
  if (entry === undefined) throw new Error("no entry");
  const start = (approver: string) => sessions.start({ approver, subject: approver }).session;
  const ticketOf = (session: Ticket["session"]): Ticket => ({
    session,
    entry,
    response: {},
    payloadHash: "sha256:",
    requestHash: "sha256:",
    challenge: undefined,
  });
  return { clock, sessions, tickets: createTickets(clock), start, ticketOf };
}

describe("createTickets()", () => {
  it("gives a ticket back once", () => {
    const { tickets, start, ticketOf } = setUp();
    const session = start("ada");
    const ticket = ticketOf(session);
    const id = tickets.issue(ticket);
    expect(tickets.take(id, session)).toBe(ticket);
    expect(tickets.take(id, session)).toBeUndefined();
  });

  it("gives it to its own session, and keeps it from others", () => {
    const { tickets, sessions, start, ticketOf } = setUp();
    const session = start("ada");
    const other = sessions.start(session.person).session;
    const id = tickets.issue(ticketOf(session));
    expect(tickets.take(id, other)).toBeUndefined();
    expect(tickets.take(id, session)).toBeDefined();
  });

  it("forgets it after two minutes, and with its session", async () => {
    const { tickets, clock, sessions, start, ticketOf } = setUp();
    const [session, over] = [start("ada"), start("bob")];
    const [one, other, gone] = [
      tickets.issue(ticketOf(session)),
      tickets.issue(ticketOf(session)),
      tickets.issue(ticketOf(over)),
    ];
    await clock.advance(119_999);
    expect(tickets.take(one, session)).toBeDefined();
    await clock.advance(1);
    expect(tickets.take(other, session)).toBeUndefined();
    sessions.end(over);
    expect(tickets.take(gone, over)).toBeUndefined();
  });

  it("keeps the newest 32 of a person, and everybody else's", () => {
    const { tickets, start, ticketOf } = setUp();
    const [session, other] = [start("ada"), start("bob")];
    const others = tickets.issue(ticketOf(other));
    const [first = "", ...rest] = Array.from({ length: 33 }, () =>
      tickets.issue(ticketOf(session)),
    );
    expect(tickets.take(first, session)).toBeUndefined();
    expect(rest.every((id) => tickets.take(id, session) !== undefined)).toBe(true);
    expect(tickets.take(others, other)).toBeDefined();
  });

  it("gives none after clear()", () => {
    const { tickets, start, ticketOf } = setUp();
    const session = start("ada");
    const id = tickets.issue(ticketOf(session));
    tickets.clear();
    expect(tickets.take(id, session)).toBeUndefined();
  });
});
