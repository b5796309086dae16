/**
 * What the page weighs, whom it talks to, and whether it works without a mouse and without seeing it.
 */
import { gzipSync } from "node:zlib";
import { readFile, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PATIENCE_MS, TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { readToEnd, signedIn } from "./browser/person.js";
import { openWorld } from "./browser/world.js";
import { PAGE_GZIP_BYTES_MAX } from "./page.js";

const FOLDER = fileURLToPath(new URL("../page/", import.meta.url));

describe.skipIf(!chromiumNeed.run)(
  `the page itself in Chromium ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it("is small, and talks to its own inbox only", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const ran = world.want("write_file", {
        path: "https://elsewhere.example/x.png",
        content: "<img src=https://elsewhere.example/y.png>",
      });
      expect(
        await ada.tab.page.evaluate(
          "navigator.serviceWorker.getRegistrations().then(({ length }) => length)",
        ),
      ).toBe(0);
      await ada.tab.read("elsewhere.example");
      await ada.tab.approve();
      await ran;
      for (const tab of ["tab-history", "tab-passkeys"]) await ada.tab.at(tab).click();
      expect(ada.asked.filter((url) => new URL(url).origin !== world.origin)).toEqual([]);

      const asked = ada.asked
        .map((url) => new URL(url).pathname)
        .filter((path) => !path.startsWith("/api/"));
      const shipped = (await readdir(FOLDER)).filter((name) =>
        /\.(js|css|svg|png|webmanifest)$/.test(name),
      );
      const paths = new Set([...asked, ...shipped.map((name) => `/${name}`)]);
      let total = 0;
      for (const path of paths) {
        const response = await world.fetch(path);
        expect([path, response.status]).toEqual([path, 200]);
        total += gzipSync(await response.arrayBuffer()).byteLength;
      }
      process.stdout.write(`page weight: ${total} bytes with gzip, ${paths.size} files\n`);
      expect(total).toBeLessThanOrEqual(PAGE_GZIP_BYTES_MAX);
      expect(ada.tab.complaints).toEqual([]);
    });

    it("has no script and no style in its markup", async () => {
      const html = await readFile(`${FOLDER}index.html`, "utf8");
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:/i);
    });

    it("is answered by keyboard alone; no single key says yes", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const { page } = ada.tab;
      const first = world.want("write_file", { path: "first.txt" });
      await ada.tab.row("first.txt").waitFor();
      const second = world.want("write_file", { path: "second.txt" });
      await ada.tab.row("second.txt").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await ada.tab.at("question-view").getByTestId("text").waitFor();
      await readToEnd(ada.tab.at);
      await expect
        .poll(() => ada.tab.at("approve").isEnabled(), { timeout: PATIENCE_MS })
        .toBe(true);
      await page.keyboard.press("a");
      expect(world.performed).toEqual([]);
      await expect
        .poll(() => page.evaluate("document.activeElement.dataset.testid"), {
          timeout: PATIENCE_MS,
        })
        .toBe("approve");
      await page.keyboard.press("Enter");
      await ada.tab.sees("outcome", "Approved");
      expect(await first).toMatchObject({ ran: true });
      await page.keyboard.press("Escape");
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await ada.tab
        .at("question-view")
        .getByTestId("text")
        .filter({ hasText: "second.txt" })
        .waitFor();
      await page.keyboard.press("d");
      await ada.tab.at("deny-text").waitFor();
      await page.keyboard.type("not this one");
      await page.keyboard.press("Tab");
      while ((await page.evaluate("document.activeElement.dataset.testid")) !== "deny-confirm")
        await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await ada.tab.sees("outcome", "Denied");
      expect(await second).toMatchObject({ ran: false });
    });

    it("names everything to a screen reader, and tells it what happens", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const ran = world.want("write_file", { path: "a.txt" });
      await ada.tab.sees("live", "write_file");
      await ada.tab.read("a.txt");
      await readToEnd(ada.tab.at);
      const { page } = ada.tab;
      for (const name of ["Approve", "Deny", "Edit", "Sign out"])
        await page.getByRole("button", { name, exact: true }).waitFor();
      for (const name of ["Questions", "History", "Passkeys"])
        await page.getByRole("link", { name: new RegExp(`^${name}`) }).waitFor();
      await page.getByRole("heading", { level: 1, name: "write_file" }).waitFor();
      await page.getByRole("radio", { name: "only this call" }).waitFor();
      const session = await ada.context.newCDPSession(page);
      const { nodes } = await session.send("Accessibility.getFullAXTree");
      const nameless = nodes.filter(
        ({ ignored, role, name }) =>
          !ignored &&
          /^(button|link|textbox|searchbox|checkbox|radio|dialog|navigation|image)$/.test(
            String(role?.value),
          ) &&
          String(name?.value ?? "") === "",
      );
      expect(nameless).toEqual([]);
      await ada.tab.approve();
      await ada.tab.sees("live", "Approved");
      await ran;
    });
  },
);
