/**
 * What users load: every entry of every built package, by its name, with import and with require.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { LOAD_ENV, entryNames, loadScript, readLoaded } from "./load-entries.js";
import { packages } from "./workspace.mjs";

it.each(packages())(
  "built package $folder gives the same exports to import and to require",
  ({ dir, manifest }) => {
    const names = entryNames(manifest);
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["--input-type=module", "-e", loadScript(names)],
      {
        cwd: dir,
        encoding: "utf8",
        env: { ...process.env, ...LOAD_ENV },
      },
    );
    expect({ status, errors: status === 0 ? "" : stderr }).toEqual({ status: 0, errors: "" });
    const loaded = readLoaded(stdout);
    expect(loaded.map(({ name }) => name)).toEqual(names);
    for (const { imported, required } of loaded) expect(required).toBe(imported);
    // An entry that is loaded for what it does exports nothing.
    const { sideEffects } = manifest;
    const effects = Array.isArray(sideEffects)
      ? sideEffects.map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, `${manifest.name}/$1`))
      : [];
    expect(loaded.filter(({ imported }) => imported === "").map(({ name }) => name)).toEqual(
      effects,
    );
  },
);

const lone = packages().flatMap(({ dir, manifest: { sideEffects } }) =>
  Array.isArray(sideEffects) ? sideEffects.map((file) => join(dir, file)) : [],
);

it.each(lone)("%s is one file, which works where there are no packages", (file) => {
  const dir = mkdtempSync(join(tmpdir(), "acp-lone-"));
  const copy = join(dir, basename(file, ".js").concat(".mjs"));
  copyFileSync(file, copy);
  const env = { HTTP_PROXY: "http://127.0.0.1:9" };
  const { status, stderr } = spawnSync(process.execPath, ["--import", copy, "-e", ""], {
    cwd: dir,
    encoding: "utf8",
    env,
  });
  rmSync(dir, { recursive: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
