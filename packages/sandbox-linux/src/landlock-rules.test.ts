import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeLandlockRules, shownHidden } from "./landlock-rules.js";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-rules-")));
const [work = "", library = "", home = "", inside = ""] = ["work", "library", "home", "inside"].map(
  (name) => {
    mkdirSync(join(scratch, name));
    return join(scratch, name);
  },
);
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

/** Paths by option. */
function ruleMap(access: "read-write" | "read-only"): ReadonlyMap<string, readonly string[]> {
  const places = {
    workspace: { path: work, access },
    readable: [library, join(scratch, "gone")],
    hidden: [],
    programs: [],
  };
  const rules = makeLandlockRules({
    places,
    readable: [inside],
    own: [home],
    terminals: ["/dev/tty"],
  });
  const byOption = new Map<string, string[]>();
  rules.forEach((word, index) => {
    if (index % 2 === 0)
      byOption.set(word, [...(byOption.get(word) ?? []), rules[index + 1] ?? ""]);
  });
  return byOption;
}

describe("makeLandlockRules()", () => {
  it("lets the agent write what is its own and a workspace for writing, and nothing else", () => {
    expect(ruleMap("read-write").get("--write")).toEqual([home, work]);
    expect(ruleMap("read-only").get("--write")).toEqual([home]);
    expect(ruleMap("read-only").get("--read")).toContain(work);
  });

  it("leaves out what is not there", () => {
    expect(ruleMap("read-write").get("--read")).toEqual(
      expect.arrayContaining(["/usr", "/proc", library, inside]),
    );
    expect(ruleMap("read-write").get("--read")).not.toContain(join(scratch, "gone"));
  });

  it("shows no home, no directory of all programs' state, no secret of the system", () => {
    const read = ruleMap("read-write").get("--read") ?? [];
    for (const path of [
      "/",
      "/home",
      "/root",
      "/etc",
      "/etc/ssl",
      "/etc/shadow",
      "/var",
      "/run",
      "/tmp",
      "/dev",
      "/sys",
    ])
      expect(read).not.toContain(path);
  });

  it("gives devices that hold nothing, and the terminal that is shared", () => {
    expect(ruleMap("read-write").get("--device")).toEqual(
      expect.arrayContaining(["/dev/null", "/dev/urandom"]),
    );
    for (const path of ruleMap("read-write").get("--device") ?? [])
      expect(path).toMatch(/^\/dev\/(?:null|zero|full|random|urandom|tty)$/u);
  });
});

describe("shownHidden()", () => {
  it("finds what is hidden in what every agent reads", () => {
    const places = (hidden: string) => ({
      workspace: undefined,
      readable: [],
      hidden: [scratch, hidden],
      programs: [],
    });
    expect(shownHidden(places(realpathSync("/usr/bin")))).toEqual([
      realpathSync("/usr/bin"),
      "/usr",
    ]);
    expect(shownHidden(places("/usr/not/there"))).toBeUndefined();
    expect(shownHidden(places(work))).toBeUndefined();
  });
});
