import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { createConnections } from "./connections.js";

function fakes() {
  const ended: string[] = [];
  const socket = (name: string): Socket =>
    ({ destroy: () => void ended.push(name) }) as unknown as Socket;
  const response = (of: Socket): ServerResponse =>
    Object.assign(new EventEmitter(), {
      req: { socket: of },
      socket: of,
    }) as unknown as ServerResponse;
  return { ended, socket, response };
}

it("add() ends the oldest that has no request, one without a known token first", () => {
  const { ended, socket, response } = fakes();
  const connections = createConnections({ all: 3, idleOfClient: 9 });
  const [ada, busy, silent, ...more] = ["ada", "busy", "silent", "x", "y", "z"].map(socket);
  if (ada === undefined || busy === undefined || silent === undefined) throw new Error("three");
  for (const each of [ada, busy, silent]) expect(connections.add(each)).toBe(true);
  connections.identify(ada, "a");
  const open = response(busy);
  connections.begin(open, () => {});
  const added = more.map((each) => {
    const isIn = connections.add(each);
    connections.begin(response(each), () => {});
    return isIn;
  });
  // The third finds a request on each.
  expect([ended, added]).toEqual([
    ["silent", "ada"],
    [true, true, false],
  ]);
  open.emit("close");
  expect(connections.add(socket("w"))).toBe(true);
  expect(ended).toEqual(["silent", "ada", "busy"]);
});

it("begin() tells when the last request of a connection is over, and one client keeps few idle", () => {
  const { ended, socket, response } = fakes();
  const connections = createConnections({ all: 9, idleOfClient: 1 });
  const idle: string[] = [];
  const [one, other] = ["one", "other"].map((name) => {
    const own = socket(name);
    connections.add(own);
    connections.identify(own, "a");
    const responses = [response(own), response(own)];
    for (const each of responses) connections.begin(each, () => void idle.push(name));
    return responses;
  });
  one?.[0]?.emit("close");
  expect(idle).toEqual([]);
  one?.[1]?.emit("close");
  expect([idle, ended]).toEqual([["one"], []]);
  for (const each of other ?? []) each.emit("close");
  expect([idle, ended]).toEqual([["one", "other"], ["one"]]);
});
