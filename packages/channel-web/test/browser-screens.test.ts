/**
 * Every screen, on a phone and on a desk, light and dark: checked by axe-core, which must find
 * nothing serious. `node tools/screenshots.mjs` runs this with `ACP_SCREENSHOTS`, the folder that
 * pictures of the screens are written to.
 */
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { manualClock } from "@acp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { type Person, openPerson, readToEnd, signedIn } from "./browser/person.js";
import { type World, openWorld } from "./browser/world.js";

const PICTURES = process.env["ACP_SCREENSHOTS"];

const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
const DESK = { viewport: { width: 1180, height: 760 } };
const LOOKS = [
  { name: "phone-light", ...PHONE, colorScheme: "light" },
  { name: "phone-dark", ...PHONE, colorScheme: "dark" },
  { name: "desk-light", ...DESK, colorScheme: "light" },
  { name: "desk-dark", ...DESK, colorScheme: "dark" },
] as const;

type LookName = (typeof LOOKS)[number]["name"];

/** What axe-core found that keeps somebody from using the page. */
async function findings(page: Page): Promise<readonly string[]> {
  // Not detached afterwards: that would take the tab's authenticator away.
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  // A world of its own: the page's policy lets nothing into the page's.
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
  });
  await session.send("Runtime.evaluate", { contextId, expression: axe.source });
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    contextId,
    awaitPromise: true,
    returnByValue: true,
    expression: `axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => ({
      passed: passes.length,
      found: violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + " " + target + ": " + failureSummary)),
    }))`,
  });
  if (exceptionDetails !== undefined) throw new Error(`axe-core failed: ${exceptionDetails.text}`);
  const { passed, found } = result.value as {
    readonly passed: number;
    readonly found: readonly string[];
  };
  expect(passed).toBeGreaterThan(5);
  return found;
}

const MAIL = {
  to: ["grace@example.com"],
  subject: "Invoice 2026-118",
  body: "Dear Grace,\n\nattached is the invoice for November.\nPlease pay it within two weeks.\n\nBest regards\nAda",
};
const FILE = {
  path: "/srv/site/config/deploy.yml",
  content:
    "region: eu-central\nreplicas: 2\nimage: shop:2.4.1\nhealthcheck: /healthz\ntimeout: 30\n",
};
const EDITED = {
  ...FILE,
  content:
    "region: eu-central\nreplicas: 3\nimage: shop:2.4.1\nhealthcheck: /healthz\ntimeout: 60\n",
};

/** What agents want meanwhile. Nobody waits for it. */
function fill({ want }: World): void {
  for (const text of [
    "Rehearsal moved to Thursday",
    "Buy strings for the cello",
    "Ask Linus about the hall",
  ])
    void want("write_note", { text });
  void want("write_file", FILE);
  void want("deploy", { service: "shop", version: "2.4.1", to: "production" });
  void want("send_mail", MAIL);
  void want("send_payment", {
    to: "Stagehands Ltd",
    amount: "1,240.00 EUR",
    reference: "Invoice 77",
  });
}

interface Screen {
  readonly name: string;
  /** The looks of which docs/images keeps a picture. */
  readonly pictures?: readonly LookName[];
  /** Goes there; the screens stand in the order of a visit. */
  readonly go: (person: Person) => Promise<void>;
}

/** The list, also where a question covers it on a phone. */
async function toList({ tab }: Person): Promise<void> {
  await tab.page.goto("/#/");
  await tab.at("questions").waitFor();
}

const open =
  (text: string) =>
  async (person: Person): Promise<void> => {
    await toList(person);
    await person.tab.read(text);
  };

const SCREENS: readonly Screen[] = [
  { name: "list", pictures: ["phone-light", "phone-dark", "desk-light", "desk-dark"], go: toList },
  { name: "question", pictures: ["phone-light", "desk-light"], go: open("deploy.yml") },
  {
    name: "edit",
    go: async ({ tab }) => {
      await tab.at("edit").click();
      await tab.at("edit-field").fill(JSON.stringify(EDITED, undefined, 2));
    },
  },
  {
    name: "diff",
    pictures: ["phone-dark", "desk-light"],
    go: async ({ tab }) => {
      await tab.at("review-changes").click();
      await tab.at("diff").waitFor();
      await tab.page.locator("[data-testid=approve]:enabled").waitFor();
    },
  },
  { name: "critical", pictures: ["phone-dark"], go: open("Stagehands") },
  {
    name: "deny",
    go: async ({ tab }) => {
      await tab.at("deny").click();
      await tab.at("deny-text").fill("Wait until the invoice is checked");
    },
  },
  {
    name: "passkey",
    pictures: ["phone-light", "desk-dark"],
    go: async (person) => {
      await person.tab.at("cancel").click();
      await open("Invoice 2026-118")(person);
      await readToEnd(person.tab.at);
      await person.tab.keys.setPresence(false);
      await person.tab.at("approve").click();
      await person.tab.sees("outcome", "passkey");
    },
  },
  {
    name: "approved",
    go: async (person) => {
      // Whoever lost the prompt starts again.
      await person.tab.page.reload();
      await person.tab.keys.setPresence(true);
      await person.tab.approve();
      await person.tab.sees("outcome", "Approved");
    },
  },
  {
    name: "select",
    go: async (person) => {
      await toList(person);
      await person.tab.at("select").click();
      await person.tab.at("select-all").click();
    },
  },
  {
    name: "batch",
    pictures: ["phone-light", "desk-light"],
    go: async ({ tab }) => {
      await tab.at("review").click();
      await tab.at("batch-item").first().waitFor();
    },
  },
  {
    name: "batch-answered",
    go: async ({ tab }) => {
      await readToEnd(tab.at);
      await tab.at("batch-approve").click();
      await tab.sees("outcome", "Approved: 3");
    },
  },
  {
    name: "history",
    go: async ({ tab }) => {
      await tab.page.goto("/#/history");
      await tab.at("history-entry").first().waitFor();
    },
  },
  {
    name: "record",
    pictures: ["desk-dark"],
    go: async ({ tab }) => {
      await tab
        .at("history-entry")
        .filter({ hasText: "Invoice 2026-118" })
        .getByRole("link")
        .click();
      await tab.at("proof").waitFor();
    },
  },
  {
    name: "passkeys",
    go: async ({ tab }) => {
      await tab.page.goto("/#/passkeys");
      await tab.at("passkey").waitFor();
    },
  },
  {
    name: "help",
    go: async ({ tab }) => {
      await tab.page.keyboard.press("?");
      await tab.at("help").waitFor();
    },
  },
  {
    name: "offline",
    pictures: ["phone-light"],
    go: async (person) => {
      await person.tab.page.keyboard.press("Escape");
      await open("deploy.yml")(person);
      await person.context.setOffline(true);
      await person.tab.at("notice").waitFor();
    },
  },
];

describe.skipIf(!chromiumNeed.run)(
  `every screen in Chromium ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    it.each(LOOKS)(
      "has no serious finding by axe-core: $name",
      async ({ name: look, ...context }) => {
        const clock = manualClock();
        await using world = await openWorld({ clock });
        const found: string[] = [];
        const check = async (
          { page }: Person["tab"],
          screen: string,
          pictures: readonly LookName[] = [],
        ): Promise<void> => {
          for (const finding of await findings(page)) found.push(`${screen}: ${finding}`);
          if (PICTURES !== undefined && pictures.includes(look))
            await page.screenshot({
              path: join(PICTURES, `inbox-${screen}-${look}.png`),
              animations: "disabled",
            });
        };
        await using stranger = await openPerson(browser, world, context);
        await stranger.tab.at("code").waitFor();
        await check(stranger.tab, "sign-in", ["phone-light"]);
        await using ada = await signedIn(browser, world, "ada", context);
        await ada.tab.sees("empty", "Nothing to answer");
        // The same pictures whenever they are taken.
        await ada.context.clock.setFixedTime(clock.now());
        await check(ada.tab, "empty");
        await ada.tab.addPasskey("Ada's phone");
        fill(world);
        await ada.tab.row("Stagehands").waitFor();
        for (const { name, pictures, go } of SCREENS) {
          await go(ada);
          await check(ada.tab, name, pictures);
        }
        expect(found).toEqual([]);
        expect(ada.tab.complaints).toEqual([]);
      },
    );
  },
);
