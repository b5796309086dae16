import { expect, it } from "vitest";
import { fromHex } from "../src/crypto/hex.js";
import * as native from "../src/crypto/node.js";
import * as portable from "../src/crypto/portable.js";
import { outcome } from "./arbitraries.js";
import { describeVectors, tally, vectorJson } from "./vectors.js";

const backends = [
  ["native", native],
  ["portable", portable],
] as const;

interface Suite<Group> {
  readonly testGroups: readonly Group[];
}

interface Case {
  readonly tcId: number;
  readonly result: "valid" | "invalid";
}

type Hexed<Names extends string> = Readonly<Record<Names, string>>;

function bytes(hex: string): Uint8Array {
  const read = fromHex(hex);
  if (read === undefined) throw new Error(`not hex: ${hex}`);
  return read;
}

/** The groups of one Wycheproof file: as they are, for the field types are the file's own. */
function groups<Group>(file: string): readonly Group[] {
  return (vectorJson(`wycheproof/${file}`) as Suite<Group>).testGroups;
}

const sameBytes = (left: Uint8Array | undefined, hex: string): boolean =>
  left !== undefined && Buffer.from(left).toString("hex") === hex;

describeVectors("Wycheproof", "wycheproof", () => {
  it.each(backends)(
    "createEd25519Verifier() judges every Ed25519 signature: %s",
    (name, crypto) => {
      const counted = tally();
      for (const group of groups<{
        publicKey: { pk: string };
        tests: readonly (Case & Hexed<"msg" | "sig">)[];
      }>("ed25519_test.json")) {
        const verify = crypto.createEd25519Verifier(bytes(group.publicKey.pk));
        for (const { tcId, msg, sig, result } of group.tests) {
          if (verify(bytes(sig), bytes(msg)) === (result === "valid")) counted.pass();
          else counted.fail(String(tcId));
        }
      }
      expect(counted.end(`Wycheproof Ed25519 (${name})`)).toEqual({
        passed: 151,
        failed: [],
        excluded: {},
      });
    },
  );

  it.each(backends)(
    "aes256GcmSeal() and aes256GcmOpen() judge every AES-GCM case of our shape: %s",
    (name, crypto) => {
      const counted = tally();
      type Row = Case & Hexed<"key" | "iv" | "aad" | "msg" | "ct" | "tag">;
      for (const { keySize, ivSize, tests } of groups<{
        keySize: number;
        ivSize: number;
        tests: readonly Row[];
      }>("aes_gcm_test.json")) {
        for (const row of tests) {
          if (keySize !== 256 || ivSize !== 96) {
            counted.exclude("key of 128 or 192 bits, or an iv that is not of 96 bits");
            continue;
          }
          const terms = { key: bytes(row.key), iv: bytes(row.iv), aad: bytes(row.aad) };
          const opened = crypto.aes256GcmOpen(terms, {
            ciphertext: bytes(row.ct),
            tag: bytes(row.tag),
          });
          const sealed = crypto.aes256GcmSeal(terms, bytes(row.msg));
          const isRight =
            row.result === "valid"
              ? sameBytes(opened, row.msg) &&
                sameBytes(sealed.ciphertext, row.ct) &&
                sameBytes(sealed.tag, row.tag)
              : opened === undefined;
          if (isRight) counted.pass();
          else counted.fail(String(row.tcId));
        }
      }
      const excluded = { "key of 128 or 192 bits, or an iv that is not of 96 bits": 250 };
      expect(counted.end(`Wycheproof AES-256-GCM (${name})`)).toEqual({
        passed: 66,
        failed: [],
        excluded,
      });
    },
  );

  it.each(backends)(
    "hkdfSha256() derives every HKDF-SHA256 case, and refuses the too long ones: %s",
    (name, crypto) => {
      const counted = tally();
      type Row = Case & Hexed<"ikm" | "salt" | "info" | "okm"> & { readonly size: number };
      for (const { tests } of groups<{ tests: readonly Row[] }>("hkdf_sha256_test.json")) {
        for (const { tcId, ikm, salt, info, okm, size, result } of tests) {
          const derive = (): Uint8Array =>
            crypto.hkdfSha256(bytes(ikm), { salt: bytes(salt), info: bytes(info), length: size });
          if (result === "invalid")
            expect(derive).toThrow(expect.objectContaining({ code: "options_invalid" }));
          if (result === "invalid" || sameBytes(derive(), okm)) counted.pass();
          else counted.fail(String(tcId));
        }
      }
      expect(counted.end(`Wycheproof HKDF-SHA256 (${name})`)).toEqual({
        passed: 86,
        failed: [],
        excluded: {},
      });
    },
  );

  it.each(backends)(
    "hmacSha256() and equalBytes() judge every HMAC-SHA256 case: %s",
    (name, crypto) => {
      const counted = tally();
      type Row = Case & Hexed<"key" | "msg" | "tag">;
      for (const { tagSize, tests } of groups<{ tagSize: number; tests: readonly Row[] }>(
        "hmac_sha256_test.json",
      )) {
        for (const { tcId, key, msg, tag, result } of tests) {
          const made = crypto.hmacSha256(bytes(key), bytes(msg)).subarray(0, tagSize / 8);
          if (crypto.equalBytes(made, bytes(tag)) === (result === "valid")) counted.pass();
          else counted.fail(String(tcId));
        }
      }
      expect(counted.end(`Wycheproof HMAC-SHA256 (${name})`)).toEqual({
        passed: 174,
        failed: [],
        excluded: {},
      });
    },
  );
});

interface EdgeCase {
  readonly number: number;
  readonly key: string;
  readonly sig: string;
  readonly msg: string;
  readonly flags: readonly string[] | null;
}

/**
 * What may be odd about a signature that we accept: a component of low order beside one of prime
 * order, which the equation cancels.
 */
const ACCEPTED_FLAGS: readonly string[] = ["low_order_component_A", "low_order_component_R"];

describeVectors("CCTV Ed25519", "cctv", () => {
  it.each(backends)(
    "createEd25519Verifier() accepts no edge case but a cancelled component of low order: %s",
    (name, crypto) => {
      const counted = tally();
      let accepted = 0;
      let acceptedLowOrder = 0;
      for (const { number, key, sig, msg, flags } of vectorJson(
        "cctv/ed25519vectors.json",
      ) as readonly EdgeCase[]) {
        const verifier = outcome(() => crypto.createEd25519Verifier(bytes(key)));
        const isValid = "value" in verifier && verifier.value(bytes(sig), Buffer.from(msg, "utf8"));
        const odd = flags ?? [];
        if (isValid) accepted++;
        if (isValid && odd.some((flag) => flag === "low_order_A" || flag === "low_order_R"))
          acceptedLowOrder++;
        if (isValid === odd.every((flag) => ACCEPTED_FLAGS.includes(flag))) counted.pass();
        else counted.fail(`${number}: ${odd.join(" ")}`);
      }
      expect(
        counted.end(
          `CCTV Ed25519 (${name}), ${accepted} accepted, ${acceptedLowOrder} with a point of low order`,
        ),
      ).toEqual({
        passed: 914,
        failed: [],
        excluded: {},
      });
      expect([accepted, acceptedLowOrder]).toEqual([43, 0]);
    },
  );
});
