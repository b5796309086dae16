import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { AgentUser, Session } from "./parts.js";
import { parseCaps } from "./resource-caps.js";
import { makeUidCommand, writeEnvironment } from "./uid-command.js";

const root = mkdtempSync(join(tmpdir(), "acp-uid-command-"));
const USER: AgentUser = {
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
  name: "agent",
  home: "/",
};
let count = 0;

function session(): Session {
  const directory = mkdtempSync(join(root, `${(count += 1)}-`));
  return {
    id: "0-1-2-0011aabb",
    directory,
    inside: join(directory, "inside"),
    record: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** What a shell makes of the file. */
function readBack(path: string, names: readonly string[]): Readonly<Record<string, string>> {
  const script = `. "$1"; shift; for name; do eval "printf '%s\\0' \\"\\$$name\\""; done`;
  const values = execFileSync("/bin/sh", ["-c", script, "sh", path, ...names], {
    encoding: "utf8",
  }).split("\0");
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}

afterAll(() => {
  rmSync(root, { recursive: true });
});

describe("writeEnvironment()", () => {
  it("gives a shell exactly what it was given, whatever is in the values", async () => {
    const value = fc.string({
      unit: fc.constantFrom(..."ab'\"\\$`\n;|&(){}*?! \t=#~é", "$(id)", "''"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.stringMatching(/^V[A-Z0-9_]{0,6}$/), value, { minKeys: 1, maxKeys: 4 }),
        async (env) => {
          expect(readBack(await writeEnvironment(session(), USER, env), Object.keys(env))).toEqual({
            ...env,
          });
        },
      ),
      { numRuns: 30 },
    );
  });

  it("lets nobody but the agent read it", async () => {
    const path = await writeEnvironment(session(), USER, { TOKEN: "x" });
    expect(statSync(path)).toMatchObject({ uid: USER.uid, gid: USER.gid });
    expect(statSync(path).mode & 0o777).toBe(0o400);
    expect(readFileSync(path, "utf8")).toBe("export TOKEN='x'\n");
  });

  it.each(["", "1A", "A-B", "A B", "A;id", "A\n", "BASH_FUNC_a%%", "Ä"])(
    "refuses the name %j",
    async (name) => {
      await expect(writeEnvironment(session(), USER, { [name]: "x" })).rejects.toMatchObject({
        code: "options_invalid",
      });
    },
  );

  it("refuses a value that would end early", async () => {
    await expect(writeEnvironment(session(), USER, { A: "a\0b" })).rejects.toMatchObject({
      code: "options_invalid",
    });
  });
});

describe("makeUidCommand()", () => {
  const parts = {
    argv: ["agent", "--flag"],
    user: { ...USER, uid: 61_000, gid: 61_001 },
    session: session(),
    cwd: "/work",
    enter: ["nsenter", "--target", "7", "--"],
    cgroups: ["/sys/fs/cgroup/acp-1"],
    caps: parseCaps({ processes: 3, openFiles: 64 }),
  };

  it("has the helper become the user, with the filter, and keep nothing but the channel", () => {
    const command = makeUidCommand({
      ...parts,
      helper: { isAvailable: true, path: "/helper", landlockAbi: 0 },
      hasFilter: true,
    });
    const words = command.slice(command.indexOf("/helper"));
    const options = words.slice(1, words.indexOf("--"));
    const pairs = options.flatMap((name, index) =>
      index % 2 === 0 ? [[name, options[index + 1]]] : [],
    );
    expect(Object.fromEntries(pairs)).toEqual({
      "--uid": "61000",
      "--gid": "61001",
      "--keep": "3",
      "--seccomp": "4",
      "--files": "64",
      "--processes": "3",
    });
  });

  it("gives everything up without the helper too", () => {
    const command = makeUidCommand({
      ...parts,
      helper: { isAvailable: false, reason: "", fix: "" },
      hasFilter: false,
    });
    expect(command).toEqual(
      expect.arrayContaining([
        "--reuid",
        "61000",
        "--regid",
        "61001",
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
        "--inh-caps=-all",
      ]),
    );
  });

  it("reads the agent's environment only after that, and ends with the agent's own words", () => {
    const command = makeUidCommand({
      ...parts,
      helper: { isAvailable: false, reason: "", fix: "" },
      hasFilter: false,
    });
    expect(command.indexOf("--reuid")).toBeLessThan(
      command.indexOf(join(parts.session.directory, "environment")),
    );
    expect(command.slice(-2)).toEqual(["agent", "--flag"]);
  });
});
