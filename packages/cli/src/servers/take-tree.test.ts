import { lstatSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMessageStream } from "./message-stream.js";
import { takeTree } from "./take-tree.js";

const TOP = { directory: "node_modules" };
const END = { end: true };
const file = (path: string, text = "", more: object = {}): readonly [object, string] => [
  { file: path, bytes: Buffer.byteLength(text), ...more },
  text,
];

type Part = object | readonly [object, string];

async function take(
  parts: readonly Part[],
  limits?: Parameters<typeof takeTree>[2],
  size = 7,
): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "acp-take-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const bytes = Buffer.concat(
    parts.map((part) =>
      Buffer.from(
        Array.isArray(part)
          ? `${JSON.stringify(part[0])}\n${String(part[1])}`
          : `${JSON.stringify(part)}\n`,
      ),
    ),
  );
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  await takeTree(
    createMessageStream(Readable.from(chunks, { objectMode: true })),
    directory,
    limits,
  );
  return directory;
}

describe("takeTree()", () => {
  it.each([1, 7, 100_000])(
    "writes directories, files and links that come in parts of %i bytes",
    async (size) => {
      const parts = [
        TOP,
        file("node_modules/a.js", "äöü\n{}\n"),
        { directory: "node_modules/.bin" },
        { link: "node_modules/.bin/a", to: "../a.js" },
      ];
      const at = await take(
        [...parts, file("node_modules/run", "x", { runs: true }), END],
        undefined,
        size,
      );
      expect(readFileSync(join(at, "node_modules/a.js"), "utf8")).toBe("äöü\n{}\n");
      expect(readlinkSync(join(at, "node_modules/.bin/a"))).toBe("../a.js");
      const modes = ["", "a.js", "run"].map(
        (name) => lstatSync(join(at, "node_modules", name)).mode & 0o7777,
      );
      expect(modes).toEqual([0o755, 0o644, 0o755]);
    },
  );

  it.each([
    ["outside", "../x"],
    ["from the root", "/tmp/x"],
    ["beside", "package.json"],
    ["through a parent", "node_modules/../../x"],
    ["in no directory", "node_modules/b/x"],
    ["with a NUL", "node_modules/a\0"],
    ["empty", ""],
  ])("refuses a file %s", async (_what, path) => {
    await expect(take([TOP, file(path, "x"), END])).rejects.toThrow("is not a place in them");
    await expect(take([TOP, { directory: path }, END])).rejects.toThrow("is not a place in them");
    await expect(take([TOP, { link: path, to: "a" }, END])).rejects.toThrow(
      "is not a place in them",
    );
  });

  it.each([
    "/etc/passwd",
    "../../x",
    "..",
    "../..",
    "a/../../..",
    "b/../x",
    "",
    ".",
    "a/./b",
    "../node_modules/../x",
    "a\0b",
  ])("refuses a link to %j", async (to) => {
    await expect(take([TOP, { link: "node_modules/a", to }, END])).rejects.toThrow(
      "leads out of them",
    );
  });

  it("writes nothing through a link, and nothing twice", async () => {
    const linked = [TOP, { directory: "node_modules/d" }, { link: "node_modules/l", to: "d" }];
    await expect(take([...linked, file("node_modules/l/x", "x"), END])).rejects.toThrow(
      "is not a place in them",
    );
    await expect(take([...linked, file("node_modules/l", "x"), END])).rejects.toThrow("EEXIST");
    await expect(
      take([TOP, file("node_modules/x", "1"), file("node_modules/x", "2"), END]),
    ).rejects.toThrow("EEXIST");
  });

  it("refuses what the disk does not take, as any other fault of a server's packages", async () => {
    const name = `node_modules/${"x".repeat(300)}`;
    for (const part of [{ directory: name }, { link: name, to: "a" }, file(name, "x")])
      await expect(take([TOP, part, END])).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining("ENAMETOOLONG"),
      });
  });

  it("ends where there is too much", async () => {
    const some = [TOP, file("node_modules/a", "12345"), file("node_modules/b", "12345"), END];
    await expect(take(some, { entries: 2, bytes: 100 })).rejects.toThrow("more than 2 files");
    await expect(take(some, { entries: 100, bytes: 9 })).rejects.toThrow("more than 9 bytes");
    await expect(take([{ directory: `node_modules/${"x".repeat(20_000)}` }])).rejects.toThrow(
      "more than 16384 bytes at once",
    );
    await expect(
      take([TOP, { file: "node_modules/a", bytes: Number.MAX_SAFE_INTEGER }]),
    ).rejects.toThrow("more than 1073741824 bytes");
  });

  it.each([
    ["cut off in a file", [TOP, [{ file: "node_modules/a", bytes: 5 }, "12"]], "ended too early"],
    ["without an end", [TOP], "ended too early"],
    ["a device", [TOP, { other: "node_modules/a" }, END], "neither a file, a directory nor a link"],
    ["a size that is none", [TOP, { file: "node_modules/a", bytes: -1 }, END], "has no size"],
    ["no object", [TOP, [[], ""], END], "not an object"],
  ] as const)("refuses what is %s", async (_what, parts, why) => {
    await expect(take([...parts])).rejects.toThrow(why);
  });
});
