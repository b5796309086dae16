import { format, inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { isSecretName } from "./secret-name.js";
import { revealSecret, Secret } from "./secret.js";

const value = "correct horse";
const secret = new Secret({
  name: "TOKEN",
  value,
  servers: ["github", "*", "github"],
  hosts: ["API.Example.com.", "[::1]:08080", "*"].slice(0, 1),
});

// What untyped code may do.
const asText = secret as unknown as string;

describe("Secret", () => {
  it.each<[string, () => string]>([
    ["String()", () => String(secret)],
    ["a template", () => `x${asText}`.slice(1)],
    ["concatenation", () => "x".concat(asText).slice(1)],
    ["toString()", () => secret.toString()],
    ["JSON", () => JSON.parse(JSON.stringify({ secret })).secret],
    ["util.inspect", () => inspect(secret, { showHidden: true, depth: null, customInspect: true })],
    ["console formatting", () => format("%s", secret)],
    ["inside an object", () => inspect({ secret }).replace(/^\{ secret: (.*) \}$/, "$1")],
  ])("shows only its name as %s", (_name, show) => {
    expect(show()).toBe("[secret TOKEN]");
  });

  it("shows no value where inspection is raw, cloned, spread or listed", () => {
    const shown = [
      inspect(secret, { showHidden: true, customInspect: false }),
      inspect(structuredClone(secret)),
      inspect({ ...secret }),
      JSON.stringify(Object.entries(secret)),
    ];
    expect(shown.join("\n")).not.toContain(value);
    expect(shown.join("\n")).toContain("TOKEN");
  });

  it("keeps bindings normalised, each once, and nothing can change them", () => {
    expect(secret.servers).toEqual(["github", "*"]);
    expect(secret.hosts).toEqual(["api.example.com"]);
    expect(new Secret({ name: "A", value, hosts: ["[0::1]:8080"] }).hosts).toEqual(["[::1]:8080"]);
    expect(new Secret({ name: "A", value })).toMatchObject({ servers: [], hosts: [] });
    expect(() => Object.assign(secret, { servers: ["x"] })).toThrow(TypeError);
    expect(() => Object.assign(secret.servers, ["x"])).toThrow(TypeError);
  });

  it.each<[string, ConstructorParameters<typeof Secret>[0]]>([
    ["an empty name", { name: "", value }],
    ["a name with a brace", { name: "A}", value }],
    ["a name that is too long", { name: "A".repeat(257), value }],
    ["a short value", { name: "A", value: "7 bytes" }],
    ["a long value", { name: "A", value: "x".repeat(16_385) }],
    ["an unpaired surrogate", { name: "A", value: "long enough \ud800" }],
    ["a host with a path", { name: "A", value, hosts: ["example.com/x"] }],
    ["a host with a glob", { name: "A", value, hosts: ["*.example.com"] }],
    ["a port out of range", { name: "A", value, hosts: ["example.com:65536"] }],
    ["an empty server", { name: "A", value, servers: [""] }],
    [
      "too many servers",
      { name: "A", value, servers: Array.from({ length: 65 }, (_, index) => `s${index}`) },
    ],
  ])("refuses %s and does not show the value", (_name, source) => {
    let error: unknown;
    try {
      error = new Secret(source);
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: "secret_invalid" });
    expect(inspect(error, { depth: null })).not.toContain(source.value);
  });

  it("takes the shortest and the longest value", () => {
    expect(revealSecret(new Secret({ name: "A", value: "8 bytes." }))).toBe("8 bytes.");
    expect(revealSecret(new Secret({ name: "A", value: "é".repeat(8_192) }))).toHaveLength(8_192);
  });
});

describe("revealSecret()", () => {
  it("gives the value of a secret, and of no copy", () => {
    expect(revealSecret(secret)).toBe(value);
    for (const copy of [structuredClone(secret), Object.create(secret), { ...secret }])
      expect(() => revealSecret(copy)).toThrow(expect.objectContaining({ code: "secret_invalid" }));
  });
});

describe("isSecretName()", () => {
  it.each([
    ["A", true],
    ["_a.b-c1", true],
    ["1A", false],
    ["a b", false],
    ["ä", false],
  ])("says of %s: %s", (name, want) => {
    expect(isSecretName(name)).toBe(want);
  });
});
