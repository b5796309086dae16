import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ArgumentParts, makeArguments } from "./namespace-arguments.js";

const parts: ArgumentParts = {
  host: { bwrap: "/usr/bin/bwrap", setpriv: "/usr/bin/setpriv", variant: "own" },
  root: ["--ro-bind", "/usr", "/usr"],
  env: { A: "1" },
  cwd: "/tmp",
  hasTerminal: false,
  seccompFd: 4,
  channelFd: 3,
};
const argumentsOf = (more: Partial<ArgumentParts> = {}): readonly string[] =>
  Buffer.from(makeArguments({ ...parts, ...more }))
    .toString()
    .split("\0")
    .slice(0, -1);

describe("makeArguments()", () => {
  it("unshares everything, keeps no capability and dies with its parent", () => {
    const wanted = ["--unshare-user", "--disable-userns", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];
    expect(argumentsOf()).toEqual(
      expect.arrayContaining([...wanted, "--unshare-cgroup-try", "--die-with-parent", "--clearenv", "--seccomp"]),
    );
    expect(argumentsOf().join(" ")).toContain("--cap-drop ALL");
    expect(argumentsOf()).not.toContain("--cap-add");
  });

  it("gives up the terminal's session unless there is one to keep", () => {
    expect(argumentsOf()).toContain("--new-session");
    expect(argumentsOf({ hasTerminal: true })).not.toContain("--new-session");
  });

  it("keeps what becoming a user needs where there is no user namespace", () => {
    const rooted = argumentsOf({ host: { ...parts.host, variant: "rooted" } });
    expect(rooted).not.toContain("--unshare-user");
    expect(rooted.join(" ")).toContain("--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP");
  });

  it("makes exactly one argument of every value, whatever it is, or throws options_invalid", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, (name, value) => {
        if (name === "" || /[=\0]/u.test(name) || value.includes("\0")) {
          expect(() => argumentsOf({ env: { [name]: value } })).toThrow(expect.objectContaining({ code: "options_invalid" }));
        } else {
          const bytes = (each: string): string => Buffer.from(each).toString();
          expect(argumentsOf({ env: { [name]: value } }).slice(-3)).toEqual(["--setenv", bytes(name), bytes(value)]);
        }
      }),
    );
  });

  it("throws options_invalid for a NUL in a path", () => {
    expect(() => argumentsOf({ cwd: "/tmp\0--bind\0/\0/" })).toThrow(expect.objectContaining({ code: "options_invalid" }));
  });
});
