/**
 * A person takes what an agent wrote from the page, in a real Chromium: what is shown is text, what
 * is taken is what was ticked, and only what was shown.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { readToEnd, signedIn } from "./browser/person.js";
import { openWorld } from "./browser/world.js";
import { NEW_DIGEST, OLD_DIGEST, reviewsDouble } from "./reviews.js";

describe.skipIf(!chromiumNeed.run)(`reviews ${chromiumNeed.reason}`, { timeout: TEST_MS }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  }, TEST_MS);
  afterAll(() => browser.close(), TEST_MS);

  it("takes one of two files after the end was in view, with a passkey, and shows hostile names as text", async () => {
    const reviews = reviewsDouble("ada", 300);
    await using world = await openWorld({ reviews });
    await using ada = await signedIn(browser, world);
    const { tab } = ada;
    const { at } = tab;
    await tab.addPasskey("phone");
    await at("review-row").getByRole("link").click();
    await tab.sees("review-digest", OLD_DIGEST);
    expect(await at("review-take").isVisible()).toBe(false);
    expect(await at("review-view").locator("img, script").count()).toBe(0);
    const hostile = at("review-change").filter({ hasText: "<img src=x onerror=alert(1)>" });
    expect(await hostile.getByText("onerror=alert(1)").innerText()).not.toMatch(
      /[\u001b\u202e\n]/u,
    );
    expect(
      await at("review-pick").evaluateAll((all) =>
        all.map((each) => [Reflect.get(each, "checked"), Reflect.get(each, "disabled")]),
      ),
    ).toEqual([
      [false, false],
      [true, false],
      [true, false],
      [false, true],
    ]);
    await readToEnd(at);
    await hostile.getByTestId("review-pick").uncheck();
    await tab.sees("review-take", "Take 1");
    await at("review-take").click();
    await tab.sees("outcome", "Took 1 changes");
    expect(await at("review-take").isVisible()).toBe(false);
    expect(reviews.done).toMatchObject([
      {
        verb: "take",
        order: { digest: OLD_DIGEST, picks: [1] },
        by: { approver: "ada", channel: "inbox" },
      },
    ]);
    expect(reviews.done[0]?.by.passkey).toBeDefined();
    expect(tab.complaints).toEqual([]);
  });

  it("takes nothing of what was frozen anew, and shows what it is now, its yes elsewhere and not armed", async () => {
    const reviews = reviewsDouble("ada", 300);
    await using world = await openWorld({ reviews, passkeyFrom: "critical" });
    await using ada = await signedIn(browser, world);
    const { at, sees, page } = ada.tab;
    await at("review-row").getByRole("link").click();
    await sees("review-digest", OLD_DIGEST);
    await readToEnd(at);
    const side = await page.locator(".yes-row").getAttribute("data-side");
    reviews.change();
    await at("review-take").click();
    await sees("review-digest", NEW_DIGEST);
    await sees("outcome", "not what was shown any more");
    expect(reviews.done).toEqual([]);
    expect(await at("review-take").isVisible()).toBe(false);
    expect(await page.locator(".yes-row").getAttribute("data-side")).not.toBe(side);
    await at("review-drop").click();
    await at("review-drop-confirm").click();
    await sees("outcome", "It is dropped");
    await at("review-row").waitFor({ state: "detached" });
    expect(reviews.done).toMatchObject([{ verb: "drop", order: { digest: NEW_DIGEST } }]);
  });

  it("shows one whose agent runs without a way to drop it, and nothing to somebody else", async () => {
    const reviews = reviewsDouble("ada");
    reviews.run();
    await using world = await openWorld({ reviews });
    await using ada = await signedIn(browser, world);
    await ada.tab.at("review-row").getByRole("link").click();
    await ada.tab.sees("review-facts", "still running");
    expect(await ada.tab.at("review-drop").isVisible()).toBe(false);
    await using bob = await signedIn(browser, world, "bob", { path: "/#/review/0123456789ab" });
    await bob.tab.sees("outcome", "You may not see");
    expect(await bob.tab.at("review-row").count()).toBe(0);
  });
});
