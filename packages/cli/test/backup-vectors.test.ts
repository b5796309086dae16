/**
 * spec/vectors/backup.json, read twice: by `acp restore`'s reader, and by a reader of this file
 * that knows only what spec/backup.md says.
 */
import { scryptSync, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isConsentError } from "@acp/core";
import type { Unlock } from "@acp/home";
import { describe, expect, it } from "vitest";
import { openBackup } from "../src/backup/read-backup.js";
import { fileParts, folder, HOME_RECORD, sealedFile, UNLOCK } from "./backup-world.js";

interface Contents {
  readonly home: object;
  readonly directories: readonly string[];
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

interface Case {
  readonly name: string;
  readonly key_file?: string;
  readonly passphrase?: string;
  readonly file: string;
  readonly expect: Contents | { readonly error: string };
}

const { cases } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/backup.json", import.meta.url), "utf8"),
) as { readonly cases: readonly Case[] };

const unlockOf = ({ key_file: text = "", passphrase = "" }: Case): Unlock =>
  text === "" ? { kind: "passphrase", passphrase } : { kind: "key-file", text };

async function read(base64: string, unlock: Unlock): Promise<Contents> {
  const path = join(await folder(), "x");
  await writeFile(path, Buffer.from(base64, "base64"));
  await using backup = await openBackup(path);
  const directories: string[] = [];
  const files: { path: string; text: string }[] = [];
  const { facts } = await backup.read(unlock, {
    directory: (each) => Promise.resolve(void directories.push(each)),
    async file({ path: name }, contents) {
      const pieces: Uint8Array[] = [];
      for await (const piece of contents) pieces.push(Buffer.from(piece));
      files.push({ path: name, text: Buffer.concat(pieces).toString("utf8") });
    },
  });
  return { home: facts, directories, files };
}

const { subtle } = webcrypto;

async function hkdf(secret: Uint8Array, salt: Uint8Array, info: string): Promise<Uint8Array> {
  const key = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const params = { name: "HKDF", hash: "SHA-256", salt, info: Buffer.from(info) };
  return new Uint8Array(await subtle.deriveBits(params, key, 256));
}

/** The plain text, as spec/backup.md §2 says. */
async function open(
  { file, key_file: keyFile, passphrase = "" }: Case,
  iv: Uint8Array = Buffer.from("000000000000000000000001", "hex"),
): Promise<string> {
  const bytes = Buffer.from(file, "base64");
  const end = bytes.indexOf("\n", bytes.indexOf("\n") + 1) + 1;
  const header = bytes.subarray(0, end);
  const { salt: hex } = JSON.parse(header.toString().split("\n")[1] ?? "") as {
    readonly salt: string;
  };
  const salt = Buffer.from(hex, "hex");
  const unlockKey =
    keyFile === undefined
      ? scryptSync(passphrase, salt, 32, { N: 131_072, r: 8, p: 1, maxmem: 2 ** 28 })
      : await hkdf(Buffer.from(keyFile.trim(), "hex"), salt, "acp/key-file/v1");
  const digest = new Uint8Array(await subtle.digest("SHA-256", header));
  const raw = await hkdf(unlockKey, digest, "acp/backup/v1");
  const key = await subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"]);
  return Buffer.from(
    await subtle.decrypt({ name: "AES-GCM", iv }, key, bytes.subarray(end)),
  ).toString();
}

describe("spec/vectors/backup.json", () => {
  it.each(cases)("$name", async (each) => {
    const { file, expect: expected } = each;
    const end = await read(file, unlockOf(each)).catch((error: unknown) => error);
    if ("error" in expected) expect(isConsentError(end) && end.code).toBe(expected.error);
    else {
      expect(end).toEqual(expected);
      const plain = await open(each);
      for (const { path, text } of expected.files)
        expect(plain).toContain(`"path":"${path}"}\n${text}{"kind":"sum"`);
      expect(plain.endsWith('{"entries":3,"kind":"end"}\n')).toBe(true);
    }
  });
});

it("a backup of several pieces opens by the numbers of spec/backup.md", async () => {
  const text = "#\n".repeat(70_000);
  const parts = [
    HOME_RECORD,
    ...fileParts("policy.yml", text),
    { kind: "end", entries: 1 },
  ] as const;
  const bytes = await sealedFile(parts);
  const end = bytes.indexOf("\n", bytes.indexOf("\n") + 1) + 1;
  const file = (piece: Uint8Array): string =>
    Buffer.concat([bytes.subarray(0, end), piece]).toString("base64");
  const key = UNLOCK.kind === "key-file" ? UNLOCK.text : "";
  const opened: string[] = [];
  for (let at = end, number = 0; at < bytes.length; at += 65_536 + 16, number++) {
    const piece = bytes.subarray(at, at + 65_536 + 16);
    const isLast = at + piece.length === bytes.length;
    const iv = Buffer.from(`${number.toString(16).padStart(22, "0")}0${isLast ? 1 : 0}`, "hex");
    const each = { name: "", file: file(piece), key_file: key, expect: { error: "" } };
    opened.push(await open(each, iv));
  }
  expect(opened.length).toBe(3);
  expect(opened.join("")).toContain(`"path":"policy.yml"}\n${text}{"kind":"sum"`);
});
