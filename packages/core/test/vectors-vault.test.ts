/**
 * spec/vectors/vault.json: made by another implementation (Python's `cryptography`), so that ours
 * is not its own witness.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as portable from "../src/crypto/portable.js";
import { type JsonObject, parseAction } from "../src/index.js";
import {
  injectSecrets,
  maskSecrets,
  openField,
  openVault,
  Secret,
  sealVault,
} from "../src/vault.js";
import { redeem } from "../src/index.js";
import { issuePermit, type PermitTerms } from "../src/permit.js";
import { sealFieldWith } from "../src/vault/field.js";
import { sealVaultWith } from "../src/vault/seal.js";
import { revealSecret } from "../src/vault/secret.js";
import { manualClock } from "@acp/testing";

interface Binding {
  readonly value: string;
  readonly servers: readonly string[];
  readonly hosts: readonly string[];
}

type Bindings = Readonly<Record<string, Binding>>;

type Case = { readonly name: string } & (
  | {
      readonly kind: "vault";
      readonly seed: string;
      readonly salt: string;
      readonly iv: string;
      readonly contents: { readonly counter: number; readonly secrets: Bindings };
      readonly key: string;
      readonly plaintext: string;
      readonly text: string;
    }
  | { readonly kind: "vault refused"; readonly seed: string; readonly text: string }
  | {
      readonly kind: "field";
      readonly seed: string;
      readonly iv: string;
      readonly path: string;
      readonly value: string;
      readonly sealed: string;
    }
  | {
      readonly kind: "field refused";
      readonly seed: string;
      readonly path: string;
      readonly sealed: string;
    }
  | {
      readonly kind: "inject";
      readonly secrets: Bindings;
      readonly action: JsonObject;
      readonly released: readonly string[];
      readonly args?: JsonObject;
      readonly error?: string;
    }
  | {
      readonly kind: "mask";
      readonly secrets: Readonly<Record<string, string>>;
      readonly text: string;
      readonly want: string;
    }
);

const { cases } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/vault.json", import.meta.url), "utf8"),
) as {
  readonly cases: readonly Case[];
};

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));
const secretsOf = (bindings: Bindings): readonly Secret[] =>
  Object.entries(bindings).map(([name, rest]) => new Secret({ name, ...rest }));
const plain = (secrets: readonly Secret[]): unknown =>
  Object.fromEntries(
    secrets.map((secret) => [
      secret.name,
      { value: revealSecret(secret), servers: secret.servers, hosts: secret.hosts },
    ]),
  );

function release(action: JsonObject, secrets: readonly string[]): ReturnType<typeof redeem> {
  const parsed = parseAction(action);
  const terms: PermitTerms = {
    gate: {},
    action: parsed,
    secrets,
    clock: manualClock(),
    callerSignal: undefined,
    shutdownSignal: new AbortController().signal,
    event: () => {
      throw new Error("no events here");
    },
    denialNow: () => undefined,
    isKeyGone: () => false,
  };
  const verdict = issuePermit(terms, (permit) => ({
    decision: "allow",
    code: "policy_allowed",
    reason: "",
    action: parsed,
    permit,
  }));
  return redeem(verdict.permit, parsed);
}

const check: { readonly [K in Case["kind"]]: (each: Extract<Case, { readonly kind: K }>) => void } =
  {
    vault({ seed, salt, iv, contents, key, plaintext, text }) {
      const sealed = sealVaultWith(
        { counter: contents.counter, secrets: secretsOf(contents.secrets) },
        bytes(seed),
        {
          salt: bytes(salt),
          iv: bytes(iv),
        },
      );
      expect(sealed).toBe(text);
      const opened = openVault(text, bytes(seed));
      expect(opened.counter).toBe(contents.counter);
      expect(plain(opened.secrets)).toEqual(contents.secrets);
      expect(opened.secrets.map(({ name }) => name)).toEqual(Object.keys(contents.secrets).sort());
      // The steps between, for whoever writes another implementation; with the portable backend, so
      // that both are checked.
      const derived = portable.hkdfSha256(bytes(seed), {
        salt: bytes(salt),
        info: Buffer.from("acp/vault/v1"),
        length: 32,
      });
      expect(Buffer.from(derived).toString("hex")).toBe(key);
      const { ciphertext } = portable.aes256GcmSeal(
        { key: derived, iv: bytes(iv) },
        Buffer.from(plaintext),
      );
      expect(text).toContain(Buffer.from(ciphertext).toString("hex"));
    },
    "vault refused"({ seed, text }) {
      expect(() => openVault(text, bytes(seed))).toThrow(
        expect.objectContaining({
          code: "vault_invalid",
          message: "Cannot open the vault: the key is wrong, or the vault was changed",
        }),
      );
    },
    field({ seed, iv, path, value, sealed }) {
      expect(sealFieldWith(value, path, { seed: bytes(seed), iv: bytes(iv) })).toBe(sealed);
      expect(openField(sealed, path, bytes(seed))).toBe(value);
    },
    "field refused"({ seed, path, sealed }) {
      expect(() => openField(sealed, path, bytes(seed))).toThrow(
        expect.objectContaining({ code: "vault_invalid" }),
      );
    },
    inject({ secrets, action, released, args, error }) {
      const run = (): unknown =>
        injectSecrets(release(action, released), secretsOf(secrets)).action.args;
      if (error === undefined) expect(run()).toEqual(args);
      else
        expect(run).toThrow(
          expect.objectContaining({
            code: error,
            message:
              "Cannot put a secret into the action: a name in it refers to nothing that may be used here",
          }),
        );
    },
    mask({ secrets, text, want }) {
      const known = Object.entries(secrets).map(([name, value]) => new Secret({ name, value }));
      expect(maskSecrets(text, known)).toBe(want);
    },
  };

describe("vault vectors", () => {
  it.each(cases.map((each) => [each.kind, each.name, each] as const))(
    "%s: %s",
    (kind, _name, each) => {
      // Each entry of the table takes the cases of its own kind.
      (check[kind] as (given: Case) => void)(each);
    },
  );

  it("are all there", () => {
    const count = (kind: Case["kind"]): number => cases.filter((each) => each.kind === kind).length;
    expect([
      count("vault"),
      count("vault refused"),
      count("field"),
      count("field refused"),
      count("inject"),
      count("mask"),
    ]).toEqual([3, 15, 3, 7, 25, 15]);
  });

  it("sealVault() never seals twice in the same way", () => {
    const seed = new Uint8Array(32);
    const texts = Array.from(
      { length: 50 },
      () => JSON.parse(sealVault({ counter: 1, secrets: [] }, seed)) as JsonObject,
    );
    expect(new Set(texts.map(({ salt }) => salt)).size).toBe(50);
    expect(new Set(texts.map(({ iv }) => iv)).size).toBe(50);
  });
});
