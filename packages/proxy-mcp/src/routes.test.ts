import { describe, expect, it } from "vitest";
import type { ServerFailure } from "./failure.js";
import { createRoutes } from "./routes.js";
import type { Routes } from "./routes.js";
import { URI_CHARS_MAX } from "./uri-template.js";

interface Server {
  readonly name: string;
  failure: ServerFailure | undefined;
}

const server = (name: string): Server => ({ name, failure: undefined });
const known = (log: string[] = [], max: Parameters<typeof createRoutes>[1] = {}): Routes<Server> =>
  createRoutes((line) => log.push(line), max);
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

  it("takes only so much of one server, and nothing away from another for it", () => {
    const routes = known([], { uris: 3, templates: 2, spaces: 2 });
    const [one, two] = [server("one"), server("two")];
    routes.learn(one, resources("x://a", "x://b", "x://c", "x://d"));
    routes.learn(one, templates("x://a/{id}", "x://b/{id}", "x://c/{id}"));
    expect(ownerOf(routes, "x://c")).toBe("one");
    for (const uri of ["x://d", "x://c/1"]) expect(ownerOf(routes, uri)).toBe("nobody");
    for (let index = 0; index < 10; index++)
      routes.learn(two, resources(`y://${index}`, `z${index}://a`));
    routes.learn(two, resources("x://a"));
    for (const uri of ["x://a", "x://a/1", "x://b/1"]) expect(ownerOf(routes, uri)).toBe("one");
    expect(ownerOf(routes, "z9://a")).toBe("nobody");
  });

  it("takes no URI that is too long", () => {
    const routes = known();
    const uri = `x://${"a".repeat(URI_CHARS_MAX)}`;
    routes.learn(server("one"), resources(uri));
    expect(ownerOf(routes, uri)).toBe("nobody");
  });

  it("costs little whatever one server lists, and finds what the others have", () => {
    const [one, two] = [server("one"), server("two")];
    const routes = known();
    const hard = (at: number): string => `x://a/${"{+a}b".repeat(15)}{+a}c${at}`;
    routes.learn(one, templates(...Array.from({ length: 1_000 }, (_, at) => hard(at))));
    routes.learn(one, resources(...Array.from({ length: 1_000 }, (_, at) => `q://${at}/x`)));
    routes.learn(one, templates(...Array.from({ length: 1_000 }, () => "q://{any}/y")));
    routes.learn(two, templates("y://a/{id}"));
    const before = process.cpuUsage();
    for (let times = 0; times < 2; times++) {
      expect(ownerOf(routes, `x://a/${"b".repeat(8_000)}`)).toBe("nobody");
      expect(ownerOf(routes, `y://a/${"b".repeat(8_000)}`)).toBe("two");
    }
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});
