/**
 * Who taps one point again and again, or holds a key, in a real Chromium: at most one question is
 * approved. And batches of many say what ran.
 */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { readToEnd, signedIn } from "./browser/person.js";
import { type World, openWorld } from "./browser/world.js";

const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  isMobile: true,
  hasTouch: true,
};
const DESK: BrowserContextOptions = { viewport: { width: 1180, height: 760 } };
/** Longer than a yes takes to be armed. */
const PAUSE_MS = 750;
const TAPS = 12;

function wantMany(world: World, count: number): Promise<unknown> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      world.want("write_note", { text: `note ${index}` }),
    ),
  );
}

async function tapAgain(
  page: Page,
  point: { readonly x: number; readonly y: number },
): Promise<void> {
  for (let taps = 0; taps < TAPS; taps += 1) {
    await page.mouse.click(point.x, point.y);
    await page.waitForTimeout(PAUSE_MS);
  }
}

describe.skipIf(!chromiumNeed.run)(
  `the page under a tired thumb ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it.each([
      ["a phone", PHONE],
      ["a desk", DESK],
    ])("approves one question at most by taps on one point, on %s", async (_, look) => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world, "ada", look);
      const { page, at } = ada.tab;
      void wantMany(world, TAPS);
      await ada.tab.row("note 1").first().waitFor();
      await ada.tab.read("note 11");
      await readToEnd(at);
      const box = await at("approve").boundingBox();
      if (box === null) throw new Error("the yes is not there");
      const yes = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      await tapAgain(page, yes);
      expect(world.performed).toHaveLength(1);
      // And where what follows stands no yes ever is.
      const next = await at("next").boundingBox();
      if (next === null) throw new Error("there is no way on");
      await tapAgain(page, { x: next.x + next.width / 2, y: next.y + next.height / 2 });
      await tapAgain(page, yes);
      expect(world.performed.length).toBeLessThanOrEqual(2);
      await world.gate.close();
    });

    it("approves two questions at two places, each by a tap of its own", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world, "ada", PHONE);
      void wantMany(world, 2);
      const places: number[] = [];
      for (const text of ["note 0", "note 1"]) {
        await ada.tab.row(text).waitFor();
        await ada.tab.read(text);
        await readToEnd(ada.tab.at);
        const box = await ada.tab.at("approve").boundingBox();
        places.push(box?.x ?? -1);
        await ada.tab.at("approve").click();
        await ada.tab.sees("outcome", "Approved");
        await ada.tab.at("back").click();
      }
      expect(Math.abs((places[0] ?? 0) - (places[1] ?? 0))).toBeGreaterThan(150);
      expect(world.performed).toHaveLength(2);
    });

    it("takes no yes from a key that is held or pressed again", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world, "ada", DESK);
      const { page, at } = ada.tab;
      void wantMany(world, 6);
      await ada.tab.row("note 5").waitFor();
      await ada.tab.read("note 0");
      await readToEnd(at);
      await page.waitForTimeout(PAUSE_MS);
      await page.keyboard.press("a");
      // Playwright repeats a key that is down.
      for (let times = 0; times < 20; times += 1) await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      for (let times = 0; times < 10; times += 1) {
        await page.keyboard.press("Enter");
        await page.waitForTimeout(PAUSE_MS / 3);
      }
      expect(world.performed).toHaveLength(1);
      await world.gate.close();
    });

    it.each([22, 100])("says of %i that are approved together what the gate did", async (count) => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world, "ada", DESK);
      const { at } = ada.tab;
      const ran = wantMany(world, 3 * count);
      await ada.tab.row(`note ${3 * count - 1}`).waitFor({ state: "attached" });
      await at("select").click();
      if (count === 100) await at("select-all").click();
      else for (let index = 0; index < count; index += 1) await at("pick").nth(index).check();
      await at("review").click();
      expect(await at("batch-item").count()).toBe(count);
      await readToEnd(at);
      await at("batch-approve").click();
      await ada.tab.sees("outcome", `Approved: ${count} (${count} ran).`);
      await expect.poll(() => world.performed.length).toBe(count);
      expect(
        (await at("batch-outcome").allTextContents()).filter(
          (text) => text === "Approved. It ran.",
        ),
      ).toHaveLength(count);
      await world.gate.close();
      await ran;
    });
  },
);
