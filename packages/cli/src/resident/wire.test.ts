import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BODY_BYTES_MAX,
  createFrameReader,
  frameOf,
  greetingFrame,
  KINDS,
  PROTOCOLS,
  readGreeting,
  readHello,
  roomFrame,
  roomIn,
  speakAlike,
} from "./wire.js";
import type { Frame, FrameError, Kind } from "./wire.js";

interface Case {
  readonly name: string;
  readonly bytes: string;
  readonly expect: readonly (readonly [Kind, string])[] | { readonly error: FrameError };
}

const { cases }: { readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL("../../../../spec/vectors/resident.json", import.meta.url), "utf8"),
);

/** What a reader says of chunks. */
function read(chunks: readonly Uint8Array[]): { frames: Frame[]; errors: FrameError[] } {
  const frames: Frame[] = [];
  const errors: FrameError[] = [];
  const reader = createFrameReader(
    ({ kind, body }) => void frames.push({ kind, body: Buffer.from(body) }),
    (error) => void errors.push(error),
  );
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { frames, errors };
}

describe("spec/vectors/resident.json", () => {
  it.each(cases)("createFrameReader() $name", ({ bytes, expect: want }) => {
    const { frames, errors } = read([Buffer.from(bytes, "hex")]);
    if ("error" in want) expect(errors).toEqual([want.error]);
    else {
      expect(errors).toEqual([]);
      expect(frames.map(({ kind, body }) => [kind, body.toString("hex")])).toEqual(want);
    }
  });
});

const kinds = Object.keys(KINDS).filter((name): name is Kind => Object.hasOwn(KINDS, name));
const frame = fc.record({
  kind: fc.constantFrom(...kinds),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

describe("createFrameReader()", () => {
  it("gives what was framed, however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 8 }),
        fc.infiniteStream(fc.nat(40)),
        (sent, cuts) => {
          let rest = Buffer.concat(sent.map(({ kind, body }) => frameOf(kind, body)));
          const chunks: Buffer[] = [];
          for (const cut of cuts) {
            if (rest.length === 0) break;
            chunks.push(rest.subarray(0, cut + 1));
            rest = rest.subarray(cut + 1);
          }
          expect(read(chunks)).toEqual({ frames: sent, errors: [] });
        },
      ),
    );
  });

  it("never throws, tells of one error at most, and gives nothing after it", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 10 }), (chunks) => {
        const { errors } = read(chunks);
        expect(errors.length).toBeLessThanOrEqual(1);
        const more = read([...chunks, frameOf("ready")]);
        if (errors.length === 1) expect(more).toEqual(read(chunks));
      }),
    );
  });

  it("takes the longest frame and refuses a longer one before it has come", () => {
    expect(read([frameOf("input", Buffer.alloc(BODY_BYTES_MAX))]).frames).toHaveLength(1);
    expect(read([Buffer.from([2, 0, 0x10, 0, 1])]).errors).toEqual(["frame_too_large"]);
    expect(() => frameOf("input", Buffer.alloc(BODY_BYTES_MAX + 1))).toThrow(RangeError);
  });
});

describe("readHello()", () => {
  const hello = {
    protocol: [1, 1],
    version: "1.0.0",
    build: "b",
    argv: ["mcp"],
    cwd: "/",
    env: { A: "1" },
    userHome: "/root",
    pid: 1,
    ppid: 1,
    umask: 0o22,
  };
  const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

  it("reads a hello", () => expect(readHello(bytes(hello))).toEqual(hello));

  it("reads one of protocol 1, which names no version", () =>
    expect(readHello(bytes({ ...hello, version: undefined }))).toEqual({ ...hello, version: "" }));

  it.each<readonly [string, unknown]>([
    ["null", null],
    ["a list", [hello]],
    ["a relative directory", { ...hello, cwd: "x" }],
    ["a relative home", { ...hello, userHome: "x" }],
    ["a variable that is no text", { ...hello, env: { A: 1 } }],
    ["variables in a list", { ...hello, env: ["A=1"] }],
    ["a word that is no text", { ...hello, argv: [1] }],
    ["a range of one", { ...hello, protocol: [1] }],
    ["a umask that is none", { ...hello, umask: 0o1000 }],
    ["a negative pid", { ...hello, pid: -1 }],
    ["no build", { ...hello, build: undefined }],
    ["a version that is no text", { ...hello, version: 1 }],
  ])("takes %s for none", (_, value) => expect(readHello(bytes(value))).toBeUndefined());

  it("takes what is no JSON for none", () => {
    expect(readHello(Buffer.from("{"))).toBeUndefined();
    expect(readGreeting(Buffer.from("{}"))).toBeUndefined();
  });
});

it("readGreeting() reads what greetingFrame() says, and one of protocol 1", () => {
  const said = { version: "1.2.3", build: "b", isCurrent: false };
  expect(readGreeting(greetingFrame(said).subarray(5))).toEqual({
    ...said,
    protocol: PROTOCOLS,
    pid: process.pid,
  });
  const old = Buffer.from('{"protocol":[1,1],"build":"b","pid":1}');
  expect(readGreeting(old)).toEqual({
    protocol: [1, 1],
    version: "",
    build: "b",
    isCurrent: true,
    pid: 1,
  });
});

it("roomIn() reads what roomFrame() says, and 0 from anything else", () => {
  expect(roomIn(roomFrame(70_000).subarray(5))).toBe(70_000);
  expect(roomIn(Buffer.from([1, 2, 3]))).toBe(0);
});

it.each([
  [[1, 1], [1, 1], true],
  [[1, 2], [2, 3], true],
  [[1, 1], [2, 3], false],
  [[3, 4], [1, 2], false],
] as const)("speakAlike(%j, %j) is %s", (one, two, want) =>
  expect(speakAlike(one, two)).toBe(want),
);
