import { describe, expect, it } from "vitest";
import { checkInstalled, readLockfile } from "./lockfile.js";
import type { LockfileRules } from "./lockfile.js";

const SUM = `sha512-${"A".repeat(86)}==`;
const OTHER_SUM = `sha512-${"B".repeat(86)}==`;
const RULES: LockfileRules = {
  packages: [{ name: "tool", wanted: "latest" }],
  registries: { main: "https://packages.example/", scopes: { "@own": "https://own.example/npm/" } },
};
const entry = (name: string, more: object = {}): object => ({
  version: "1.0.0",
  resolved: `https://packages.example/${name}.tgz`,
  integrity: SUM,
  ...more,
});
const text = (packages: object, more: object = {}): string =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: { "": {}, "node_modules/tool": entry("tool"), ...packages },
    ...more,
  });

describe("readLockfile()", () => {
  it("reads packages of their registries, aliases, optional ones and those in another's archive", () => {
    const packages = {
      "node_modules/@own/lib": entry("lib", {
        resolved: "https://own.example/npm/lib.tgz",
        hasInstallScript: true,
      }),
      "node_modules/alias": entry("real", { name: "real" }),
      "node_modules/tool/node_modules/fsevents": entry("fsevents", { optional: true }),
      "node_modules/tool/node_modules/inner": { version: "2.0.0", inBundle: true },
    };
    const read = readLockfile(text(packages), RULES).packages;
    expect(read.map(({ path, name }) => [path, name])).toEqual([
      ["node_modules/tool", "tool"],
      ["node_modules/@own/lib", "@own/lib"],
      ["node_modules/alias", "real"],
      ["node_modules/tool/node_modules/fsevents", "fsevents"],
      ["node_modules/tool/node_modules/inner", "inner"],
    ]);
    expect(read.filter(({ hasScripts }) => hasScripts).map(({ name }) => name)).toEqual([
      "@own/lib",
    ]);
    expect(read.filter(({ isOptional }) => isOptional).map(({ name }) => name)).toEqual([
      "fsevents",
    ]);
  });

  it.each([
    ["another host", entry("x", { resolved: "https://elsewhere.example/x.tgz" }), "comes from"],
    ["another port", entry("x", { resolved: "https://packages.example:8443/x.tgz" }), "comes from"],
    ["no encryption", entry("x", { resolved: "http://packages.example:443/x.tgz" }), "comes from"],
    [
      "credentials in the address",
      entry("x", { resolved: "https://a:b@packages.example/x.tgz" }),
      "comes from",
    ],
    [
      "the registry of a scope for another name",
      entry("x", { resolved: "https://own.example/npm/x.tgz" }),
      "comes from",
    ],
    [
      "a repository",
      entry("x", { resolved: "git+ssh://git@host.example/x.git#abc", integrity: undefined }),
      "does not come from a registry",
    ],
    ["a directory", { resolved: "../x", link: true }, "is a link to a directory"],
    ["a file", entry("x", { resolved: "file:x.tgz" }), "does not come from a registry"],
    ["no address", entry("x", { resolved: undefined }), "does not come from a registry"],
    ["no sum", entry("x", { integrity: undefined }), "has no sha512"],
    ["a weak sum", entry("x", { integrity: "sha1-AAAA" }), "has no sha512"],
    ["a sum among others", entry("x", { integrity: `sha1-AAAA ${SUM}` }), "has no sha512"],
    ["no version", entry("x", { version: undefined }), "has no version"],
    ["a version that is an address", entry("x", { version: "https://x" }), "has no version"],
    ["a strange name", entry("x", { name: "../x" }), "has no name"],
  ])("refuses a package with %s", (_what, broken, why) => {
    expect(() => readLockfile(text({ "node_modules/x": broken }), RULES)).toThrow(why);
  });

  it.each([
    "../x",
    "node_modules/../x",
    "node_modules/.bin",
    "x",
    "node_modules/",
    "/node_modules/x",
    "node_modules/a/b",
    "node_modules/a//node_modules/b",
  ])("refuses a package at %s", (path) => {
    expect(() => readLockfile(text({ [path]: entry("x") }), RULES)).toThrow(
      "is not a place for a package",
    );
  });

  it("refuses what lies in nobody's archive", () => {
    expect(() =>
      readLockfile(text({ "node_modules/x": { version: "1.0.0", inBundle: true } }), RULES),
    ).toThrow("neither a sum of its own");
    const nested = { "node_modules/y/node_modules/x": { version: "1.0.0", inBundle: true } };
    expect(() => readLockfile(text(nested), RULES)).toThrow("neither a sum of its own");
  });

  it.each([
    ["not JSON", "{", "is not plain JSON"],
    ["a list", "[]", "is not an object"],
    ["another version", text({}, { lockfileVersion: 2 }), "of another version than 3"],
    ["no packages", JSON.stringify({ lockfileVersion: 3 }), "has no list"],
    [
      "without the package",
      JSON.stringify({ lockfileVersion: 3, packages: { "": {} } }),
      `the package "tool" is not in its lockfile`,
    ],
    [
      "too many",
      text(
        Object.fromEntries(
          Array.from({ length: 3_000 }, (_, at) => [`node_modules/p${at}`, entry("p")]),
        ),
      ),
      "more than 3000",
    ],
    ["too long", `"${"x".repeat(8_388_608)}"`, "is larger than"],
  ])("refuses a lockfile that is %s", (_what, broken, why) => {
    expect(() => readLockfile(broken, RULES)).toThrow(why);
  });
});

describe("checkInstalled()", () => {
  const lockfile = readLockfile(
    text({
      "node_modules/mac": entry("mac", { optional: true }),
      "node_modules/lib": entry("lib"),
    }),
    RULES,
  );
  const installed = (packages: object): string => JSON.stringify({ packages });
  const whole = { "node_modules/tool": entry("tool"), "node_modules/lib": entry("lib") };

  it("takes a tree that is whole, but for what is made for another system", () => {
    expect(() => checkInstalled(installed(whole), lockfile)).not.toThrow();
  });

  it.each([
    [
      "more",
      { ...whole, "node_modules/more": entry("more") },
      "differently from what its lockfile",
    ],
    [
      "another version",
      { ...whole, "node_modules/lib": entry("lib", { version: "1.0.1" }) },
      "differently from what its lockfile",
    ],
    [
      "other bytes",
      { ...whole, "node_modules/lib": entry("lib", { integrity: OTHER_SUM }) },
      "differently from what its lockfile",
    ],
    ["less", { "node_modules/tool": entry("tool") }, `did not install "node_modules/lib"`],
    ["nothing", {}, "did not install"],
  ])("refuses a tree with %s", (_what, packages, why) => {
    expect(() => checkInstalled(installed(packages), lockfile)).toThrow(why);
  });
});
