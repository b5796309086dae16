/**
 * Answer: prepare, sign where it takes that, send. Rejects with `Refused` or with what the browser
 * says of a passkey; nothing is sent twice.
 */
import { request } from "./api.js";
import { sign } from "./webauthn.js";

/** @typedef {import("./types.js").Choice} Choice */
/** @typedef {import("./types.js").Prepared} Prepared */
/** @typedef {import("./types.js").Receipt} Receipt */

/**
 * @param {Choice} choice
 * @param {(step: "passkey" | "sending") => void} onStep
 * @returns {Promise<Receipt>}
 */
export async function giveAnswer(choice, onStep) {
  /** @type {Prepared} */
  const { ticket, passkey } = await request("POST", "/api/answers/prepare", choice);
  if (passkey === null) {
    onStep("sending");
    return request("POST", "/api/answers", { ticket });
  }
  onStep("passkey");
  const assertion = await sign(passkey);
  onStep("sending");
  return request("POST", "/api/answers", { ticket, assertion });
}
