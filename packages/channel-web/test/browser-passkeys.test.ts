/**
 * Passkeys in a real Chromium: who signs, what a signature is good for, and everything that is
 * none.
 */
import type { Browser, Page, Route } from "playwright-core";
import { type JsonObject, isJsonObject } from "@acp/core";
import { verifyConsentProof } from "@acp/core/proof";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPasskeyVerifier } from "../src/index.js";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { type Person, openPerson, signedIn } from "./browser/person.js";
import { type World, openWorld } from "./browser/world.js";

const REFUSED = "The passkey's signature does not hold";

/** Changes what the inbox offers to sign, as somebody between the two would. */
async function tamper(
  page: Page,
  change: (passkey: JsonObject) => JsonObject | Promise<JsonObject>,
): Promise<void> {
  const handle = async (route: Route): Promise<void> => {
    const { host, port } = new URL(route.request().url());
    // Not every machine resolves names below localhost outside of browsers.
    const url = route.request().url().replace(host, `127.0.0.1:${port}`);
    const response = await route.fetch({
      url,
      headers: { ...(await route.request().allHeaders()), host },
    });
    const json: unknown = await response.json();
    if (!isJsonObject(json) || !isJsonObject(json["passkey"]))
      throw new Error("the inbox asked for no passkey");
    await route.fulfill({ response, json: { ...json, passkey: await change(json["passkey"]) } });
  };
  await page.route("**/api/answers/prepare", handle, { times: 1 });
}

/** The agent wants to send a mail. */
const wantMail = ({ want }: World, subject = "Invoice") =>
  want("send_mail", { to: "grace@example.com", subject });

describe.skipIf(!chromiumNeed.run)(
  `passkeys in Chromium ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    /** Somebody who just made a passkey on the page. */
    async function enrolled(world: World, approver = "ada"): Promise<Person> {
      const person = await signedIn(browser, world, approver);
      await person.tab.addPasskey("phone");
      return person;
    }

    /**
     * A yes that Ada signed, and the passkeys that were known then; the inbox is gone afterwards.
     */
    async function signedMail() {
      await using world = await openWorld();
      await using ada = await enrolled(world);
      const ran = wantMail(world);
      await ada.tab.read("Invoice");
      await ada.tab.sees("note-passkey", "signed with your passkey");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "Approved");
      expect(await ran).toMatchObject({ ran: true, verdict: { approvers: ["ada"] } });
      return { ...world.lastRecord(), passkeys: await world.passkeys.list() };
    }

    it("sign a yes whose proof a stranger checks offline", async () => {
      const { request, response, passkeys } = await signedMail();
      expect(response["proof"]).toMatchObject({
        algorithm: "WebAuthn",
        credential_id: passkeys[0]?.id,
      });
      const verify = (claim: JsonObject, known = passkeys) =>
        verifyConsentProof(claim, request, {
          trustedKeys: [],
          verifiers: [createPasskeyVerifier({ passkeys: () => known })],
        });
      expect(await verify(response)).toMatchObject({ ok: true });
      expect(await verify({ ...response, reason: "another" })).toMatchObject({ ok: false });
      expect(await verify(response, [])).toMatchObject({ ok: false });
    });

    it("sign what is critical with the typed word, and the history has the proof", async () => {
      await using world = await openWorld();
      await using ada = await enrolled(world);
      const ran = world.want("send_payment", { to: "ACME", amount: 1200 });
      await ada.tab.read("1200");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "For a yes, type");
      expect(world.audit.events().some(({ eventType }) => eventType === "consent_approved")).toBe(
        false,
      );
      await ada.tab.at("word").fill("approve");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "Approved");
      expect(await ran).toMatchObject({ ran: true });
      await ada.tab.at("tab-history").click();
      await ada.tab.at("history-entry").getByRole("link").click();
      await ada.tab.sees("proof", "the person's own passkey");
      expect(ada.tab.complaints).toEqual([]);
    });

    it("sign in, where no code is at hand", async () => {
      await using world = await openWorld();
      await using ada = await enrolled(world);
      await ada.tab.at("sign-out").click();
      await ada.tab.at("sign-in-passkey").click();
      await ada.tab.sees("empty", "Nothing to answer");
      await using stranger = await openPerson(browser, world);
      for (const credential of await ada.tab.keys.credentials())
        await stranger.tab.keys.add(credential);
      await world.passkeys.revoke((await world.passkeys.list())[0]?.id ?? "", "ada", Date.now());
      await stranger.tab.at("sign-in-passkey").click();
      await stranger.tab.sees("sign-in-problem", "not known here, or was revoked");
    });

    it("are asked for where there is none: a no takes none", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const ran = wantMail(world);
      await ada.tab.read("Invoice");
      await ada.tab.sees("note-passkey", "you have none yet");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "you have none here");
      await ada.tab.deny("");
      await ada.tab.sees("outcome", "Denied");
      expect(await ran).toMatchObject({ ran: false });
    });

    it("are revoked on the page, and then sign nothing", async () => {
      await using world = await openWorld();
      await using ada = await enrolled(world);
      await ada.tab.at("tab-passkeys").click();
      await ada.tab.at("revoke").click();
      await ada.tab.at("revoke-confirm").click();
      await ada.tab.at("fresh-passkey-confirm").click();
      // What it signed in to ends with it.
      await ada.tab.at("code").waitFor();
      expect((await world.passkeys.list())[0]?.revokedAtMs).toBeDefined();
      await ada.tab.signIn(world.inbox.signInCode("ada"));
      await ada.tab.at("tab-passkeys").click();
      await ada.tab.at("passkeys").locator("[data-revoked=true]").waitFor();
    });

    const cases: readonly {
      readonly name: string;
      readonly says: string;
      readonly spoil: (world: World, ada: Person) => Promise<void>;
      readonly mend?: (ada: Person) => Promise<void>;
    }[] = [
      {
        name: "of a passkey that is revoked while its owner is asked for it",
        says: REFUSED,
        spoil: ({ passkeys }, { tab }) =>
          tamper(tab.page, async (passkey) => {
            await passkeys.revoke((await passkeys.list())[0]?.id ?? "", "ada", Date.now());
            return passkey;
          }),
        mend: ({ tab }) => tab.addPasskey("another"),
      },
      {
        name: "of another person's passkey",
        says: REFUSED,
        spoil: async (world, { tab }) => {
          await using bob = await enrolled(world, "bob");
          const [credential] = await bob.tab.keys.credentials();
          const id =
            (await world.passkeys.list()).find(({ approver }) => approver === "bob")?.id ?? "";
          if (credential !== undefined) await tab.keys.add(credential);
          await tamper(tab.page, (passkey) => ({
            ...passkey,
            allowCredentials: [{ id, type: "public-key" }],
          }));
        },
      },
      {
        name: "without user verification",
        says: REFUSED,
        spoil: async (_, { tab }) => {
          await tab.keys.setVerified(false);
          await tamper(tab.page, (passkey) => ({ ...passkey, userVerification: "discouraged" }));
        },
        mend: ({ tab }) => tab.keys.setVerified(true),
      },
      {
        name: "that nobody was verified for, where the browser itself refuses",
        says: "The passkey was not used",
        spoil: (_, { tab }) => tab.keys.setVerified(false),
        mend: ({ tab }) => tab.keys.setVerified(true),
      },
      {
        name: "of another action's challenge",
        says: REFUSED,
        spoil: async ({ want }, { tab }) => {
          void want("send_mail", { to: "mallory@example.com", subject: "All files" });
          await tab.row("All files").waitFor({ state: "attached" });
          const challenge = await tab.page.evaluate(`fetch("/api/answers/prepare", {
          method: "POST",
          headers: { "content-type": "application/json", "x-acp-inbox": localStorage.getItem("acp-inbox-key") },
          body: JSON.stringify({
            request_id: [...document.querySelectorAll("[data-testid=question]")].find((row) => row.textContent.includes("All files")).dataset.id,
            decision: "approved",
          }),
        }).then(async (response) => (await response.json()).passkey.challenge)`);
          await tamper(tab.page, (passkey) => ({ ...passkey, challenge: String(challenge) }));
        },
      },
      {
        name: "that was given for an answer before",
        says: REFUSED,
        spoil: async (world, ada) => {
          const { page } = ada.tab;
          const sent = page.waitForRequest("**/api/answers");
          const before = wantMail(world, "First");
          await ada.tab.read("First");
          await ada.tab.approve();
          const { assertion } = (await sent).postDataJSON();
          await before;
          await ada.tab.read("Invoice");
          const replay = (route: Route): Promise<void> =>
            route.continue({
              postData: JSON.stringify({ ...route.request().postDataJSON(), assertion }),
            });
          await page.route("**/api/answers", replay, { times: 1 });
        },
      },
    ];
    it.each(cases)(
      "count nothing: an assertion $name; the question stays open",
      async ({ says, spoil, mend }) => {
        await using world = await openWorld();
        await using ada = await enrolled(world);
        const ran = wantMail(world);
        await ada.tab.read("Invoice");
        await spoil(world, ada);
        const before = world.performed.length;
        await ada.tab.approve();
        await ada.tab.sees("outcome", says);
        expect(world.performed).toHaveLength(before);
        await mend?.(ada);
        await ada.tab.page.goto("/");
        await ada.tab.read("Invoice");
        await ada.tab.approve();
        await ada.tab.sees("outcome", "Approved");
        expect(await ran).toMatchObject({ ran: true });
        expect(world.performed.at(-1)).toMatchObject({ subject: "Invoice" });
      },
    );
  },
);
