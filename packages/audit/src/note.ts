/**
 * Notes: a text and Ed25519 signatures over it, as C2SP signed-note and Go's
 * `golang.org/x/mod/sumdb/note` write them. Keys are texts of the same source, so that other tools
 * can check our checkpoints. Vectors: golang/mod.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { ConsentError } from "@acp/core";

/** Signs notes with one key (C2SP signed-note). */
export interface NoteSigner {
  /** The key's name; signature lines begin with it. */
  readonly name: string;
  /** The public key that verifies its signatures: `<name>+<id>+<base64>`. */
  readonly verifierKey: string;
  /** The signed note of a text, which must end with a newline. */
  sign(text: string): string;
}

/** Verifies signatures of one key. */
export interface NoteVerifier {
  /** The key's name, as signature lines begin with it. */
  readonly name: string;
  /** First four bytes of the key's hash, as an unsigned number (C2SP signed-note). */
  readonly keyId: number;
  /** Whether the signature over these bytes is the key's. Does not throw. */
  verify(text: Uint8Array, signature: Uint8Array): boolean;
}

/** What a note turned out to be. */
export type OpenedNote =
  /** At least one of the keys signed it; `signers` are their names. */
  | { readonly ok: true; readonly text: string; readonly signers: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const ED25519 = 1;
const KEY_BYTES = 32;
const NOTE_BYTES_MAX = 1_000_000;
const SIGNATURES_MAX = 100;
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI = Buffer.from("302a300506032b6570032100", "hex");
const SIGNATURE_LINE = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u;
const SIGNATURE_START = "\u2014 ";

/**
 * Makes a new key for checkpoints. Keep `signerKey` secret; give `verifierKey` to whoever verifies
 * the log.
 *
 * @throws ConsentError `key_rejected` for a name that is empty or has white space or a `+`.
 */
export function generateNoteKey(name: string): {
  readonly signerKey: string;
  readonly verifierKey: string;
} {
  checkName(name);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-KEY_BYTES);
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
  return {
    signerKey: `PRIVATE+KEY+${keyText(name, raw, seed)}`,
    verifierKey: keyText(name, raw, raw),
  };
}

/**
 * Reads a secret key: `PRIVATE+KEY+<name>+<id>+<base64>`.
 *
 * @throws ConsentError `key_rejected`, which never holds the key.
 */
export function noteSigner(signerKey: string): NoteSigner {
  const { name, id, key } = splitKey(
    signerKey.startsWith("PRIVATE+KEY+") ? signerKey.slice("PRIVATE+KEY+".length) : "",
  );
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8, key]),
    format: "der",
    type: "pkcs8",
  });
  const raw = createPublicKey(privateKey)
    .export({ format: "der", type: "spki" })
    .subarray(-KEY_BYTES);
  if (keyIdOf(name, raw) !== id) throw rejected("its ID does not match its name and key");
  return {
    name,
    verifierKey: keyText(name, raw, raw),
    sign: (text) => signNote(text, { name, id, privateKey }),
  };
}

/**
 * Reads a public key: `<name>+<id>+<base64>`.
 *
 * @throws ConsentError `key_rejected`.
 */
export function noteVerifier(verifierKey: string): NoteVerifier {
  const { name, id, key } = splitKey(verifierKey);
  if (keyIdOf(name, key) !== id) throw rejected("its ID does not match its name and key");
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI, key]),
    format: "der",
    type: "spki",
  });
  return { name, keyId: id, verify: (text, signature) => verify(null, text, publicKey, signature) };
}

/**
 * Checks a note: every signature that claims one of the keys must be good, and one such must be
 * there.
 */
export function openNote(note: string, verifiers: readonly NoteVerifier[]): OpenedNote {
  if (Buffer.byteLength(note) > NOTE_BYTES_MAX) return bad("it is too large");
  if (/[\u0000-\u0009\u000b-\u001f]/.test(note) || !note.endsWith("\n"))
    return bad("it is not a signed note");
  const split = note.lastIndexOf("\n\n");
  if (split === -1) return bad("it has no signatures");
  const text = note.slice(0, split + 1);
  const lines = note.slice(split + 2, -1).split("\n");
  if (lines.length > SIGNATURES_MAX) return bad("it has too many signatures");
  const signed = Buffer.from(text);
  const signers = new Set<string>();
  for (const line of lines) {
    const signature = readSignature(line);
    if (signature === undefined) return bad("a signature line is malformed");
    const verifier = verifiers.find(
      ({ name, keyId }) => name === signature.name && keyId === signature.keyId,
    );
    if (verifier === undefined) continue;
    if (!verifier.verify(signed, signature.bytes))
      return bad(`the signature of "${verifier.name}" is not valid`);
    signers.add(verifier.name);
  }
  return signers.size === 0
    ? bad("no trusted key signed it")
    : { ok: true, text, signers: [...signers] };
}

function bad(reason: string): OpenedNote {
  return { ok: false, reason };
}

function readSignature(
  line: string,
): { readonly name: string; readonly keyId: number; readonly bytes: Uint8Array } | undefined {
  const [, name, base64] = SIGNATURE_LINE.exec(line) ?? [];
  if (name === undefined || base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length < 5 || bytes.toString("base64") !== base64) return undefined;
  return { name, keyId: bytes.readUInt32BE(0), bytes: bytes.subarray(4) };
}

function signNote(
  text: string,
  key: { readonly name: string; readonly id: number; readonly privateKey: KeyObject },
): string {
  const id = Buffer.alloc(4);
  id.writeUInt32BE(key.id);
  const signature = Buffer.concat([id, sign(null, Buffer.from(text), key.privateKey)]);
  return `${text}\n${SIGNATURE_START}${key.name} ${signature.toString("base64")}\n`;
}

function splitKey(text: string): {
  readonly name: string;
  readonly id: number;
  readonly key: Buffer;
} {
  const [, name = "", id = "", base64 = ""] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, "base64");
  if (
    name === "" ||
    bytes.length !== 1 + KEY_BYTES ||
    bytes[0] !== ED25519 ||
    bytes.toString("base64") !== base64
  )
    throw rejected("it is not of the form <name>+<id>+<base64 of an Ed25519 key>");
  return { name, id: Number.parseInt(id, 16), key: bytes.subarray(1) };
}

function keyText(name: string, publicKey: Uint8Array, key: Uint8Array): string {
  const id = keyIdOf(name, publicKey).toString(16).padStart(8, "0");
  return `${name}+${id}+${Buffer.concat([Buffer.of(ED25519), key]).toString("base64")}`;
}

function keyIdOf(name: string, publicKey: Uint8Array): number {
  return createHash("sha256")
    .update(`${name}\n`)
    .update(Buffer.of(ED25519))
    .update(publicKey)
    .digest()
    .readUInt32BE(0);
}

function checkName(name: string): void {
  if (name === "" || /[\s+]/.test(name))
    throw rejected("its name is empty, or contains a space or a plus sign");
}

function rejected(why: string): ConsentError {
  return new ConsentError("key_rejected", `Cannot use a checkpoint key: ${why}`);
}
