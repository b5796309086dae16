/**
 * The address of one question, as agents' clients show it: what somebody sees there who is not signed
 * in, and where they are once they are.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { openPerson, signedIn } from "./browser/person.js";
import { openWorld } from "./browser/world.js";

const UNKNOWN = "cr_00000000-0000-4000-8000-000000000000";

describe.skipIf(!chromiumNeed.run)(
  `the address of a question in Chromium ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it("shows the sign-in, the same for every question, and then the question", async () => {
      await using world = await openWorld();
      const ran = world.want("write_file", { path: "/srv/plan.txt", content: "x" });
      await using ada = await signedIn(browser, world);
      await ada.tab.row("plan.txt").waitFor();
      const id = (await ada.tab.row("plan.txt").getAttribute("data-id")) ?? "";
      expect(id).toMatch(/^cr_/);

      const seen: string[] = [];
      for (const each of [id, UNKNOWN, ""]) {
        await using stranger = await openPerson(browser, world, { path: `/#/q/${each}` });
        await stranger.tab.at("sign-in-view").waitFor();
        seen.push(
          `${await stranger.tab.page.title()} ${await stranger.tab.page.innerText("body")}`,
        );
        // What stands behind "#" is told to nobody, and nothing is asked for without a session.
        expect(stranger.asked.filter((url) => /cr_|^\/api\//.test(new URL(url).pathname))).toEqual(
          [],
        );
      }
      expect(new Set(seen).size).toBe(1);
      expect(seen.join()).not.toMatch(/plan\.txt|write_file|cr_/);

      await using again = await openPerson(browser, world, { path: `/#/q/${id}` });
      await again.tab.at("code").fill(world.inbox.signInCode("ada"));
      await again.tab.at("sign-in").click();
      await again.tab.page
        .locator(`[data-testid="question-view"][data-id="${id}"]`)
        .getByTestId("text")
        .waitFor();
      await again.tab.approve();
      expect((await ran).ran).toBe(true);
      expect(again.tab.complaints).toEqual([]);
    });
  },
);
