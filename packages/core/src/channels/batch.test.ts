import { describe, expect, it } from "vitest";
import { agent, first, type Kit, makeKit, type Shown } from "../../test/gate-kit.js";
import { toolAction, type Verdict } from "../index.js";
import { parsePolicy } from "../policy.js";
import { answerBatch, type BatchChoice } from "./batch.js";

const policy = parsePolicy({
  version: "1",
  default: "ask",
  rules: [{ match: { tool: "delete_*" }, action: "ask", level: "critical" }],
});
const choose = (
  { request }: Shown,
  decision: BatchChoice["decision"],
  more: Partial<BatchChoice> = {},
): BatchChoice => ({
  requestId: request.id,
  nonce: request.nonce,
  actionDigest: request.actionDigest,
  decision,
  shownWhole: true,
  ...more,
});

/** The open questions; of a screen with fewer the first ones come again. */
function take(shown: readonly Shown[]): readonly [Shown, Shown, Shown, Shown] {
  const at = (index: number): Shown => first(shown.slice(index % shown.length));
  return [at(0), at(1), at(2), at(3)];
}

interface Screen extends Kit {
  readonly verdicts: readonly Promise<Verdict>[];
  answer(...choices: readonly BatchChoice[]): Promise<readonly (string | undefined)[]>;
}

/** A gate with an open question for each of these tools. */
async function screen(...tools: readonly string[]): Promise<Screen> {
  const kit = makeKit({ policy });
  const verdicts = tools.map((tool) =>
    kit.gate(toolAction("files", tool, { path: tool }), { agent }),
  );
  await kit.settle();
  return {
    ...kit,
    verdicts,
    async answer(...choices) {
      const receipts = await answerBatch(kit.shown, choices, {
        channel: "test",
        nowMs: kit.clock.now(),
      });
      return choices.map(({ requestId }) => {
        const receipt = receipts.get(requestId);
        return receipt?.status === "refused" ? receipt.code : receipt?.status;
      });
    },
  };
}

describe("answerBatch()", () => {
  it("decides each question by itself, and leaves the others open", async () => {
    const { shown, answer, verdicts, clock } = await screen("a", "b", "c", "d");
    const [a, b, c] = take(shown);
    expect(
      await answer(
        choose(a, "approved"),
        choose(b, "denied", { reason: "not that" }),
        choose(c, "approved"),
      ),
    ).toEqual(["final", "final", "final"]);
    expect(await Promise.all(verdicts.slice(0, 3))).toMatchObject([
      { code: "consent_approved", action: { name: "a" } },
      { code: "consent_denied", reason: "not that" },
      { code: "consent_approved", action: { name: "c" } },
    ]);
    await clock.advance(120_000);
    expect(await verdicts[3]).toMatchObject({ code: "consent_expired" });
  });

  it("approves nothing that was not shown whole, and denies it", async () => {
    const { shown, answer, verdicts } = await screen("a", "b");
    const [a, b] = take(shown);
    const unseen = { shownWhole: false };
    expect(await answer(choose(a, "approved", unseen), choose(b, "denied", unseen))).toEqual([
      "question_not_shown",
      "final",
    ]);
    expect(await answer(choose(a, "approved"))).toEqual(["final"]);
    expect((await verdicts[0])?.decision).toBe("allow");
  });

  it.each(["false", "true", 1, ["yes"], {}])(
    "takes nothing but true for shown whole: %j approves nothing",
    async (shownWhole) => {
      const { shown, answer } = await screen("a");
      const [a] = take(shown);
      expect(await answer(choose(a, "approved", { shownWhole: shownWhole as never }))).toEqual([
        "question_not_shown",
      ]);
    },
  );

  it("binds each answer to id, nonce and digest of the question as the screen held it", async () => {
    const { shown, answer } = await screen("a", "b");
    const [a, b] = take(shown);
    expect(
      await answer(
        choose(a, "approved", { nonce: b.request.nonce }),
        choose(b, "approved", { actionDigest: a.request.actionDigest }),
      ),
    ).toEqual(["nonce_mismatch", "nonce_mismatch"]);
    expect(await answer(choose(a, "approved", { requestId: "cr_other" }))).toEqual([
      "request_unknown",
    ]);
    expect(await answer(choose(a, "denied", { nonce: "n_other" }))).toEqual(["nonce_mismatch"]);
    expect(await answer(choose(a, "approved"), choose(b, "approved"))).toEqual(["final", "final"]);
  });

  it("takes a critical question only with the word that was typed for it", async () => {
    const { shown, answer } = await screen("delete_a", "delete_b", "c");
    const [a, b, c] = take(shown);
    const typed = choose(a, "approved", { confirmation: "approve" });
    expect(await answer(typed, choose(b, "approved"), choose(c, "approved"))).toEqual([
      "final",
      "confirmation_required",
      "final",
    ]);
  });

  it("answers a question once, also where the batch comes again", async () => {
    const { shown, answer } = await screen("a");
    const [a] = take(shown);
    const twice = await Promise.all([answer(choose(a, "approved")), answer(choose(a, "approved"))]);
    expect(twice).toEqual([
      ["final"],
      [expect.stringMatching(/^(?:request_ended|already_answered)$/)],
    ]);
    expect(await answer(choose(a, "denied"))).toEqual(["request_ended"]);
  });

  it("refuses a batch with two answers to one question, or with more than anybody reads", async () => {
    const { shown, answer } = await screen("a");
    const [a] = take(shown);
    await expect(answer(choose(a, "approved"), choose(a, "denied"))).rejects.toMatchObject({
      code: "message_invalid",
    });
    const many = Array.from({ length: 101 }, (_, at) =>
      choose(a, "denied", { requestId: `cr_${at}` }),
    );
    await expect(answer(...many)).rejects.toMatchObject({ code: "message_invalid" });
  });
});
