/**
 * One agent floods the page: whoever operates the gate pauses it, in a real Chromium, and its
 * questions end, also those that this person may not answer.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { signedIn } from "./browser/person.js";
import { openWorld } from "./browser/world.js";

const FLOOD = 320;
/** Of the flood, questions for others than the operator. */
const FOR_OTHERS = 20;

describe.skipIf(!chromiumNeed.run)(
  `pausing an agent ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it("denies all of its open questions and what it asks later, leaves other agents' alone, and ends", async () => {
      await using world = await openWorld();
      await using carol = await signedIn(browser, world, "carol");
      const { tab } = carol;
      const { at } = tab;
      const flood = Array.from({ length: FLOOD }, (_, number) =>
        world.wantAs("flooder", number < FOR_OTHERS ? "send_mail" : "write_note", {
          text: `flood ${number}.`,
        }),
      );
      const calm = [1, 2, 3].map((number) =>
        world.wantAs("clerk", "write_note", { text: `clerk ${number}.` }),
      );
      await expect.poll(() => at("question").count()).toBe(FLOOD + 3);
      // She may not answer this one, and pauses the agent that asks it.
      await tab.read("flood 3.");
      expect(await at("deny").isVisible()).toBe(false);
      await at("pause-agent").click();
      await at("cancel").click();
      expect(world.paused.size).toBe(0);
      await at("pause-agent").click();
      await at("pause-agent-confirm").click();

      await tab.sees("pause-outcome", `flooder is paused. ${FLOOD} open questions denied.`);
      for (const { ran, verdict } of await Promise.all(flood)) {
        expect(ran).toBe(false);
        expect(verdict).toMatchObject({ decision: "deny", code: "agent_paused" });
      }
      await expect.poll(() => at("question").count()).toBe(3);
      expect(await at("question").getByText("clerk", { exact: true }).count()).toBe(3);
      expect(await world.wantAs("flooder", "write_note", { text: "more" })).toMatchObject({
        verdict: { code: "agent_paused" },
      });
      await tab.read("clerk 1.");
      await tab.approve();
      expect(await calm[0]).toMatchObject({ ran: true });

      expect(await at("paused-agent").count()).toBe(1);
      await at("resume").click();
      await tab.sees("pause-outcome", "flooder is resumed");
      await at("paused-agent").waitFor({ state: "detached" });
      const again = world.wantAs("flooder", "write_note", { text: "again." });
      await tab.read("again.");
      await tab.approve();
      expect(await again).toMatchObject({ ran: true });
      expect(tab.complaints).toEqual([]);
      await world.gate.close();
      await Promise.all(calm);
    });

    it("is offered to nobody else, and shown to nobody else", async () => {
      await using world = await openWorld();
      world.paused.add("flooder");
      await using ada = await signedIn(browser, world, "ada");
      const asked = world.want("write_note", { text: "hello." });
      await ada.tab.read("hello.");
      await ada.tab.at("deny").waitFor();
      expect(await ada.tab.at("pause-agent").isVisible()).toBe(false);
      expect(await ada.tab.at("paused-agent").count()).toBe(0);
      await world.gate.close();
      await asked;
    });

    it("shows who was paused elsewhere", async () => {
      await using world = await openWorld();
      world.paused.add("night-shift");
      await using carol = await signedIn(browser, world, "carol");
      await carol.tab.at("paused-agent").filter({ hasText: "night-shift" }).waitFor();
    });
  },
);
