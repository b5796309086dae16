/**
 * Reviews of what real agents wrote: what is shown, and what is refused.
 */
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ReviewSnapshot } from "../src/review-parts.js";
import { makeSnapshot } from "../src/review-snapshot.js";
import { namespaces } from "./namespace-kit.js";
import { overlayWorld } from "./overlay-kit.js";
import { FILES, look, review, take } from "./review-kit.js";

function kinds({ listing }: ReviewSnapshot): readonly string[] {
  return listing.changes.map(
    ({ path, before, after }) => `${path} ${before?.kind ?? "-"} ${after?.kind ?? "-"}`,
  );
}

describe.skipIf(!namespaces.run)(`a review ${namespaces.reason}`, () => {
  it("shows every kind of change, and taking all makes the workspace what the agent saw", async () => {
    await using world = overlayWorld(FILES);
    const before = world.look();
    const snapshot = await review(
      world,
      `echo more >> a.txt; rm -r folder; mkdir folder; echo x > folder/new; chmod 750 run.sh; ln -s folder/new link
       mkdir -p made/deep; printf '\\000\\377' > made/deep/bytes; chmod 700 made; touch empty; echo same > same; rm same`,
    );
    expect(world.look()).toEqual(before);
    expect(kinds(snapshot)).toEqual([
      "a.txt file file",
      "empty - file",
      "folder/b.txt file -",
      "folder/deep folder -",
      "folder/deep/c.txt file -",
      "folder/new - file",
      "link - link",
      "made - folder",
      "made/deep - folder",
      "made/deep/bytes - file",
      "run.sh file file",
    ]);
    expect([snapshot.listing.refused, snapshot.listing.isComplete]).toEqual([[], true]);
    const taken = await take(snapshot);
    expect(taken.taken).toHaveLength(11);
    expect({ ...taken, taken: [] }).toEqual({
      taken: [],
      already: [],
      conflicts: [],
      apart: [],
      failed: [],
    });
    expect(world.look()).toEqual([
      "a.txt 644 one\nmore\n",
      "empty 644 ",
      "folder/ 755",
      "folder/new 644 x\n",
      "link -> folder/new",
      "made/ 700",
      "made/deep/ 755",
      "made/deep/bytes 644 \0\xff",
      "run.sh 750 #!/bin/sh\n",
    ]);
    const owners = ["a.txt", "made", "made/deep/bytes", "link"].map(
      (name) => lstatSync(join(world.work, name)).uid,
    );
    expect(new Set(owners)).toEqual(new Set([lstatSync(world.work).uid]));
    expect((await take(snapshot)).already).toHaveLength(11);
  });

  it("exchanges a file for a folder, and a folder for a file or a link", async () => {
    await using world = overlayWorld({ ...FILES, "other/x": "x" });
    const snapshot = await review(
      world,
      "rm a.txt; mkdir a.txt; echo x > a.txt/y; rm -r folder; echo z > folder; rm -r other; ln -s a.txt other",
    );
    expect((await take(snapshot)).failed).toEqual([]);
    expect(world.look()).toEqual([
      "a.txt/ 755",
      "a.txt/y 644 x\n",
      "folder 644 z\n",
      "other -> a.txt",
      "run.sh 644 #!/bin/sh\n",
    ]);
  });

  it("takes some, with the folders that they are in, and no other", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(
      world,
      "mkdir -p x/y; echo 1 > x/y/one; echo 2 > x/two; echo 3 > a.txt",
    );
    expect((await take(snapshot, ["x/y"])).taken).toEqual(["x", "x/y", "x/y/one"]);
    expect(existsSync(join(world.work, "x/two"))).toBe(false);
    expect(readFileSync(join(world.work, "a.txt"), "utf8")).toBe("one\n");
    await expect(take(snapshot, ["nothing"])).rejects.toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("leaves the rights of folders above what is named", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(world, "chmod 777 folder; echo x > folder/new");
    expect((await take(snapshot, ["folder/new"])).taken).toEqual(["folder/new"]);
    expect(lstatSync(join(world.work, "folder")).mode & 0o777).toBe(0o755);
    expect((await take(snapshot)).taken).toEqual(["folder"]);
  });

  it("sets apart what completes a repository that an earlier part began", async () => {
    await using world = overlayWorld(FILES);
    const first = await review(
      world,
      "mkdir -p r/objects r/refs; printf '[core]\\n\\tsshCommand = ./x\\n' > r/config; mkdir c; echo ../r > c/commondir",
    );
    expect((await take(first)).apart).toEqual([]); // no repository yet
    const second = await review(
      world,
      "echo 'ref: refs/heads/main' | tee r/HEAD > c/HEAD; mkdir -p p/objects; echo x > p/HEAD",
    );
    expect((await take(second)).apart).toEqual(["c/HEAD", "r/HEAD"]);
    expect((await take(second, ["r/HEAD"])).taken).toEqual(["r/HEAD"]);
  });

  it("sets apart what a changed configuration names, and where a link of a name that is run leads", async () => {
    await using world = overlayWorld({
      ...FILES,
      ".git/HEAD": "x",
      ".git/config": "",
      "words/a": "",
    });
    const snapshot = await review(
      world,
      `printf '[include]\\n\\tpath = ../more.inc\\n[core]\\n\\thooksPath = h\\n[alias]\\n\\tx = !sh go.sh words\\n' > .git/config
       printf '[core]\\n\\tfsmonitor = watch\\n' > more.inc; mkdir h set; touch h/pre-push go.sh watch set/tasks.json words/b; ln -s set .vscode`,
    );
    const apart = snapshot.listing.changes
      .filter((each) => each.apart !== null)
      .map(({ path }) => path);
    expect(apart).toEqual([
      ".git/config",
      ".vscode",
      "go.sh",
      "h",
      "h/pre-push",
      "more.inc",
      "set",
      "set/tasks.json",
      "watch",
    ]);
  });

  it("is bounded while it is made: by names, and by how long they are", async () => {
    await using world = overlayWorld(FILES);
    const made = await review(
      world,
      "for i in $(seq 50); do mkdir -p d$i/$(printf %0200d 0); done",
    );
    const parts = {
      workspace: world.work,
      layers: world.layers,
      directory: join(world.home, "small"),
      sinceMs: 0,
    };
    const few = await makeSnapshot({ ...parts, limits: { entries: 30 } });
    expect([few.listing.isComplete, few.listing.changes.length < 31]).toEqual([false, true]);
    const short = await makeSnapshot({ ...parts, limits: { text: 10_000 } });
    expect([short.listing.isComplete, JSON.stringify(short.listing).length < 10_500]).toEqual([
      false,
      true,
    ]);
    expect([made.listing.isComplete, made.listing.changes.length]).toEqual([true, 100]);
    const deep = await review(
      world,
      "rm -r d*; n=$(printf %0200d 0); for i in $(seq 18); do mkdir $n; cd $n; done; mkdir -p $n/$n",
    );
    expect(deep.listing.refused).toEqual([
      { path: expect.stringMatching(/^[0/]{4019}$/u), reason: "it lies too deep" },
    ]);
  });

  it("keeps nothing of a snapshot that fails", async () => {
    await using world = overlayWorld(FILES);
    await review(world, "echo x > new");
    renameSync(world.work, `${world.work}.away`);
    await expect(look(world)).rejects.toThrow(expect.objectContaining({ code: "options_invalid" }));
    expect(readdirSync(world.home).sort()).toEqual(["layers", "snapshot"]);
    renameSync(`${world.work}.away`, world.work);
  });

  it("holds what is empty in a file without its room, and nothing of another file in it", async () => {
    await using world = overlayWorld({ a: "x".repeat(5_000_000) });
    const snapshot = await review(
      world,
      "touch a; truncate -s 64M b; cp a c; echo 1 >> c; truncate -s 2M d",
    );
    expect(kinds(snapshot)).toEqual(["b - file", "c - file", "d - file"]);
    const { blocks, size } = lstatSync(join(snapshot.directory, "content"));
    expect([blocks * 512 < 8_000_000, size]).toEqual([true, 2 ** 26 + 5_000_002 + 2 * 2 ** 20]);
    expect((await take(snapshot, ["c", "d"])).taken).toEqual(["c", "d"]);
    expect(readFileSync(join(world.work, "d")).equals(Buffer.alloc(2 * 2 ** 20))).toBe(true);
  });

  it("takes what runs by itself only by its name", async () => {
    await using world = overlayWorld({
      ...FILES,
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/objects/x": "",
      ".git/refs/x": "",
    });
    const snapshot = await review(
      world,
      "echo x > .envrc; mkdir .git/hooks; echo x > .git/hooks/pre-commit; echo y > .git/index; mkdir -p .vscode; echo {} > .vscode/tasks.json",
    );
    expect((await take(snapshot)).apart).toEqual([
      ".envrc",
      ".git/hooks",
      ".git/hooks/pre-commit",
      ".vscode",
      ".vscode/tasks.json",
    ]);
    expect((await take(snapshot, [".git"])).apart).toEqual([".git/hooks", ".git/hooks/pre-commit"]);
    expect(existsSync(join(world.work, ".git/hooks"))).toBe(false);
    expect((await take(snapshot, [".git/hooks", ".envrc", ".vscode/tasks.json"])).taken).toEqual([
      ".envrc",
      ".git/hooks",
      ".git/hooks/pre-commit",
      ".vscode",
      ".vscode/tasks.json",
    ]);
  });

  it("lets a new repository be taken as Git makes it", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(world, "git init -q -b main made");
    expect(
      snapshot.listing.changes.filter(
        ({ apart, after }) => apart !== null && after?.kind === "file",
      ),
    ).toEqual([]);
  });

  it("refuses what can be no content: links that lead out, pipes, attributes, closed folders, odd names", async () => {
    await using world = overlayWorld(FILES);
    const snapshot = await review(
      world,
      `ln -s /etc/passwd passwd; ln -s ../../x up; ln -s passwd hop; mkfifo pipe; mkdir with; echo x > with/file; echo x > attributed
       python3 - <<'END'
import os
os.setxattr("attributed", "user.any", b"x")
for name in ("opaque", "redirect", "metacopy", "whiteout"):
    try: os.setxattr("with", "user.overlay." + name, b"y")
    except OSError: pass
open(b"odd\\xff", "w").close()
deep = "d"
os.mkdir(deep)
fd = os.open(deep, os.O_RDONLY)
for _ in range(300):
    os.mkdir("d", dir_fd=fd)
    next = os.open("d", os.O_RDONLY, dir_fd=fd)
    os.close(fd)
    fd = next
END
       mkdir closed; touch closed/x; ${process.getuid?.() === 0 ? "true" : "chmod 0 closed"}`,
    );
    const refused = new Map(snapshot.listing.refused.map(({ path, reason }) => [path, reason]));
    for (const name of ["passwd", "up", "hop", "pipe", "attributed", "odd\uFFFD"])
      expect([name, refused.has(name)]).toEqual([name, true]);
    expect([...refused.keys()].some((path) => path.startsWith("d/d/d"))).toBe(true);
    expect(refused.has("closed")).toBe(process.getuid?.() !== 0);
    await take(snapshot);
    const there = readdirSync(world.work);
    for (const name of ["passwd", "up", "hop", "pipe", "attributed"])
      expect([name, there.includes(name)]).toEqual([name, false]);
    expect(there).toContain("folder");
  });

  it("refuses a device and a set-user-ID program that are in the layer by another way", async () => {
    await using world = overlayWorld(FILES);
    await review(world, "echo x > suid; echo y > sgid");
    chmodSync(join(world.layers, "upper/suid"), 0o4755);
    chmodSync(join(world.layers, "upper/sgid"), 0o2755);
    const snapshot = await look(world);
    expect(snapshot.listing.refused.map(({ path }) => path)).toEqual(["sgid", "suid"]);
    expect(snapshot.listing.changes).toEqual([]);
  });

  it("reads no more than its limits, and says so", async () => {
    await using world = overlayWorld(FILES);
    await review(
      world,
      "mkdir many; i=0; while [ $i -lt 200 ]; do echo x > many/$i; i=$((i+1)); done; head -c 1000000 /dev/zero > big",
    );
    const parts = {
      workspace: world.work,
      layers: world.layers,
      directory: join(world.home, "snapshot"),
      sinceMs: Date.now(),
    };
    const few = await makeSnapshot({ ...parts, limits: { entries: 50 } });
    expect([few.listing.isComplete, few.listing.changes.length < 60]).toEqual([false, true]);
    const small = await makeSnapshot({ ...parts, limits: { bytes: 1_000 } });
    expect(small.listing.refused.map(({ path }) => path)).toEqual(["big"]);
  });
});
