import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  extension,
  helloMessage,
  inRecords,
  nameEntry,
  realHello,
  serverName,
  vector,
} from "../test/support/hello.js";
import { createHelloReader, type Hello } from "./client-hello.js";

const MAX = 32 * 1024;

function readAll(
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  bytesMax = MAX,
): Hello | undefined {
  const reader = createHelloReader(bytesMax);
  const edges = [
    ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b),
    bytes.length,
  ];
  let at = 0;
  for (const edge of edges) {
    const hello = reader.push(bytes.subarray(at, edge));
    at = edge;
    if (hello !== undefined) return hello;
  }
  return undefined;
}

const malformed = (why: string): object => ({
  kind: "malformed",
  why: expect.stringContaining(why),
});

describe("createHelloReader()", () => {
  it("finds the name in what Node's TLS sends, and that there is none", async () => {
    expect(readAll(await realHello("api.example.com"))).toEqual({
      kind: "tls",
      serverName: "api.example.com",
    });
    expect(readAll(await realHello(undefined))).toEqual({ kind: "tls", serverName: undefined });
  });

  it("finds it however the bytes arrive and the message is cut into records", () => {
    const message = helloMessage([
      extension(43, Buffer.from([2, 3, 4])),
      serverName("a.example"),
      extension(21, Buffer.alloc(500)),
    ]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 700 }),
        fc.array(fc.nat(2_000), { maxLength: 40 }),
        (size, cuts) => {
          expect(readAll(inRecords(message, size), cuts)).toEqual({
            kind: "tls",
            serverName: "a.example",
          });
        },
      ),
    );
  });

  it("waits for bytes, and gives back those it took", () => {
    const bytes = inRecords(helloMessage([serverName("a.example")]));
    const reader = createHelloReader(MAX);
    for (const byte of bytes.subarray(0, -1))
      expect(reader.push(Buffer.from([byte]))).toBeUndefined();
    expect(reader.push(Buffer.concat([bytes.subarray(-1), Buffer.from("more")]))).toEqual({
      kind: "tls",
      serverName: "a.example",
    });
    expect(reader.taken()).toEqual(Buffer.concat([bytes, Buffer.from("more")]));
  });

  it("knows other protocols by their first byte", () => {
    for (const text of ["GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\u0000", "\u0080\u002e"])
      expect(readAll(Buffer.from(text, "latin1"))).toEqual({ kind: "other" });
  });

  const good = helloMessage([serverName("a.example")]);
  const over = (bytes: Buffer, at: number, value: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy[at] = value;
    return copy;
  };
  it.each<[string, Buffer, string]>([
    [
      "two names in one list",
      inRecords(
        helloMessage([extension(0, vector(2, Buffer.concat([nameEntry("a"), nameEntry("b")])))]),
      ),
      "not one host name",
    ],
    [
      "two lists of names",
      inRecords(helloMessage([serverName("a"), serverName("a")])),
      "two server names",
    ],
    [
      "a name of another type",
      inRecords(helloMessage([extension(0, vector(2, nameEntry("a", 1)))])),
      "not one host name",
    ],
    ["an empty name", inRecords(helloMessage([serverName("")])), "not a host name"],
    ["a name with NUL", inRecords(helloMessage([serverName("a\u0000b")])), "not a host name"],
    [
      "an empty list of names",
      inRecords(helloMessage([extension(0, Buffer.from([0, 0]))])),
      "after its message",
    ],
    [
      "bytes after its extensions",
      inRecords(helloMessage([serverName("a")], Buffer.from([0]))),
      "follows",
    ],
    [
      "an extension that is too long",
      inRecords(helloMessage([Buffer.from([0, 0, 9, 9])])),
      "after its message",
    ],
    ["another first message", inRecords(over(good, 0, 2)), "not a client hello"],
    ["a long session id", inRecords(over(good, 38, 33)), ""],
    [
      "another record inside",
      Buffer.concat([inRecords(good.subarray(0, 20)), Buffer.from([21, 3, 1, 0, 2, 1, 0])]),
      "another record",
    ],
    ["an empty record", Buffer.concat([Buffer.from([22, 3, 1, 0, 0]), inRecords(good)]), "empty"],
    ["a record that is too long", Buffer.from([22, 3, 1, 0x40, 1, 1]), "too long"],
    ["a version that is no TLS", over(inRecords(good), 1, 2), "unknown version"],
  ])("refuses %s", (_, bytes, why) => {
    expect(readAll(bytes)).toEqual(malformed(why));
  });

  it("refuses what needs too many bytes, before they came", () => {
    const bytes = inRecords(helloMessage([extension(21, Buffer.alloc(5_000))]), 100);
    expect(readAll(bytes, [], 4_096)).toEqual(malformed("more than 4096 bytes"));
    expect(readAll(bytes.subarray(0, 4_200), [10, 300, 4_000], 4_096)).toEqual(
      malformed("more than 4096 bytes"),
    );
    expect(readAll(Buffer.from([22, 3, 1, 0x40, 0]), [], 4_096)).toEqual(
      malformed("more than 4096 bytes"),
    );
  });

  it("never throws, whatever comes", () => {
    const bytes = inRecords(good);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
        readAll(over(bytes, at, value));
      }),
      { numRuns: 500 },
    );
  });
});
