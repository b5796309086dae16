import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkProgramInside } from "./program-inside.js";
import type { ProgramParts } from "./program-inside.js";

interface Kit {
  readonly root: string;
  program(name: string, text?: string): string;
  check(argv: readonly string[], more?: Partial<ProgramParts["plan"]>, path?: string): string;
}

function kit(): Kit {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "acp-program-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "work"));
  return {
    root,
    program(name, text = "#!/bin/sh\n") {
      const path = join(root, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      chmodSync(path, 0o755);
      return path;
    },
    check(argv, more = {}, path = "") {
      const plan = {
        argv,
        sandboxes: ["namespace", "landlock"] as const,
        workspace: { path: join(root, "work"), access: "read-write" as const },
        readable: [],
        ...more,
      };
      try {
        checkProgramInside({
          plan,
          io: { env: { PATH: `${path}:/usr/bin:/bin` }, cwd: join(root, "work") },
        });
        return "";
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

describe("checkProgramInside()", () => {
  it("lets programs of the system, of the workspace and of --read be", () => {
    const { check, program, root } = kit();
    program("work/tool");
    program("tools/tool");
    expect(check(["sh"])).toBe("");
    expect(check(["/bin/sh"])).toBe("");
    expect(check(["./tool"])).toBe("");
    expect(check(["tool"], { readable: [join(root, "tools")] }, join(root, "tools"))).toBe("");
    expect(check([process.execPath])).toBe("");
  });

  it("names the directory of one that is not shown", () => {
    const { check, program, root } = kit();
    const path = program("tools/tool");
    const text = `the sandbox does not show it; add --read ${join(root, "tools")}`;
    expect(check(["tool"], {}, join(root, "tools"))).toBe(`Cannot run "tool": ${text}`);
    expect(check([path])).toBe(`Cannot run "${path}": ${text}`);
    expect(check([path], { sandboxes: ["landlock"] })).not.toBe("");
  });

  it("lets the next of that name be found", () => {
    const { check, program, root } = kit();
    program("shims/sh");
    expect(check(["sh"], {}, join(root, "shims"))).toBe("");
  });

  it("names every directory on the way, each once", () => {
    const { check, program, root } = kit();
    program("share/versions/2/tool");
    mkdirSync(join(root, "bin"));
    symlinkSync("../share/versions/2/tool", join(root, "bin/tool"));
    expect(check(["tool"], {}, join(root, "bin"))).toContain(
      `--read ${join(root, "bin")},${join(root, "share/versions/2")}`,
    );
    expect(check(["tool"], { readable: [join(root, "bin")] }, join(root, "bin"))).toMatch(
      /--read \S*\/share\/versions\/2$/u,
    );
  });

  it("names the environment of Python that a program's first line leads to", () => {
    const { check, program, root } = kit();
    writeFileSync(program("venv/pyvenv.cfg"), "");
    mkdirSync(join(root, "venv/bin"));
    symlinkSync("/bin/sh", join(root, "venv/bin/python"));
    program("bin/aider", `#!${join(root, "venv/bin/python")}\n`);
    expect(check(["aider"], { readable: [join(root, "bin")] }, join(root, "bin"))).toMatch(
      /--read \S*\/venv$/u,
    );
  });

  it("says nothing of what is nowhere, and of sandboxes that show everything", () => {
    const { check, program } = kit();
    const path = program("tools/tool");
    expect(check(["acp-there-is-none"])).toBe("");
    expect(check([`${path}-not`])).toBe("");
    expect(check([path], { sandboxes: ["env"] })).toBe("");
  });

  it("is not held up by links in a circle or a pipe", () => {
    const { check, root } = kit();
    symlinkSync("b", join(root, "a"));
    symlinkSync("a", join(root, "b"));
    expect(check([join(root, "a")])).toBe("");
  });
});
