import { describe, expect, it } from "vitest";
import { createInFlight } from "./in-flight.js";
import type { ClientRequest } from "./message.js";

const request = (id: number, method = "tools/call"): ClientRequest => ({
  kind: "request",
  id,
  method,
  params: {},
  line: Buffer.from("0123456789"),
});

describe("createInFlight()", () => {
  it("takes an id once, until it is deleted", () => {
    const open = createInFlight<string>();
    expect(open.add(request(1), "a")).toBeUndefined();
    expect(String(open.add(request(1), "b"))).toContain("its id is in use");
    expect([open.get(1), open.size(), [...open]]).toEqual(["a", 1, [[1, "a"]]]);
    open.delete(1);
    expect(open.add(request(1), "b")).toBeUndefined();
  });

  it("takes a place for each request, gives it up once, and answers what has none", () => {
    const asked: unknown[] = [];
    let left = 0;
    let isFull = false;
    const open = createInFlight<string>({
      enter(each) {
        asked.push(each);
        return isFull ? { full: "this client has enough" } : { leave: () => left++ };
      },
      isShared: () => false,
    });
    expect(open.add(request(1), "a")).toBeUndefined();
    expect(open.add(request(2, "tools/list"), "a")).toBeUndefined();
    expect(open.add(request(5, "resources/read"), "a")).toBeUndefined();
    expect(asked).toEqual([
      { bytes: 10, isCall: true },
      { bytes: 10, isCall: false },
      { bytes: 10, isCall: true },
    ]);
    isFull = true;
    expect(JSON.parse(String(open.add(request(3), "a")))).toMatchObject({
      id: 3,
      result: {
        isError: true,
        _meta: { "acp/denied": { code: "client_limit_reached", retryable: true } },
      },
    });
    expect(JSON.parse(String(open.add(request(4, "tools/list"), "a")))).toMatchObject({
      id: 4,
      error: { data: { code: "client_limit_reached", retryable: true } },
    });
    expect(open.size()).toBe(3);
    for (const id of [1, 1, 2, 3, 5]) open.delete(id);
    expect(left).toBe(3);
  });
});
