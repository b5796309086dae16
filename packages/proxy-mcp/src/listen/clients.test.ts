import { EventEmitter } from "node:events";
import { manualClock } from "@acp/testing";
import { expect, it } from "vitest";
import { createClients, type Held } from "./clients.js";

const ada = { agent: { id: "ada" }, key: "a" };
const bob = { agent: { id: "bob" }, key: "b" };

function held(id: string, ended: string[], connections = 0): Held {
  return {
    id,
    kind: "session",
    connections: () => connections,
    comment: () => {},
    end: (isCut = false) => void ended.push(isCut ? `${id} at once` : id),
  };
}

it("enter() counts the requests of each client until their responses close", () => {
  const clients = createClients(manualClock(), { sessions: 1, open: 2 });
  const responses = [new EventEmitter(), new EventEmitter()];
  for (const response of responses) expect(clients.enter(ada, response)).toBe(true);
  expect(clients.enter(ada, new EventEmitter())).toBe(false);
  expect(clients.enter(bob, new EventEmitter())).toBe(true);
  responses[0]?.emit("close");
  expect(clients.enter(ada, new EventEmitter())).toBe(true);
});

it("sweep() ends what nobody is connected to for long, and what is no longer anybody's", async () => {
  const clock = manualClock();
  const clients = createClients(clock, { sessions: 9, open: 9, idleMs: 100 });
  const ended: string[] = [];
  for (const [id, connections] of [
    ["idle", 0],
    ["read", 1],
  ] as const)
    clients.add(ada, held(id, ended, connections));
  clients.add(bob, held("bobs", ended, 1));
  await clock.advance(100);
  clients.sweep((key) => key === "a");
  expect(ended.toSorted()).toEqual(["bobs at once", "idle"]);
  expect(clients.find(ada, "read")).toBeDefined();
  expect(clients.find(bob, "read")).toBeUndefined();
});
