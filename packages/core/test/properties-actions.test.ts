import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  actionDigest,
  actionToJson,
  canonicalJson,
  httpAction,
  normalizeHost,
  parametersOf,
  parseAction,
  parseHttpUrl,
  parseJson,
  shellAction,
  toolAction,
  withParameters,
} from "../src/index.js";
import type { Action } from "../src/index.js";
import { anyObject, outcome, text } from "./arbitraries.js";

const anyName = fc.string({ minLength: 1, maxLength: 20 });
const anyHost = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
);
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  fc
    .tuple(anyName, anyName, anyObject)
    .map(([server, tool, args]) => toolAction(server, tool, args)),
  fc
    .webUrl({ withQueryParameters: true, withFragments: true, size: "small" })
    .map((url) => httpAction("GET", url)),
  fc
    .tuple(anyHost, fc.integer({ min: 1, max: 65_535 }))
    .map(([host, port]) =>
      httpAction("CONNECT", `${host}:${port}`, { headers: { a: "{{secret:A}}" } }),
    ),
  fc
    .tuple(
      fc.string({ minLength: 1 }).filter((command) => command.trim() !== ""),
      anyName,
    )
    .map(([command, cwd]) => shellAction(command, { cwd })),
);

describe("host properties", () => {
  const hostish = fc.oneof(
    anyHost,
    fc.string({ maxLength: 20 }),
    text,
    fc.stringMatching(/^[a-zA-Z0-9.\-_:[\]%@\u3002\u00df\uff0e]{1,20}$/),
  );

  const urlish = fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc
      .tuple(
        fc.constantFrom("http://", "https://", "HTTP:/", "http:", "ftp://"),
        hostish,
        fc.constantFrom("", "/", ":80/", ":0443/", ":/"),
        text,
      )
      .map((parts) => parts.join("")),
  );

  it("normalizeHost() and parseHttpUrl() refuse by host_invalid only", () => {
    fc.assert(
      fc.property(hostish, urlish, (name, url) => {
        const codes = [outcome(() => normalizeHost(name)), outcome(() => parseHttpUrl(url))].map(
          (result) => ("code" in result ? result.code : "none"),
        );
        expect(codes.filter((code) => code !== "host_invalid" && code !== "none")).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("normalizeHost() is idempotent and gives only plain hosts", () => {
    fc.assert(
      fc.property(hostish, (input) => {
        const result = outcome(() => normalizeHost(input));
        fc.pre("value" in result);
        expect(normalizeHost(result.value)).toBe(result.value);
        expect(result.value).toMatch(/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])$/);
        expect(new URL(`http://${result.value}/`).hostname).toBe(result.value);
      }),
      { numRuns: 1_000 },
    );
  });

  it("parseHttpUrl() gives a URL that every WHATWG parser sends to the same host and port, and is idempotent", () => {
    fc.assert(
      fc.property(urlish, (input) => {
        const result = outcome(() => parseHttpUrl(input));
        fc.pre("value" in result);
        const { url, host, port } = result.value;
        const parsed = new URL(url);
        expect([parsed.href, parsed.hostname, parsed.username, parsed.hash]).toEqual([
          url,
          host,
          "",
          "",
        ]);
        expect(
          parsed.port === ""
            ? { "http:": 80, "https:": 443 }[parsed.protocol]
            : Number(parsed.port),
        ).toBe(port);
        expect(parseHttpUrl(url)).toEqual(result.value);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("action properties", () => {
  it("parseAction() and withParameters() give back the digest of what actionToJson() and parametersOf() wrote", () => {
    fc.assert(
      fc.property(anyAction, (made) => {
        const digest = actionDigest(made);
        const carried = parseJson(JSON.stringify(actionToJson(made)), { integers: "canonical" });
        expect(actionDigest(parseAction(carried))).toBe(digest);
        expect(actionDigest(withParameters(made, parametersOf(made).parameters))).toBe(digest);
      }),
    );
  });

  it("actionDigest() changes with every changed character of the canonical text that still reads as an action", () => {
    fc.assert(
      fc.property(
        anyAction,
        fc.nat(),
        fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
        (made, at, unit) => {
          const written = canonicalJson(made);
          const units = Array.from(written);
          const index = at % units.length;
          const changed = [...units.slice(0, index), unit, ...units.slice(index + 1)].join("");
          const read = outcome(() => parseAction(parseJson(changed)));
          if ("code" in read) return;
          const same = canonicalJson(read.value) === written;
          expect(actionDigest(read.value) === actionDigest(made)).toBe(same);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("actionDigest() tells apart any two actions with different canonical texts", () => {
    fc.assert(
      fc.property(anyAction, anyAction, (one, other) => {
        expect(actionDigest(one) === actionDigest(other)).toBe(
          canonicalJson(one) === canonicalJson(other),
        );
      }),
    );
  });
});
