import { createHash } from "node:crypto";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { homePaths } from "./paths.js";
import type { HomePaths } from "./paths.js";
import {
  fileToolPins,
  parseToolPins,
  PINNED_SERVERS_MAX,
  type ServerPins,
} from "./tool-pins-file.js";

const hash = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const place = async (): Promise<HomePaths> => homePaths(await scratchDirectory());
const server: ServerPins = {
  id: hash("server"),
  server: "files",
  pins: [
    { kind: "tool", name: "read", pin: hash("a"), atMs: 1, by: "first", found: hash("b") },
    { kind: "prompt", name: "read", pin: hash("p"), atMs: 1, by: "first" },
    { kind: "resource", name: "file:///a", pin: hash("r"), atMs: 1, by: "first" },
    { kind: "template", name: "file:///{a}", pin: hash("t"), atMs: 1, by: "first" },
    { kind: "instructions", name: "", pin: hash("i"), atMs: 1, by: "person" },
  ],
};

describe("fileToolPins()", () => {
  it("keeps pins over a restart, in a file of its owner's alone", async () => {
    const home = await place();
    expect(await fileToolPins(home).read()).toEqual([]);
    await fileToolPins(home).change(() => ({ next: [server], answer: undefined }));
    expect(await fileToolPins(home).read()).toEqual([server]);
    expect((await stat(home.toolPinsPath)).mode & 0o777).toBe(0o600);
  });

  it("takes an older file for an error, never for none: what changed would look new", async () => {
    const home = await place();
    const pins = fileToolPins(home);
    await pins.change(() => ({ next: [server], answer: undefined }));
    const older = await readFile(home.toolPinsPath, "utf8");
    await pins.change(() => ({ next: [{ ...server, server: "other" }], answer: undefined }));
    expect(await pins.read()).toMatchObject([{ server: "other" }]);
    await writeFile(home.toolPinsPath, older, { mode: 0o600 });
    await expect(pins.read()).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("acp doctor --fix pins_rolled_back"),
    });
    await expect(pins.change(() => ({ next: [], answer: undefined }))).rejects.toMatchObject({
      code: "home_invalid",
    });
  });

  it("saves nothing that it would not read again, and says what makes room", async () => {
    const home = await place();
    const pins = fileToolPins(home);
    const many = Array.from({ length: PINNED_SERVERS_MAX }, (_, index) => ({
      ...server,
      id: hash(`${index}`),
    }));
    await pins.change(() => ({ next: many, answer: undefined }));
    await expect(
      pins.change((all) => ({ next: [...all, server], answer: undefined })),
    ).rejects.toMatchObject({
      code: "home_invalid",
      message: expect.stringContaining("acp doctor --fix pins_broken"),
    });
    const long = { ...server, server: "x".repeat(257) };
    await expect(pins.change(() => ({ next: [long], answer: undefined }))).rejects.toMatchObject({
      code: "home_invalid",
    });
    expect(await fileToolPins(home).read()).toEqual(many);
  });

  it.each([
    ["no JSON", "nonsense"],
    ["an unknown member", JSON.stringify({ version: "1", servers: [], more: 1 })],
    ["a server twice", JSON.stringify({ version: "1", servers: [server, server] })],
    [
      "a pin twice",
      JSON.stringify({
        version: "1",
        servers: [{ ...server, pins: [server.pins[0], server.pins[0]] }],
      }),
    ],
    [
      "a kind that is not known, as a newer program may write",
      JSON.stringify({
        version: "1",
        servers: [{ ...server, pins: [{ ...server.pins[0], kind: "skill" }] }],
      }),
    ],
    ["another version", JSON.stringify({ version: "2", servers: [] })],
    ["no hash", JSON.stringify({ version: "1", servers: [{ ...server, id: "x" }] })],
  ])("reads nothing out of a file with %s", async (_, text) => {
    const home = await place();
    await writeFile(home.toolPinsPath, text, { mode: 0o600 });
    await expect(fileToolPins(home).read()).rejects.toMatchObject({ code: "home_invalid" });
    expect(() => parseToolPins(text)).toThrow(/\w/);
  });

  it("keeps texts, each as what its hash says, also behind a line that was cut off", async () => {
    const home = await place();
    const pins = fileToolPins(home);
    expect(await pins.texts(server.id)).toEqual(new Map());
    await pins.keepTexts(server.id, ['{"a":1}'], new Set());
    const path = join(home.toolTextsDir, `${server.id.slice(7)}.jsonl`);
    await appendFile(path, '{"cut');
    await pins.keepTexts(server.id, ['{"b":2}'], new Set());
    const texts = await pins.texts(server.id);
    expect(texts.get(hash('{"a":1}'))).toBe('{"a":1}');
    expect(texts.get(hash('{"b":2}'))).toBe('{"b":2}');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("makes room by what is pinned no more", async () => {
    const home = await place();
    const pins = fileToolPins(home);
    const [kept, gone] = [`"${"k".repeat(12 << 20)}"`, `"${"g".repeat(11 << 20)}"`];
    await pins.keepTexts(server.id, [gone, kept], new Set());
    await pins.keepTexts(server.id, [`"${"n".repeat(2 << 20)}"`], new Set([hash(kept)]));
    const texts = await pins.texts(server.id);
    expect(texts.has(hash(kept))).toBe(true);
    expect(texts.has(hash(gone))).toBe(false);
    expect(texts.size).toBe(2);
  });
});
