import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostNeed } from "@acp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileIdAt, openPlaces, reopenWorkspace } from "./places.js";

let scratch: string;
beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "acp-open-")));
  for (const name of ["home/keys", "work", "other"])
    mkdirSync(join(scratch, name), { recursive: true });
});
afterEach(() => rmSync(scratch, { recursive: true }));

const at = (name: string): string => join(scratch, name);
const invalid = expect.objectContaining({ code: "options_invalid" });
const namespaces = hostNeed("unshare", () =>
  spawnSync("unshare", ["-Urm", "true"]).status === 0 ? undefined : "no user namespaces",
);

describe("openPlaces()", () => {
  it("holds what was there, whatever has the name later", () => {
    using open = openPlaces({ shown: [at("work")], own: [at("other")], hidden: [] });
    renameSync(at("work"), at("moved"));
    mkdirSync(at("work"));
    const [work] = open.all;
    expect(open.all.map(({ path }) => path)).toEqual([at("work"), at("other")]);
    expect(work).toMatchObject(fileIdAt(at("moved")));
    expect(work).not.toMatchObject(fileIdAt(at("work")));
  });

  it.each(["", "deep/er"])("refuses a link, also on the way: link/%s", (below) => {
    mkdirSync(at("work/deep/er"), { recursive: true });
    symlinkSync(at("work"), at("link"));
    expect(() => openPlaces({ shown: [join(at("link"), below)], own: [], hidden: [] })).toThrow(
      invalid,
    );
    expect(() => openPlaces({ shown: [at("work"), at("nowhere")], own: [], hidden: [] })).toThrow(
      invalid,
    );
  });

  it("refuses what is, holds or lies in a hidden place, and lets ours be", () => {
    for (const hidden of [at("home"), at("home/keys")])
      expect(() => openPlaces({ shown: [at("home")], own: [], hidden: [hidden] })).toThrow(invalid);
    expect(() => openPlaces({ shown: [at("home/keys")], own: [], hidden: [at("home")] })).toThrow(
      invalid,
    );
    symlinkSync(at("home"), at("ours"));
    using open = openPlaces({
      shown: [at("work")],
      own: [at("home/keys"), at("ours/keys")],
      hidden: [at("home"), at("nowhere")],
    });
    const keys = fileIdAt(at("home/keys"));
    expect(open.all.slice(1)).toMatchObject([
      { path: at("home/keys"), ...keys },
      { path: at("ours/keys"), ...keys },
    ]);
  });

  it.skipIf(!namespaces.run)(`knows a hidden place by another name ${namespaces.reason}`, () => {
    const script = `const { openPlaces } = await import(process.argv[1]);
      for (const place of process.argv.slice(3)) try { openPlaces({ shown: [place], own: [], hidden: [process.argv[2]] }); console.log("shown"); } catch (error) { console.log(error.code); }`;
    const run = [
      "--import",
      "tsx",
      "--input-type=module",
      "-e",
      script,
      fileURLToPath(new URL("places.ts", import.meta.url)),
    ];
    const shell = `mount --bind "$1/home" "$1/work" && shift && exec "$@"`;
    const places = [at("home"), at("work"), at("work/keys"), at("other")];
    const { stdout } = spawnSync(
      "unshare",
      ["-Urm", "sh", "-c", shell, "sh", scratch, process.execPath, ...run, ...places],
      {
        encoding: "utf8",
      },
    );
    expect(stdout).toBe("options_invalid\noptions_invalid\nshown\n");
  });

  it("keeps nothing open where one is refused", () => {
    const count = (): number => readdirSync("/proc/self/fd").length;
    const before = count();
    expect(() =>
      openPlaces({
        shown: [at("work"), at("other"), at("nowhere")],
        own: [],
        hidden: [at("home")],
      }),
    ).toThrow(invalid);
    expect(count()).toBe(before);
  });
});

describe("reopenWorkspace()", () => {
  it("gives back to an agent what it took from itself, and to nobody else", () => {
    const { uid, gid } = statSync(scratch);
    const mode = (): number => statSync(at("work")).mode & 0o7777;
    const agent = { uid, gid, name: "agent", home: "/" };
    chmodSync(at("work"), 0o005);
    reopenWorkspace({ path: at("work"), access: "read-only" }, agent);
    reopenWorkspace({ path: at("work"), access: "read-write" }, { ...agent, uid: uid + 1 });
    expect(mode()).toBe(0o005);
    reopenWorkspace({ path: at("work"), access: "read-write" }, agent);
    expect(mode()).toBe(0o705);
    writeFileSync(at("work/file"), "");
  });
});
