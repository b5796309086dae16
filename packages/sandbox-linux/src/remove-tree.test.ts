import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeTree } from "./remove-tree.js";

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "acp-remove-"));
  chmodSync(scratch, 0o777);
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** As somebody whom modes hold: root is not. */
function removeAsPlain(path: string): number | null {
  const script = `const { removeTree } = await import(process.argv[1]); await removeTree(process.argv[2]);`;
  const module = fileURLToPath(new URL("remove-tree.ts", import.meta.url));
  const own =
    process.getuid?.() === 0
      ? ["setpriv", "--reuid=61017", "--regid=61017", "--clear-groups", "--"]
      : [];
  const [program = "", ...args] = [
    ...own,
    process.execPath,
    "--import",
    "tsx",
    "--input-type=module",
    "-e",
    script,
    module,
    path,
  ];
  return spawnSync(program, args, { stdio: "inherit" }).status;
}

describe("removeTree()", () => {
  it("removes what is closed to its owner, and nothing that a link leads to", () => {
    const [tree, outside] = [join(scratch, "tree"), join(scratch, "outside")];
    mkdirSync(outside);
    writeFileSync(join(outside, "kept"), "kept");
    chmodSync(outside, 0o755);
    const script = `mkdir -p ${tree}/a/b/c && touch ${tree}/a/b/c/file && ln -s ${outside} ${tree}/a/link && chmod 000 ${tree}/a/b/c ${tree}/a/b ${tree}/a ${tree}`;
    const own = process.getuid?.() === 0 ? { uid: 61_017, gid: 61_017 } : {};
    expect(spawnSync("sh", ["-c", script], own).status).toBe(0);
    expect(removeAsPlain(tree)).toBe(0);
    expect(existsSync(tree)).toBe(false);
    expect([readFileSync(join(outside, "kept"), "utf8"), statSync(outside).mode & 0o777]).toEqual([
      "kept",
      0o755,
    ]);
  });

  it("removes what is nested deeper than a path is long, and names that are no text", async () => {
    const tree = join(scratch, "tree");
    const script = `import os, sys
os.makedirs(sys.argv[1]); os.chdir(sys.argv[1])
open(b"\\xff\\xfe", "w").close()
for _ in range(300):
    os.mkdir("d" * 40); os.chdir("d" * 40); open("file", "w").close()
os.chmod(".", 0)
`;
    expect(spawnSync("python3", ["-c", script, tree], { stdio: "inherit" }).status).toBe(0);
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  it("is done where there is nothing, and removes a link, not what it leads to", async () => {
    await removeTree(join(scratch, "nothing"));
    symlinkSync(tmpdir(), join(scratch, "link"));
    await removeTree(join(scratch, "link"));
    expect(existsSync(join(scratch, "link"))).toBe(false);
    expect(existsSync(tmpdir())).toBe(true);
  });
});
