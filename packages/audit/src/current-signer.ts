/**
 * Current signer: what signs the checkpoints of an open log now, where its key may be followed by
 * another one.
 */
import { noteSigner, type NoteSigner } from "./note.js";

/**
 * Asks for the key whenever something is to be signed. A key that is none, or has another name,
 * leaves the one before in place: origins start with the name, and a log cannot change its own.
 *
 * @throws ConsentError `key_rejected` at once where the first key is none.
 */
export function currentSigner(signerKey: string | (() => string)): () => NoteSigner {
  const ask = typeof signerKey === "string" ? () => signerKey : signerKey;
  let key = ask();
  let signer = noteSigner(key);
  return () => {
    const next = ask();
    if (next === key) return signer;
    key = next;
    signer = followed(signer, next);
    return signer;
  };
}

function followed(signer: NoteSigner, key: string): NoteSigner {
  try {
    const next = noteSigner(key);
    return next.name === signer.name ? next : signer;
  } catch {
    return signer;
  }
}
