import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FALLBACK_PATH } from "./environment-names.js";
import { makeEnvironment, scrubPath, scrubVariables } from "./environment.js";

let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "exec-environment-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("scrubVariables()", () => {
  const dropped = `
    BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH GLOBIGNORE IFS BASH_FUNC_ls%% BASH_COMPAT LD_PRELOAD LD_LIBRARY_PATH
    DYLD_INSERT_LIBRARIES PYTHONPATH PYTHONSTARTUP PERL5LIB PERL5OPT RUBYOPT RUBYLIB NODE_OPTIONS GIT_DIR GIT_EXTERNAL_DIFF GIT_SSH_COMMAND
    GIT_CONFIG_COUNT LESSOPEN LESSCLOSE EDITOR VISUAL RIPGREP_CONFIG_PATH TAR_OPTIONS GREP_OPTIONS PWD OLDPWD POSIXLY_CORRECT not-a-name`;
  it.each(dropped.trim().split(/\s+/))("scrubVariables() drops %s", (name) => {
    expect(scrubVariables({ [name]: "value" })).toEqual(scrubVariables({}));
  });

  it("scrubVariables() keeps what only describes the user and the screen", () => {
    const kept = {
      HOME: "/home/alice",
      LANG: "C.UTF-8",
      LC_ALL: "C",
      TERM: "dumb",
      TZ: "UTC",
      MY_SETTING: "1",
    };
    expect(scrubVariables(kept)).toMatchObject(kept);
  });

  it("scrubVariables() sets pagers and git so that nothing asks back, whatever was given", () => {
    const given = { PAGER: "evil", MANPAGER: "evil", GIT_PAGER: "evil", GIT_TERMINAL_PROMPT: "1" };
    expect(scrubVariables(given)).toEqual({
      PAGER: "cat",
      MANPAGER: "cat",
      GIT_PAGER: "cat",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      NO_UPDATE_NOTIFIER: "1",
      PIP_DISABLE_PIP_VERSION_CHECK: "1",
    });
  });

  it("scrubVariables() drops a value that no environment can hold", () => {
    expect(scrubVariables({ A: "x\u0000y", B: undefined })).toEqual(scrubVariables({}));
  });
});

describe("scrubPath()", () => {
  it("scrubPath() keeps absolute directories outside the project, in their order", async () => {
    const root = join(folder, "project");
    await mkdir(join(root, "bin"), { recursive: true });
    const outside = join(folder, "tools");
    await mkdir(outside);
    const given = [
      "/usr/bin",
      "",
      ".",
      "bin",
      "./node_modules/.bin",
      root,
      join(root, "bin"),
      outside,
      `${folder}/tools/../project/bin`,
      "/bin",
    ];
    expect(await scrubPath(given.join(":"), root)).toBe(`/usr/bin:${outside}:/bin`);
  });

  it("scrubPath() drops a link into the project, and keeps a neighbour whose name starts alike", async () => {
    const root = join(folder, "project");
    await mkdir(join(root, "bin"), { recursive: true });
    await mkdir(join(folder, "project-tools"));
    await symlink(join(root, "bin"), join(folder, "link"));
    expect(await scrubPath(`${folder}/link:${folder}/project-tools`, root)).toBe(
      `${folder}/project-tools`,
    );
  });

  it("scrubPath() drops a link of the project that leads outside: tomorrow it may lead elsewhere", async () => {
    const root = join(folder, "project");
    await mkdir(root);
    await symlink("/usr/bin", join(root, "bin"));
    expect(await scrubPath(`${root}/bin:/bin`, root)).toBe("/bin");
  });

  it("scrubPath() drops what cannot be looked at, and keeps what does not exist", async () => {
    const root = join(folder, "project");
    await mkdir(root);
    await symlink(join(folder, "loop"), join(folder, "loop"));
    expect(await scrubPath(`${folder}/loop:${folder}/gone:/bin`, root)).toBe(`${folder}/gone:/bin`);
  });

  it("scrubPath() gives the system's directories where none is left", async () => {
    expect(await scrubPath(undefined, folder)).toBe(FALLBACK_PATH);
    expect(await scrubPath(".::bin", folder)).toBe(FALLBACK_PATH);
  });
});

describe("makeEnvironment()", () => {
  const make = (variables: Record<string, string>): ReturnType<typeof makeEnvironment> =>
    makeEnvironment({
      variables: { PATH: "/usr/bin:/bin", ...variables },
      cwd: folder,
      projectRoot: folder,
    });

  it("makeEnvironment() has one digest for the same variables in any order", async () => {
    const one = await make({ A: "1", B: "2" });
    const other = await make({ B: "2", A: "1" });
    expect(one.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(other.digest).toBe(one.digest);
  });

  it("makeEnvironment() has another digest for another value, name or search path", async () => {
    const digests = [
      await make({ A: "1" }),
      await make({ A: "2" }),
      await make({ C: "1" }),
      await make({ A: "1", PATH: "/bin" }),
    ];
    expect(new Set(digests.map(({ digest }) => digest)).size).toBe(4);
  });

  it("makeEnvironment() has the same digest where only what is dropped differs", async () => {
    const { digest } = await make({ A: "1" });
    expect((await make({ A: "1", LD_PRELOAD: "/evil.so", SHLVL: "7" })).digest).toBe(digest);
  });
});
