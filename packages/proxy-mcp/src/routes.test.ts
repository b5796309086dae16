import { describe, expect, it } from "vitest";
import type { Peer } from "./peer.js";
import { createRoutes } from "./routes.js";

const peer = (name: string): { -readonly [Key in keyof Peer]: Peer[Key] } =>
  ({ name, failure: undefined }) as Peer;

describe("createRoutes()", () => {
  it("gives a URI to the first server that lists it, until that server is gone", () => {
    const [one, two] = [peer("one"), peer("two")];
    const routes = createRoutes();
    routes.learn(one, { resources: [{ uri: "x://a" }] });
    routes.learn(two, { resources: [{ uri: "x://a" }, { uri: "x://b" }] });
    expect([
      routes.ofUri("x://a")?.name,
      routes.ofUri("x://b")?.name,
      routes.ofUri("x://c"),
    ]).toEqual(["one", "two", undefined]);
    one.failure = { server: "one", reason: "", retryAfterMs: 1_000 };
    routes.learnUri(two, "x://a");
    expect(routes.ofUri("x://a")?.name).toBe("one");
    one.failure = { server: "one", reason: "" };
    routes.learnUri(two, "x://a");
    expect(routes.ofUri("x://a")?.name).toBe("two");
  });

  it("takes the longest template that a URI starts like", () => {
    const routes = createRoutes();
    routes.learn(peer("one"), {
      resourceTemplates: [{ uriTemplate: "x://{id}" }, { uriTemplate: "{+all}" }],
    });
    routes.learn(peer("two"), { resourceTemplates: [{ uriTemplate: "x://special/{id}" }] });
    expect(routes.ofUri("x://special/1")?.name).toBe("two");
    expect(routes.ofUri("x://1")?.name).toBe("one");
    expect(routes.ofUri("x://special/{id}")?.name).toBe("two");
    expect(routes.ofUri("y://1")).toBeUndefined();
  });

  it("learns tasks, and nothing from what is no list", () => {
    const routes = createRoutes();
    routes.learn(peer("one"), { tasks: [{ taskId: "t" }, null, { taskId: 7 }], resources: {} });
    routes.learn(peer("one"), "nothing");
    expect(routes.ofTask("t")?.name).toBe("one");
    expect(routes.ofTask("7")).toBeUndefined();
  });

  it("forgets the oldest where there are too many", () => {
    const routes = createRoutes();
    for (let index = 0; index <= 100_000; index++) routes.learnTask(peer("one"), String(index));
    expect(routes.ofTask("0")).toBeUndefined();
    expect(routes.ofTask("100000")?.name).toBe("one");
  });
});
