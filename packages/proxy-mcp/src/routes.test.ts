import { describe, expect, it } from "vitest";
import type { ServerFailure } from "./failure.js";
import { createRoutes } from "./routes.js";
import type { Routes } from "./routes.js";

interface Server {
  readonly name: string;
  failure: ServerFailure | undefined;
}

const server = (name: string): Server => ({ name, failure: undefined });
const known = (log: string[] = []): Routes<Server> => createRoutes((line) => log.push(line));
const ownerOf = (routes: Routes<Server>, uri: string): string => {
  const found = routes.ofUri(uri);
  return "owner" in found ? found.owner.name : "nobody";
};
const resources = (...uris: string[]): object => ({ resources: uris.map((uri) => ({ uri })) });
const templates = (...texts: string[]): object => ({
  resourceTemplates: texts.map((uriTemplate) => ({ uriTemplate })),
});

describe("createRoutes()", () => {
  it("gives a URI to the first server that lists it, says so, and until that server is gone", () => {
    const [one, two] = [server("one"), server("two")];
    const log: string[] = [];
    const routes = known(log);
    routes.learn(one, resources("x://a"));
    routes.learn(two, resources("x://a", "x://b"));
    routes.learn(two, resources("x://a"));
    expect(["x://a", "x://b", "x://c"].map((uri) => ownerOf(routes, uri))).toEqual([
      "one",
      "two",
      "nobody",
    ]);
    expect(log).toEqual([
      '[two] lists "x://a", which belongs to "one"; it gets no requests for it',
    ]);
    one.failure = { server: "one", reason: "restarts", retryAfterMs: 1_000 };
    routes.learn(two, resources("x://a"));
    expect(ownerOf(routes, "x://a")).toBe("one");
    one.failure = { server: "one", reason: "gone" };
    routes.learn(two, resources("x://a"));
    expect(ownerOf(routes, "x://a")).toBe("two");
  });

  it("takes a template only for the part of the URI space that is its server's own", () => {
    const [one, two] = [server("one"), server("two")];
    const routes = known();
    routes.learn(one, resources("x://host/listed"));
    routes.learn(one, templates("y://{city}/now"));
    routes.learn(
      two,
      templates("x://host/{id}", "f{x}", "{+x}", "{x}", "y://bern/{what}", "x:{+all}"),
    );
    for (const uri of ["x://host/listed", "y://bern/now"]) expect(ownerOf(routes, uri)).toBe("one");
    for (const uri of ["x://host/other", "file:///etc/passwd", "f", "x:anything", "y://bern/then"])
      expect(ownerOf(routes, uri)).toBe("nobody");
  });

  it("takes a template of its own space, and the template itself as it was listed", () => {
    const routes = known();
    routes.learn(server("one"), templates("x://items/{id}"));
    routes.learn(server("two"), templates("z://more/{id}"));
    expect(ownerOf(routes, "x://items/7")).toBe("one");
    expect(ownerOf(routes, "z://more/{id}")).toBe("two");
    expect(ownerOf(routes, "x://items/7/8")).toBe("nobody");
  });

  it("learns nothing from what is no list", () => {
    const routes = known();
    for (const result of [
      "nothing",
      undefined,
      { resources: {} },
      { resources: [null, { uri: 7 }] },
    ])
      routes.learn(server("one"), result);
    expect(ownerOf(routes, "7")).toBe("nobody");
  });

  it("forgets the oldest where there are too many", () => {
    const routes = known();
    const one = server("one");
    for (let index = 0; index <= 100_000; index++) routes.learn(one, resources(`x://${index}`));
    expect(ownerOf(routes, "x://0")).toBe("nobody");
    expect(ownerOf(routes, "x://100000")).toBe("one");
  });
});
