/**
 * BatchSend: hands many answers in, a few at a time, and has a word for each of them. What nobody
 * answered for is `unknown`: never a no, never "not taken".
 */

/** @typedef {import("./types.js").Receipt} Receipt */
/** @typedef {import("./types.js").Json} Json */
/** @typedef {{ readonly request_id: string, readonly action_digest: string }} Item */
/** @typedef {{ readonly request_id: string, readonly receipt: Receipt }} ItemReceipt */
/**
 * @typedef {object} Batch
 * @property {readonly Item[]} items
 * @property {"approved" | "denied"} decision
 * @property {string} reason
 * @property {(body: object) => Promise<{ readonly receipts: readonly ItemReceipt[] }>} post -
 *   Rejects with an error that has a `code`.
 * @property {(id: string, receipt: Receipt) => void} take - Called once for each item.
 */

/**
 * Answers of one request: soon enough back that a person sees it go on, and that a loss leaves few
 * in doubt.
 */
const AT_ONCE = 25;
/**
 * After these nobody knows whether the inbox handed the answers on; every other refusal comes
 * before.
 */
const DOUBTFUL = ["unreachable", "internal_error", "closed"];

/** @type {(error: unknown) => Receipt} */
function receiptOfFailure(error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unreachable";
  if (DOUBTFUL.includes(code)) return { status: "unknown" };
  return {
    status: "refused",
    code,
    reason: error instanceof Error ? error.message : "it was refused",
  };
}

/**
 * Sends all of them; resolves when each has its receipt. Never rejects.
 *
 * @param {Batch} batch
 */
export async function sendBatch({ items, decision, reason, post, take }) {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const some = items.slice(at, at + AT_ONCE);
    try {
      const { receipts } = await post({
        items: some,
        decision,
        ...(reason === "" ? {} : { reason }),
      });
      const byId = new Map(receipts.map(({ request_id: id, receipt }) => [id, receipt]));
      for (const { request_id: id } of some) take(id, byId.get(id) ?? { status: "unknown" });
    } catch (error) {
      const receipt = receiptOfFailure(error);
      for (const { request_id: id } of some) take(id, receipt);
      // The others were not sent: who cannot be reached now is not asked for all of them.
      for (const { request_id: id } of items.slice(at + AT_ONCE))
        take(id, { status: "refused", code: "not_sent", reason: "it was not sent" });
      return;
    }
  }
}
