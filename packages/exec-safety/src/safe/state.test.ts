import { describe, expect, it } from "vitest";
import { startPlace } from "./start-place.js";
import { after, join, startAt, withInput, withPlaces, withVariable } from "./state.js";
import type { State } from "./state.js";

const START: State = startAt(startPlace({}));
const at = (...folders: readonly (string | undefined)[]): State =>
  withPlaces(
    START,
    folders.map((inside) => ({ inside, projectRoot: undefined, trustedWorkspace: true })),
  );
const holding = (...texts: readonly string[]): State =>
  withVariable(
    START,
    "v",
    texts.map((text) => ({ text, isGlob: false })),
  );
const foldersOf = (state: State | undefined): unknown => state?.places.map(({ inside }) => inside);
const textsOf = (state: State | undefined): unknown =>
  state?.variables.get("v")?.map(({ text }) => text);

describe("join()", () => {
  it("keeps each place once", () =>
    expect(foldersOf(join(at("a", "b"), at("b", "c")))).toEqual(["a", "b", "c"]));

  it("knows no place where there are too many", () =>
    expect(foldersOf(join(at("a", "b", "c"), at("d", "e")))).toEqual([undefined]));

  it("keeps the values of both ways", () =>
    expect(textsOf(join(holding("a"), holding("b")))).toEqual(["a", "b"]));

  it("knows nothing of a variable that one way alone has set", () => {
    const joined = join(holding("a"), START);
    expect(joined?.variables.has("v")).toBe(true);
    expect(textsOf(joined)).toBeUndefined();
    expect(textsOf(join(START, holding("a")))).toBeUndefined();
  });

  it("knows nothing of a variable with too many values", () => {
    const many = Array.from({ length: 20 }, (_, index) => `${index}`);
    expect(
      textsOf(join(holding(...many), holding(...many.map((text) => `x${text}`)))),
    ).toBeUndefined();
  });

  it("carries names only where both ways do", () => {
    const names = [{ text: "*", isGlob: true }];
    expect(join(withInput(START, names), START)?.input).toBeUndefined();
    expect(join(withInput(START, names), withInput(START, names))?.input).toBe(names);
  });

  it("is the other way where one is never taken", () => {
    expect(join(undefined, START)).toBe(START);
    expect(join(START, undefined)).toBe(START);
    expect(after({ ok: undefined, failed: undefined })).toBeUndefined();
  });
});

describe("withPlaces()", () => {
  it("knows $PWD only where the place is known and stays one word", () => {
    expect(START.variables.has("PWD")).toBe(true);
    expect(at("a").variables.has("PWD")).toBe(true);
    expect(at(undefined).variables.has("PWD")).toBe(false);
    expect(at("a", undefined).variables.has("PWD")).toBe(false);
    expect(at("a -b").variables.has("PWD")).toBe(false);
    expect(startAt(startPlace({ projectRoot: "/home/ann/my app" })).variables.has("PWD")).toBe(
      false,
    );
    expect(join(at("a"), at(undefined))?.variables.has("PWD")).toBe(false);
  });
});

describe("startPlace()", () => {
  it.each([
    [{}, { inside: "", projectRoot: undefined }],
    [{ cwd: "/p" }, { inside: "", projectRoot: "/p" }],
    [{ projectRoot: "/p" }, { inside: "", projectRoot: "/p" }],
    [
      { cwd: "/p/a/./b", projectRoot: "/p" },
      { inside: "a/b", projectRoot: "/p" },
    ],
    [
      { cwd: "/q", projectRoot: "/p" },
      { inside: undefined, projectRoot: "/p" },
    ],
    [
      { cwd: "a", projectRoot: "/p" },
      { inside: undefined, projectRoot: "/p" },
    ],
    [{ cwd: "a" }, { inside: undefined, projectRoot: undefined }],
    [{ cwd: "/usr/src/app" }, { inside: "", projectRoot: "/usr/src/app" }],
    [{ cwd: "/home/ann/app" }, { inside: "", projectRoot: "/home/ann/app" }],
    [{ projectRoot: "/home/ann" }, { inside: "", projectRoot: "/home/ann" }],
  ])("of %j", (options, place) =>
    expect(startPlace(options)).toEqual({ ...place, trustedWorkspace: true }),
  );

  it.each([
    "/",
    "//",
    "/etc",
    "/etc/ssl",
    "/usr",
    "/usr/lib/x",
    "/lib64",
    "/proc/1",
    "/var/log",
    "/root",
    "/home",
    "/home/ann",
    "/home/ann/",
    "/home/ann/app/..",
    "/Users/ann",
    "/tmp",
  ])("takes no project from the directory %s", (cwd) =>
    expect(startPlace({ cwd })).toEqual({
      inside: undefined,
      projectRoot: undefined,
      trustedWorkspace: true,
    }),
  );
});
