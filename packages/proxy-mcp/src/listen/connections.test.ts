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
  connections.identify(busy, "b");
  const added = more.map((each) => {
    const isIn = connections.add(each);
    connections.begin(response(each), () => {});
    connections.identify(each, `of ${ended.length}`);
    return isIn;
  });
  // The third finds a request on each, and each of a client that is known.
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

it("add() ends one without a known token even in the middle of a request, before any other", () => {
  const { ended, socket, response } = fakes();
  const connections = createConnections({ all: 3, idleOfClient: 9 });
  const [ada, deaf, silent] = ["ada", "deaf", "silent"].map(socket);
  if (ada === undefined || deaf === undefined || silent === undefined) throw new Error("three");
  for (const each of [ada, deaf, silent]) connections.add(each);
  connections.identify(ada, "a");
  // It asks, and reads no refusal.
  connections.begin(response(deaf), () => {});
  for (const each of ["x", "y"].map(socket)) {
    expect(connections.add(each)).toBe(true);
    connections.identify(each, "b");
  }
  expect(ended).toEqual(["silent", "deaf"]);
});

it("add() ends an idle one of the client that has most of them", () => {
  const { ended, socket } = fakes();
  const connections = createConnections({ all: 4, idleOfClient: 9 });
  for (const name of ["bob", "ada 1", "ada 2", "ada 3"]) {
    const own = socket(name);
    connections.add(own);
    connections.identify(own, name.slice(0, 3));
  }
  expect(connections.add(socket("x"))).toBe(true);
  expect(ended).toEqual(["ada 1"]);
});

it("identify() leaves as many connections for others as one client has in use", () => {
  const { socket, response } = fakes();
  const connections = createConnections({ all: 16, idleOfClient: 16 });
  const begin = (key: string) => {
    const own = socket(key);
    const open = response(own);
    connections.add(own);
    connections.begin(open, () => {});
    return { own, open, isIn: connections.identify(own, key) };
  };
  const most = (key: string) => {
    const begun = [];
    for (;;) {
      const each = begin(key);
      if (!each.isIn) {
        connections.remove(each.own);
        return begun;
      }
      begun.push(each);
    }
  };
  const ada = most("ada");
  expect([ada.length, most("bob").length, most("eve").length]).toEqual([8, 4, 2]);
  // A further request of a connection that is in use takes no further place.
  const [first] = ada;
  expect(first !== undefined && connections.identify(first.own, "ada")).toBe(true);
  // What is given back is there again: for others too.
  for (const { open } of ada.slice(0, 4)) open.emit("close");
  for (const { own } of ada.slice(4)) connections.remove(own);
  expect(most("bob").length).toBe(3);
});

it("identify() ends a connection with a request of another client, and it counts no longer", () => {
  const { ended, socket, response } = fakes();
  const connections = createConnections({ all: 4, idleOfClient: 9 });
  const both = ["1", "2", "3"].map((name) => {
    const own = socket(name);
    connections.add(own);
    connections.begin(response(own), () => {});
    const isIn = connections.identify(own, "ada");
    connections.begin(response(own), () => {});
    return [isIn, isIn && connections.identify(own, "bob")];
  });
  expect([both, ended]).toEqual([both.map(() => [true, false]), ["1", "2", "3"]]);
  expect(connections.all()).toEqual([]);
  const own = socket("4");
  connections.add(own);
  connections.begin(response(own), () => {});
  expect([connections.identify(own, "ada"), connections.identify(own, "ada")]).toEqual([
    true,
    true,
  ]);
  expect(connections.identify(own, "bob")).toBe(false);
});
