/**
 * The page in a real Chromium, before a real inbox with a real gate: a code to sign in, and a
 * question that is answered. More of both: browser-answers-more.test.ts.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { openPerson, signedIn } from "./browser/person.js";
import { openWorld } from "./browser/world.js";

describe.skipIf(!chromiumNeed.run)(
  `the page in Chromium ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it("signs in by a code, once", async () => {
      await using world = await openWorld();
      const code = world.inbox.signInCode("ada");
      await using ada = await openPerson(browser, world);
      await ada.tab.signIn(code);
      await ada.tab.sees("empty", "Nothing to answer");
      await ada.tab.page.reload();
      await ada.tab.sees("empty", "Nothing to answer");
      await using thief = await openPerson(browser, world);
      await thief.tab.at("code").fill(code);
      await thief.tab.at("sign-in").click();
      await thief.tab.sees("sign-in-problem", "This code is wrong, used or too old");
      expect(ada.tab.complaints).toEqual([]);
    });

    it("shows everything of a question, and performs what is approved", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const ran = world.want("write_file", {
        path: "/etc/hosts",
        content: "first line\n<b>second</b> \u202eline",
      });
      await ada.tab.read("/etc/hosts");
      const text = (await ada.tab.at("text").textContent()) ?? "";
      expect(text).toContain("<b>second</b> \\u202eline");
      expect(await ada.tab.at("risk").textContent()).toBe("medium risk");
      expect(await ada.tab.at("rule").textContent()).toContain("Files outside of the notes");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "Approved");
      expect(await ran).toMatchObject({ ran: true, verdict: { approvers: ["ada"] } });
      expect(world.performed).toEqual([
        { path: "/etc/hosts", content: "first line\n<b>second</b> \u202eline" },
      ]);
      expect(world.lastRecord().request["text"]).toBe(text);
      expect(ada.tab.complaints).toEqual([]);
    });
  },
);
