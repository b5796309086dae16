/**
 * Hundreds of questions answered in a real Chromium: what stands on each card is what the log has
 * of that question.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PATIENCE_MS, TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { type Person, readToEnd, signedIn } from "./browser/person.js";
import { type World, openWorld } from "./browser/world.js";

/** What the log has of each question, in the words of the page. */
function loggedIn({ audit }: World): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const { eventType, requestId, metadata } of audit.events()) {
    if (eventType === "consent_denied") words.set(requestId, "Denied.");
    if (eventType === "tool_call_completed")
      words.set(
        requestId,
        metadata["outcome"] === "failed"
          ? `Approved. It ran and failed (${String(metadata["error"])}).`
          : "Approved. It ran.",
      );
  }
  return words;
}

/** What stands on the cards, by the question. */
async function cardsOf({ tab }: Person): Promise<ReadonlyMap<string, string>> {
  const cards = await tab
    .at("batch-item")
    .evaluateAll((items) =>
      items.map(
        (item) =>
          [
            item.getAttribute("data-id") ?? "",
            item.querySelector('[data-testid="batch-outcome"]')?.textContent ?? "",
          ] as const,
      ),
    );
  return new Map(cards);
}

/** Selects as many as the button gives after so many clicks, and looks at them. */
async function review({ tab }: Person, clicks: number): Promise<void> {
  await tab.at("select").click();
  for (let times = 0; times < clicks; times += 1) await tab.at("select-all").click();
  await tab.at("review").click();
}

const PENDING = 500;
/** Of an odd number of them. */
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[(values.length - 1) / 2] ?? Number.NaN;

/**
 * Clicks an element of this selector and gives the time until what it opens was laid out and
 * painted.
 */
const timeOpening = (selector: string): string => `new Promise((resolve) => {
  const from = performance.now();
  document.querySelector(${JSON.stringify(selector)}).click();
  const look = () => {
    if (document.querySelector("[data-testid=question-view] [data-testid=text]") === null) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - from)));
  };
  look();
})`;

describe.skipIf(!chromiumNeed.run)(
  `the page with hundreds of questions ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it("denies 523 at once, approves no more than 100, and each card says what the log says", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const { at } = ada.tab;
      const ended = Promise.all(
        Array.from({ length: 523 }, (_, number) =>
          world.want("write_note", { text: `note ${number}` }),
        ),
      );
      await ada.tab.row("note 522").waitFor({ state: "attached" });
      await review(ada, 2);
      expect(await at("batch-item").count()).toBe(523);
      await readToEnd(at);
      await ada.tab.sees("batch-approve", "at most 100 at once");
      expect(await at("batch-approve").isDisabled()).toBe(true);
      await at("batch-deny").click();
      await at("deny-confirm").click();
      await ada.tab.sees("outcome", "Denied: 523.");
      for (const { verdict } of await ended) expect(verdict.decision).toBe("deny");
      const cards = await cardsOf(ada);
      expect(cards.size).toBe(523);
      expect(new Map([...loggedIn(world)].filter(([id]) => cards.has(id)))).toEqual(cards);
      expect(world.performed).toEqual([]);
    });

    it("approves 320 in turns, and each card says what the log says", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const { at } = ada.tab;
      const ended = Promise.allSettled(
        Array.from({ length: 320 }, (_, number) =>
          world.want("write_note", { text: `note ${number}`, breaks: number % 7 === 0 }),
        ),
      );
      await ada.tab.row("note 319").waitFor({ state: "attached" });
      const told = new Map<string, string>();
      for (const count of [100, 100, 100, 20]) {
        await review(ada, 1);
        await readToEnd(at);
        expect(await at("batch-item").count()).toBe(count);
        await at("batch-approve").click();
        await ada.tab.sees(
          "outcome",
          new RegExp(`^Approved: ${count} \\(\\d+ ran, \\d+ ran and failed\\)\\.$`),
        );
        for (const [id, text] of await cardsOf(ada)) told.set(id, text);
      }
      await ended;
      expect(told.size).toBe(320);
      expect(told).toEqual(loggedIn(world));
      expect(world.performed).toHaveLength(320);
      expect([...told.values()].filter((text) => text.includes("failed"))).toHaveLength(46);
    });

    it(`stays quick with ${PENDING} questions`, async () => {
      await using world = await openWorld();
      for (let at = 0; at < PENDING; at++) {
        const content = `line\n`.repeat(20);
        void world.want(at % 3 === 0 ? "write_file" : "write_note", {
          path: `notes/${at}.txt`,
          content,
        });
      }
      await using ada = await signedIn(browser, world);
      const { page } = ada.tab;
      await expect
        .poll(() => ada.tab.at("question").count(), { timeout: PATIENCE_MS })
        .toBe(PENDING);
      const times: number[] = [];
      for (let at = 0; at < 21; at++) {
        times.push(
          Number(
            await page.evaluate(timeOpening(`[data-testid=question]:nth-child(${at * 7 + 1}) a`)),
          ),
        );
        await page.evaluate(`location.hash = "#/"`);
        await ada.tab.at("question-view").waitFor({ state: "detached" });
      }
      const opening = median(times);
      process.stdout.write(
        `${PENDING} questions: from click to the whole question ${opening.toFixed(1)} ms (median of ${times.length})\n`,
      );
      expect(times).toHaveLength(21);
      await world.gate.close();
      await expect.poll(() => ada.tab.at("question").count(), { timeout: PATIENCE_MS }).toBe(0);
    });
  },
);
