/**
 * Laws of a Channel about what it shows and what it hands in: the question's own text, whole or
 * said to be cut, and the person's answer to this one question and nothing besides.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type ConsentRequest, parseResponse } from "@acp/core";
import {
  answered,
  assertNoYes,
  delivered,
  eventually,
  isShown,
  type Requirement,
  STILLNESS_MS,
  takenOf,
} from "./channel-case.js";

/** Words at the start, in the middle and at the end of a text that takes more than one screen. */
const longText = (mark: string): string =>
  [
    `Agent: ${mark}-start`,
    ...Array.from({ length: 80 }, (_, line) => `line ${line} of ${mark}`),
    `end of ${mark}-end`,
  ].join("\n");

const wordsOf = (mark: string): readonly string[] => [
  `${mark}-start`,
  `line 40 of ${mark}`,
  `${mark}-end`,
];

/** The laws. */
export const CONTENT: readonly Requirement[] = [
  {
    name: "deliver() keeps an open question shown, and submits nothing by itself, not even when it ends",
    check: async (under) => {
      const ask = await delivered(under);
      await sleep(STILLNESS_MS);
      assert.ok(
        (await under.shown()).includes(ask.request.id),
        "the question was withdrawn while it was open",
      );
      ask.end({ status: "expired", reason: "nobody answered" });
      await isShown(under, ask.request.id, false);
      await sleep(STILLNESS_MS);
      assert.deepEqual(ask.submissions, [], "it submitted an answer that nobody gave");
    },
  },
  {
    name: "deliver() shows each question's own text, whole",
    check: async (under) => {
      const { seen } = under;
      if (seen === undefined) return;
      const asks = new Map<string, string>();
      for (const mark of ["alpha", "omega"])
        asks.set(mark, (await delivered(under, { text: longText(mark) })).request.id);
      for (const [mark, id] of asks) {
        let text = "";
        await eventually(under, `the text of ${mark} can be read`, async () =>
          (text = await seen(id)).includes(`${mark}-end`),
        ).catch(() => undefined);
        for (const word of wordsOf(mark))
          assert.ok(
            text.includes(word),
            `"${word}" of the question cannot be read, and nothing says that it is left out`,
          );
        assert.ok(
          ![...asks.keys()].some((other) => other !== mark && text.includes(`${other}-start`)),
          "it shows another question's text",
        );
      }
    },
  },
  {
    name: "deliver() submits a plain approval without what else was offered",
    needs: "approve",
    check: async (under) => {
      const offers: ConsentRequest["offers"] = [
        {
          id: "tool-10m",
          scope: { kind: "tool", server: "files", name: "write_file" },
          ttlMs: 600_000,
        },
      ];
      const ask = await delivered(under, { offers });
      await under.answer(ask.request.id, "approve");
      await answered(under, ask);
      const { decision, grantId } = parseResponse(
        ask.submissions.find(({ receipt }) => receipt.status === "final")?.claim,
      );
      assert.deepEqual(
        { decision, grantId },
        { decision: "approved", grantId: undefined },
        "an offer was taken that nobody chose",
      );
    },
  },
  {
    name: "deliver() asks again where the same is asked again",
    needs: "approve",
    check: async (under) => {
      const first = await delivered(under);
      await under.answer(first.request.id, "approve");
      await answered(under, first);
      const { id: _id, nonce: _nonce, ...same } = first.request;
      const second = await delivered(under, same);
      await assertNoYes(second);
      await under.answer(second.request.id, "deny");
      await answered(under, second);
      assert.deepEqual([takenOf(first).length, second.ending()?.status], [1, "denied"]);
    },
  },
];
