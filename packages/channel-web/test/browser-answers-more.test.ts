/**
 * The page in a real Chromium, before a real inbox with a real gate: the other ways to answer, and
 * those in which an answer must not count.
 */
import type { Browser } from "playwright-core";
import { manualClock } from "@acp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { readToEnd, openPerson, signedIn } from "./browser/person.js";
import { openWorld } from "./browser/world.js";

describe.skipIf(!chromiumNeed.run)(
  `answers in Chromium ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it("signs in by the address that was printed, and takes the code out of it", async () => {
      await using world = await openWorld();
      await using ada = await openPerson(browser, world, {
        path: `/#code=${world.inbox.signInCode("ada")}`,
      });
      await ada.tab.sees("empty", "Nothing to answer");
      expect(ada.tab.page.url()).not.toContain("code");
    });

    it("shows what an edit changes, and performs the edited action", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const ran = world.want("write_file", { path: "a.txt", content: "one\ntwo" });
      await ada.tab.read("a.txt");
      await ada.tab.at("edit").click();
      await ada.tab.at("edit-field").fill(`{ "path": "b.txt", "content": "one\\ntwo" }`);
      await ada.tab.at("review-changes").click();
      const diff = ada.tab.at("diff").getByRole("listitem");
      expect((await diff.filter({ hasText: "removed" }).allTextContents()).join()).toContain(
        "a.txt",
      );
      expect((await diff.filter({ hasText: "added" }).allTextContents()).join()).toContain("b.txt");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "Approved with changes");
      expect(await ran).toMatchObject({ ran: true });
      expect(world.performed).toEqual([{ path: "b.txt", content: "one\ntwo" }]);
    });

    it("denies with a reason that the agent reads", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const ran = world.want("write_file", { path: "a.txt" });
      await ada.tab.read("a.txt");
      await ada.tab.deny("use b.txt instead");
      await ada.tab.sees("outcome", "Denied");
      expect(await ran).toMatchObject({
        ran: false,
        verdict: { decision: "deny", reason: expect.stringContaining("use b.txt instead") },
      });
      expect(world.performed).toEqual([]);
    });

    it("counts the yeses of two people before it is one", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      await using bob = await signedIn(browser, world, "bob");
      const ran = world.want("deploy", { version: "2.1.0" });
      await ada.tab.read("2.1.0");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "1 of 2");
      expect(await ada.tab.at("approve").isHidden()).toBe(true);
      await bob.tab.read("2.1.0");
      await bob.tab.sees("note-quorum", "1 of 2");
      await bob.tab.approve();
      await ada.tab.sees("outcome", "Approved");
      expect(await ran).toMatchObject({ ran: true, verdict: { approvers: ["ada", "bob"] } });
    });

    it("gives a lease, which answers the next call and not another tool's", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const first = world.want("write_file", { path: "a.txt" });
      await ada.tab.read("a.txt");
      await ada.tab.at("offers").getByText("every call of write_file").click();
      await ada.tab.approve();
      await ada.tab.sees("outcome", "Approved");
      expect(await first).toMatchObject({ ran: true });
      expect(await world.want("write_file", { path: "b.txt" })).toMatchObject({ ran: true });
      const other = world.want("write_note", { text: "not covered" });
      await ada.tab.read("not covered");
      await ada.tab.deny("");
      expect(await other).toMatchObject({ ran: false });
      expect(world.performed).toEqual([{ path: "a.txt" }, { path: "b.txt" }]);
    });

    it("answers several low ones together, and never a risky one with them", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const notes = ["one", "two", "three"].map((text) => world.want("write_note", { text }));
      const file = world.want("write_file", { path: "a.txt" });
      await ada.tab.row("a.txt").waitFor();
      await ada.tab.at("select").click();
      expect(await ada.tab.row("a.txt").getByTestId("pick").isDisabled()).toBe(true);
      await ada.tab.at("select-all").click();
      await ada.tab.row("two").getByTestId("pick").uncheck();
      await ada.tab.at("review").click();
      await readToEnd(ada.tab.at);
      expect(await ada.tab.at("batch-item").count()).toBe(2);
      await ada.tab.at("batch-approve").click();
      await ada.tab.sees("outcome", "Approved: 2");
      expect(await Promise.all([notes[0], notes[2]])).toMatchObject([{ ran: true }, { ran: true }]);
      expect(world.performed.map(({ text }) => text)).toEqual(
        expect.arrayContaining(["one", "three"]),
      );
      await ada.tab.row("two").waitFor();
      await world.gate.close();
      expect(await Promise.all([notes[1], file])).toMatchObject([{ ran: false }, { ran: false }]);
    });

    it("takes the buttons away from a question that expires while it is open", async () => {
      const clock = manualClock();
      await using world = await openWorld({ clock });
      await using ada = await signedIn(browser, world);
      const ran = world.want("write_file", { path: "a.txt" });
      await ada.tab.read("a.txt");
      await readToEnd(ada.tab.at);
      await ada.tab.at("approve").waitFor();
      await clock.advance(3_600_000);
      await ada.tab.sees("outcome", "Expired");
      expect(await ada.tab.at("approve").isHidden()).toBe(true);
      expect(await ada.tab.at("deny").isHidden()).toBe(true);
      expect(await ran).toMatchObject({ ran: false, verdict: { code: "consent_expired" } });
      expect(world.performed).toEqual([]);
    });

    it("shows in one tab what was answered in the other", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const other = await ada.openTab();
      const ran = world.want("write_file", { path: "a.txt" });
      await ada.tab.read("a.txt");
      await other.read("a.txt");
      await readToEnd(other.at);
      await ada.tab.approve();
      await other.sees("outcome", "Approved");
      expect(await other.at("approve").isHidden()).toBe(true);
      await other.sees("empty", "Nothing to answer");
      expect(await ran).toMatchObject({ ran: true });
      expect(world.performed).toHaveLength(1);
    });

    it("offers no answer to somebody who is not asked, and takes none", async () => {
      await using world = await openWorld();
      await using carol = await signedIn(browser, world, "carol");
      const ran = world.want("write_file", { path: "a.txt" });
      await carol.tab.read("a.txt");
      await carol.tab.at("end-of-text").scrollIntoViewIfNeeded();
      await carol.tab.at("note-waiting").waitFor();
      expect(
        await Promise.all(["approve", "deny", "edit"].map((id) => carol.tab.at(id).isHidden())),
      ).toEqual([true, true, true]);
      // Whoever sends what the page does not.
      const refused = await carol.tab.page.evaluate(`fetch("/api/answers/prepare", {
      method: "POST",
      headers: { "content-type": "application/json", "x-acp-inbox": localStorage.getItem("acp-inbox-key") },
      body: JSON.stringify({ request_id: document.querySelector("[data-testid=question-view]").dataset.id, decision: "approved" }),
    }).then(async (response) => [response.status, (await response.json()).code])`);
      expect(refused).toEqual([403, "not_an_approver"]);
      await world.gate.close();
      expect(await ran).toMatchObject({ ran: false });
    });

    it("answers nothing without a network, says so, and goes on when it is back", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const ran = world.want("write_file", { path: "a.txt" });
      await ada.tab.read("a.txt");
      await readToEnd(ada.tab.at);
      await ada.context.setOffline(true);
      await ada.tab.sees("notice", "You are offline");
      expect(await ada.tab.at("approve").isDisabled()).toBe(true);
      const late = world.want("write_note", { text: "while away" });
      await ada.context.setOffline(false);
      await ada.tab.row("while away").waitFor({ state: "attached" });
      await ada.tab.at("notice").waitFor({ state: "hidden" });
      await ada.tab.approve();
      await ada.tab.sees("outcome", "Approved");
      expect(await ran).toMatchObject({ ran: true });
      await world.gate.close();
      expect(await late).toMatchObject({ ran: false });
    });

    it("signs out, in every tab", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const other = await ada.openTab();
      await other.sees("empty", "Nothing to answer");
      await ada.tab.at("sign-out").click();
      await ada.tab.at("code").waitFor();
      await other.at("code").waitFor();
    });
  },
);
