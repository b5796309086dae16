import { describe, expect, it } from "vitest";
import { httpAction, toolAction } from "../action/action.js";
import type { GrantOffer, GrantScope } from "../types/scope.js";
import { callScope, mergeOffers, offerHost, toolScope } from "./offers.js";

const write = toolAction("files", "write_file", { path: "a" });
const call = callScope(write);
const tool: GrantScope = { kind: "tool", server: "files", name: "write_file" };
const patterns: GrantScope = {
  kind: "arguments",
  server: "files",
  name: "write_file",
  args: { path: "a" },
};
const offer = (
  scope: GrantScope,
  ttlMs: number,
  uses?: number,
  id: string = scope.kind,
): GrantOffer => ({
  id,
  scope,
  ttlMs,
  ...(uses === undefined ? {} : { uses }),
});

describe("mergeOffers()", () => {
  it("gives one list back, narrowest first", () => {
    expect(mergeOffers([[offer(tool, 1), offer(call, 2, 3), offer(patterns, 4)]])).toEqual([
      offer(call, 2, 3),
      offer(patterns, 4),
      offer(tool, 1),
    ]);
    expect(mergeOffers([])).toEqual([]);
    expect(mergeOffers([[]])).toEqual([]);
  });

  it("keeps what every list offers, or offers as part of something wider, within the tightest bounds", () => {
    expect(mergeOffers([[offer(tool, 10, 5)], [offer(patterns, 20, 9), offer(call, 4)]])).toEqual([
      offer(call, 4, 5),
      offer(patterns, 10, 5),
    ]);
    expect(mergeOffers([[offer(tool, 10)], []])).toEqual([]);
    expect(
      mergeOffers([[offer(patterns, 10)], [offer({ ...patterns, args: { path: "*" } }, 10)]]),
    ).toEqual([]);
  });

  it("takes a list's own word about a scope before that about what includes it", () => {
    const list = [offer(call, 60), offer(tool, 1)];
    expect(mergeOffers([list, list])).toEqual(list);
  });

  it("gives two offers of one id ids of their own", () => {
    const twice = [offer(call, 1, 1, "x"), offer(tool, 1, 1, "x"), offer(patterns, 1, 1, "x-2")];
    expect(mergeOffers([twice]).map(({ id }) => id)).toEqual(["x", "x-2", "x-3"]);
  });

  it("has one offer a scope, the tightest", () => {
    expect(mergeOffers([[offer(tool, 5, 2, "b"), offer(tool, 9, 1, "a")]])).toEqual([
      offer(tool, 5, 1, "a"),
    ]);
  });
});

describe("offerHost()", () => {
  it("offers the host of a request, and nothing of anything else or for no time", () => {
    const get = httpAction("GET", "https://example.com/");
    expect(offerHost(180_000)(get)).toEqual([
      {
        id: "host",
        scope: { kind: "host", host: "example.com", port: 443, methods: ["GET", "HEAD"] },
        ttlMs: 180_000,
      },
    ]);
    expect(offerHost(180_000, "site")(get)).toEqual([
      {
        id: "site",
        scope: {
          kind: "host",
          host: "example.com",
          port: 443,
          methods: ["*"],
          twin: "www.example.com",
        },
        ttlMs: 180_000,
      },
    ]);
    expect(offerHost(0)(get)).toEqual([]);
    expect(offerHost(180_000)(write)).toEqual([]);
  });
});

describe("toolScope()", () => {
  it("is the tool's, and none for what is no tool call", () => {
    expect(toolScope(write)).toEqual(tool);
    expect(toolScope(httpAction("GET", "https://example.com/"))).toBeUndefined();
  });
});
