import { describe, expect, it } from "vitest";
import { openCheckpoint, signCheckpoint } from "./checkpoint.js";
import { generateNoteKey, noteSigner, noteVerifier, openNote } from "./note.js";
import { growTree } from "./tree-edge.js";

const KEY = generateNoteKey("example.org/log");
const SIGNER = noteSigner(KEY.signerKey);
const VERIFIER = noteVerifier(KEY.verifierKey);
const REJECTED = expect.objectContaining({ code: "key_rejected" });

describe("noteSigner()", () => {
  it("signs what its public key verifies, and every byte counts", () => {
    const note = SIGNER.sign("one\ntwo\n");
    expect(SIGNER.verifierKey).toBe(KEY.verifierKey);
    expect(openNote(note, [VERIFIER])).toEqual({
      ok: true,
      text: "one\ntwo\n",
      signers: ["example.org/log"],
    });
    const bytes = Buffer.from(note);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(openNote(changed.toString("utf8"), [VERIFIER]).ok).toBe(false);
    }
  });

  it("takes several keys, and wants every known signature to hold", () => {
    const other = generateNoteKey("other");
    const note = SIGNER.sign("text\n");
    const both = `${note}${noteSigner(other.signerKey).sign("text\n").slice("text\n\n".length)}`;
    expect(openNote(both, [VERIFIER, noteVerifier(other.verifierKey)])).toMatchObject({
      ok: true,
      signers: ["example.org/log", "other"],
    });
    expect(openNote(both, [noteVerifier(other.verifierKey)])).toMatchObject({
      ok: true,
      signers: ["other"],
    });
    const forged = `${note}${noteSigner(other.signerKey).sign("other\n").slice("other\n\n".length)}`;
    expect(openNote(forged, [VERIFIER, noteVerifier(other.verifierKey)]).ok).toBe(false);
  });

  it("refuses keys that are none, and never repeats them", () => {
    // Base64 may hold "+" itself.
    const secret = KEY.signerKey.split("+").slice(4).join("+");
    expect(secret.length).toBeGreaterThan(40);
    const wrongId = KEY.signerKey.replace(/\+[0-9a-f]{8}\+/, "+00000000+");
    for (const key of [
      "",
      "PRIVATE+KEY+",
      KEY.verifierKey,
      wrongId,
      `${KEY.signerKey}=`,
      KEY.signerKey.slice(0, -8),
    ]) {
      expect(() => noteSigner(key)).toThrow(REJECTED);
      expect(() => noteSigner(key)).not.toThrow(secret);
    }
    for (const key of [
      "",
      KEY.signerKey,
      KEY.verifierKey.replace(/\+[0-9a-f]{8}\+/, "+00000000+"),
      KEY.verifierKey.replace("/log", ""),
    ])
      expect(() => noteVerifier(key)).toThrow(REJECTED);
    for (const name of ["", "a b", "a+b", "a\nb"])
      expect(() => generateNoteKey(name)).toThrow(REJECTED);
  });
});

describe("openCheckpoint()", () => {
  const tree = growTree();
  for (const line of ["a", "b", "c"]) tree.add(Buffer.from(line), 0, 1);
  const checkpoint = {
    origin: "log-1",
    size: 3,
    root: Buffer.from(tree.root()),
    edge: tree.edge(),
  };

  it("reads back what was signed, with the edge of its tree and without", () => {
    expect(openCheckpoint(signCheckpoint(checkpoint, SIGNER), [VERIFIER])).toEqual({
      ok: true,
      checkpoint,
    });
    const { edge: _, ...bare } = checkpoint;
    expect(openCheckpoint(signCheckpoint(bare, SIGNER), [VERIFIER])).toEqual({
      ok: true,
      checkpoint: bare,
    });
    const empty = {
      origin: "log-1",
      size: 0,
      root: Buffer.from(growTree().root()),
      edge: growTree().edge(),
    };
    expect(openCheckpoint(signCheckpoint(empty, SIGNER), [VERIFIER])).toEqual({
      ok: true,
      checkpoint: empty,
    });
  });

  it("takes extension lines of others", () => {
    const text = `log-1\n3\n${checkpoint.root.toString("base64")}\nsomething else\n`;
    expect(openCheckpoint(SIGNER.sign(text), [VERIFIER])).toMatchObject({
      ok: true,
      checkpoint: { size: 3 },
    });
  });

  it.each([
    ["without an origin", (root: string) => `\n3\n${root}\n`],
    ["with a size that has two spellings", (root: string) => `log\n03\n${root}\n`],
    ["with a size that is no number", (root: string) => `log\nx\n${root}\n`],
    ["with a size beyond all integers", (root: string) => `log\n9999999999999999\n${root}\n`],
    ["with a short root", () => "log\n3\nAAAA\n"],
    [
      "with a root that is not canonical base64",
      (root: string) => `log\n3\n${root.slice(0, -2)}B=\n`,
    ],
    ["with two lines only", () => "log\n3\n"],
    [
      "with the edge of another tree",
      (root: string) => `log\n3\n${root}\nacp-edge ${"0".repeat(64)},${"0".repeat(64)}\n`,
    ],
    [
      "with an edge of another size",
      (root: string) => `log\n3\n${root}\nacp-edge ${"0".repeat(64)}\n`,
    ],
  ])("refuses a note %s, though the key signed it", (_, textOf) => {
    expect(
      openCheckpoint(SIGNER.sign(textOf(checkpoint.root.toString("base64"))), [VERIFIER]).ok,
    ).toBe(false);
  });

  it("refuses a key that is not trusted", () => {
    expect(
      openCheckpoint(signCheckpoint(checkpoint, SIGNER), [
        noteVerifier(generateNoteKey("example.org/log").verifierKey),
      ]),
    ).toEqual({
      ok: false,
      reason: "no trusted key signed it",
    });
  });
});
