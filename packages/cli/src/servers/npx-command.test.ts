import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readNpxCommand, readPackageSpec } from "./npx-command.js";

const read = (text: string): ReturnType<typeof readNpxCommand> => readNpxCommand(text.split(" "));

describe("readNpxCommand()", () => {
  it.each([
    ["npx server", { packages: [{ name: "server", wanted: "latest" }], args: [] }],
    [
      "npx -y server@1.2.3 --port 80 -p x",
      { packages: [{ name: "server", wanted: "1.2.3" }], args: ["--port", "80", "-p", "x"] },
    ],
    [
      "/usr/bin/npx --yes @scope/server@^2 /srv",
      { packages: [{ name: "@scope/server", wanted: "^2" }], args: ["/srv"] },
    ],
    ["npx -- server -- a", { packages: [{ name: "server", wanted: "latest" }], args: ["--", "a"] }],
    [
      "npx -p one -p @s/two@next run a",
      {
        packages: [
          { name: "one", wanted: "latest" },
          { name: "@s/two", wanted: "next" },
        ],
        program: "run",
        args: ["a"],
      },
    ],
    [
      "npx --package=one run",
      { packages: [{ name: "one", wanted: "latest" }], program: "run", args: [] },
    ],
    [
      "npm exec -y server a -- --b",
      { packages: [{ name: "server", wanted: "latest" }], args: ["a", "--b"] },
    ],
    [
      "npm x --package one -- run -v",
      { packages: [{ name: "one", wanted: "latest" }], program: "run", args: ["-v"] },
    ],
  ])("reads %s", (text, want) => {
    expect(read(text)).toEqual(want);
  });

  it.each(["node server.mjs", "npm run x", "uvx server", "pnpx server", ""])(
    "leaves %j alone",
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  it.each([
    ["npx -c server", `npm's option "-c" is not supported here`],
    [
      "npx --registry=https://elsewhere.example server",
      `npm's option "--registry" is not supported here`,
    ],
    ["npx --userconfig x server", `npm's option "--userconfig" is not supported here`],
    ["npm exec server --call=x", `npm's option "--call" is not supported here`],
    ["npx", "it names no package"],
    ["npx -y", "it names no package"],
    ["npx -p one", "after its packages it does not name a program of theirs"],
    ["npx -p one ../run", "after its packages it does not name a program of theirs"],
    ["npx -p", `"" is not the name of a package in a registry`],
    ["npx -p one -p one@2 run", `it names the package "one" twice`],
    ["npx ./server", `"./server" is not the name of a package in a registry`],
    ["npx /srv/server", `"/srv/server" is not the name of a package in a registry`],
    ["npx user/server", `"user/server" is not the name of a package in a registry`],
    [
      "npx git+https://host.example/x.git",
      `"git+https://host.example/x.git" is not the name of a package in a registry`,
    ],
    [
      "npx server@file:../x",
      `"server@file:../x" does not name a version, a range or a tag of a registry`,
    ],
    [
      "npx server@npm:other@1",
      `"server@npm:other@1" does not name a version, a range or a tag of a registry`,
    ],
    [
      "npx server@user/repo",
      `"server@user/repo" does not name a version, a range or a tag of a registry`,
    ],
    ["npx server@x.tgz", `"server@x.tgz" does not name a version, a range or a tag of a registry`],
    ["npx server@.", `"server@." does not name a version, a range or a tag of a registry`],
    ["npx server@", `"server@" does not name a version, a range or a tag of a registry`],
    ["npx x.tgz", `"x.tgz" is not the name of a package in a registry`],
    ["npx Server", `"Server" is not the name of a package in a registry`],
    ["npx node_modules", `"node_modules" is not the name of a package in a registry`],
    [`npx ${"a".repeat(215)}`, "is not the name of a package in a registry"],
    [
      `npx ${Array.from({ length: 17 }, (_, at) => `-p p${at}`).join(" ")} run`,
      "it names more than 16 packages",
    ],
  ])("refuses %s", (text, reason) => {
    expect(read(text)).toEqual({ reason: expect.stringContaining(reason) });
  });

  it("never takes what has a colon, a slash beyond a scope, or a control character for a package", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        const spec = readPackageSpec(text);
        if ("reason" in spec) return;
        expect(spec.name).toMatch(/^(?:@[^/:@\s]+\/)?[^/:@\s]+$/u);
        expect(spec.wanted).toMatch(/^[\x20-\x7e]+$/u);
        expect(spec.wanted).not.toMatch(/[:/\\@]/u);
      }),
    );
  });

  it("hands every word after the package on as it is", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 })), (args) => {
        expect(readNpxCommand(["npx", "-y", "server", ...args])).toEqual({
          packages: [{ name: "server", wanted: "latest" }],
          args,
        });
      }),
    );
  });
});
