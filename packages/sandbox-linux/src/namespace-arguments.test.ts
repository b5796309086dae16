import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ArgumentParts, makeArguments, makeEnvironment } from "./namespace-arguments.js";

const parts: ArgumentParts = {
  host: { bwrap: "/usr/bin/bwrap", setpriv: "/usr/bin/setpriv", variant: "own" },
  root: ["--ro-bind", "/usr", "/usr"],
  env: { A: "1" },
  cwd: "/tmp",
  hasInit: false,
  seccompFd: 4,
};
const argumentsOf = (more: Partial<ArgumentParts> = {}): readonly string[] =>
  Buffer.from(makeArguments({ ...parts, ...more }))
    .toString()
    .split("\0")
    .slice(0, -1);

describe("makeArguments()", () => {
  it("unshares everything, keeps no capability and dies with its parent", () => {
    const wanted = [
      "--unshare-user",
      "--disable-userns",
      "--unshare-net",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-uts",
    ];
    expect(argumentsOf()).toEqual(
      expect.arrayContaining([
        ...wanted,
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--clearenv",
        "--seccomp",
      ]),
    );
    expect(argumentsOf().join(" ")).toContain("--cap-drop ALL");
    expect(argumentsOf()).not.toContain("--cap-add");
  });

  it("leaves the session and the environment to a first process of ours", () => {
    expect(argumentsOf().join(" ")).toMatch(/--new-session.* --setenv A 1$/u);
    const own = argumentsOf({ hasInit: true });
    expect(own).toContain("--as-pid-1");
    expect(own).not.toContain("--new-session");
    expect(own).not.toContain("--setenv");
  });

  it("keeps what becoming a user needs where there is no user namespace", () => {
    const rooted = argumentsOf({ host: { ...parts.host, variant: "rooted" } });
    expect(rooted).not.toContain("--unshare-user");
    expect(rooted.join(" ")).toContain(
      "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP",
    );
  });

  it("makes exactly one argument of every value, whatever it is, or throws options_invalid", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, (name, value) => {
        if (name === "" || /[=\0]/u.test(name) || value.includes("\0")) {
          expect(() => argumentsOf({ env: { [name]: value } })).toThrow(
            expect.objectContaining({ code: "options_invalid" }),
          );
        } else {
          const bytes = (each: string): string => Buffer.from(each).toString();
          expect(argumentsOf({ env: { [name]: value } }).slice(-3)).toEqual([
            "--setenv",
            bytes(name),
            bytes(value),
          ]);
        }
      }),
    );
  });

  it("throws options_invalid for a NUL in a path", () => {
    expect(() => argumentsOf({ cwd: "/tmp\0--bind\0/\0/" })).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });
});

describe("makeEnvironment()", () => {
  it("gives each variable as a string that ends with a NUL", () => {
    expect(Buffer.from(makeEnvironment({ A: "1", B: "two\nlines=2" })).toString()).toBe(
      "A=1\0B=two\nlines=2\0",
    );
  });

  it.each([{ "A=B": "c" }, { "": "c" }, { A: "b\0C=d" }])(
    "throws options_invalid for %j",
    (env) => {
      expect(() => makeEnvironment(env)).toThrow(
        expect.objectContaining({ code: "options_invalid" }),
      );
    },
  );
});
