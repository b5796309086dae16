import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { generateKeyPair, importPublicKey, keyPairFromSeed } from "./keys.js";

const rejected = expect.objectContaining({ code: "key_rejected" });
const message = new TextEncoder().encode("hello");

describe("generateKeyPair()", () => {
  it("signs what its public key verifies, and nothing else", async () => {
    const pair = generateKeyPair();
    const key = importPublicKey(pair.publicKey);
    const signature = await pair.sign(message);
    expect(key.verifies(signature, message)).toBe(true);
    expect(key.verifies(signature, new TextEncoder().encode("hellp"))).toBe(false);
    expect(importPublicKey(generateKeyPair().publicKey).verifies(signature, message)).toBe(false);
  });

  it("shows nothing of the private key however it is printed", () => {
    const pair = generateKeyPair();
    const seed = Buffer.from(pair.exportSeed());
    for (const text of [
      JSON.stringify(pair),
      inspect(pair, { depth: 9, showHidden: true }),
      String(pair),
    ])
      for (const encoding of ["hex", "base64"] as const)
        expect(text).not.toContain(seed.toString(encoding));
  });
});

describe("keyPairFromSeed()", () => {
  it("makes RFC 8032's first test pair", async () => {
    const seed = Buffer.from(
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "hex",
    );
    const pair = keyPairFromSeed(seed);
    expect(pair.publicKey).toBe("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    expect(Buffer.from(await pair.sign(new Uint8Array())).toString("hex")).toBe(
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    );
  });

  it("keeps its own copy of the seed and hands out copies", () => {
    const seed = new Uint8Array(32).fill(1);
    const pair = keyPairFromSeed(seed);
    const before = pair.publicKey;
    seed.fill(2);
    pair.exportSeed().fill(3);
    expect(keyPairFromSeed(pair.exportSeed()).publicKey).toBe(before);
  });

  it.each([0, 31, 33, 64])("refuses a seed of %d bytes", (length) => {
    expect(() => keyPairFromSeed(new Uint8Array(length))).toThrow(rejected);
  });
});

describe("importPublicKey()", () => {
  const good = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

  it.each([
    ["upper-case hex", good.toUpperCase()],
    ["one upper-case digit", good.replace("d", "D")],
    ["one digit too few", good.slice(1)],
    ["one byte too few", good.slice(2)],
    ["one byte too many", `${good}00`],
    ["a space before it", ` ${good}`],
    ["a line break after it", `${good}\n`],
    ["a prefix", `0x${good}`],
    ["nothing", ""],
    ["a letter that is no digit", good.replace("d", "g")],
    ["p as y", `ed${"ff".repeat(30)}7f`],
    ["p + 1 as y", `ee${"ff".repeat(30)}7f`],
    ["p + 3 as y, a point otherwise", `f0${"ff".repeat(30)}7f`],
    ["the identity with the sign of x set", `01${"00".repeat(30)}80`],
    ["y = 2, which is on no point", `02${"00".repeat(31)}`],
    ["the identity", `01${"00".repeat(31)}`],
    ["a point of order 2", `ec${"ff".repeat(30)}7f`],
    ["a point of order 4", "00".repeat(32)],
    ["a point of order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
    [
      "another point of order 8",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    ],
  ])("refuses %s", (_, hex) => {
    expect(() => importPublicKey(hex)).toThrow(rejected);
  });

  it("refuses what is no text", () => {
    for (const value of [undefined, null, 7, new Uint8Array(32)] as unknown as readonly string[])
      expect(() => importPublicKey(value)).toThrow(rejected);
  });

  it("says nothing of the bytes: they may be the private key", () => {
    const seed = "02".repeat(32);
    try {
      importPublicKey(seed);
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toContain(seed.slice(0, 8));
    }
  });

  it("verifies() refuses a signature of another length, with S ≥ L or with R of low order, without throwing", async () => {
    const pair = generateKeyPair();
    const key = importPublicKey(pair.publicKey);
    const signature = await pair.sign(message);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(signature.slice(32).toReversed()).toString("hex")}`) + order;
    const malleable = Buffer.from(signature);
    malleable.set(Buffer.from(s.toString(16).padStart(64, "0"), "hex").toReversed(), 32);
    const lowOrderR = Buffer.from(signature);
    lowOrderR.fill(0, 0, 32);
    for (const bad of [
      malleable,
      lowOrderR,
      signature.slice(1),
      Buffer.concat([signature, Buffer.alloc(1)]),
      new Uint8Array(),
    ])
      expect(key.verifies(bad, message)).toBe(false);
  });
});
