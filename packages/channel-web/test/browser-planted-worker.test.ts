/**
 * What somebody left in a browser who held the inbox's port before: a service worker at every name
 * that they could know.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryPasskeys } from "../src/index.js";
import { TEST_MS, chromiumNeed, launchChromium } from "./browser/chromium.js";
import { type Person, openPerson, signedIn } from "./browser/person.js";
import { RP_ID, type World, openWorld } from "./browser/world.js";

/**
 * A page that plants a worker, and the worker: it answers everything itself, for good, and keeps
 * its own script from being looked for.
 */
const PAGE = `<!doctype html><title>Approvals</title><h1>rogue</h1><script>navigator.serviceWorker.register("/rogue.js", { scope: "/" })</script>`;
const WORKER = `
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.respondWith(new Response("<!doctype html><h1>rogue worker</h1>", { headers: { "content-type": "text/html" } })));
`;

interface Rogue extends AsyncDisposable {
  readonly port: number;
}

/** Holds a port, and answers to every name. */
async function openRogue(port = 0): Promise<Rogue> {
  const server = createServer(({ url }, answer) => {
    const isWorker = url === "/rogue.js";
    answer
      .writeHead(200, { "content-type": isWorker ? "text/javascript" : "text/html" })
      .end(isWorker ? WORKER : PAGE);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const heading = (page: Page): Promise<string> => page.locator("h1").first().innerText();

/** Visits a name until the planted worker answers there. */
async function plant(context: BrowserContext, origin: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(origin);
  await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
  await page.reload();
  expect(await heading(page)).toBe("rogue worker");
  await page.close();
}

/**
 * Signs a challenge on a page of that name, with the tab's own authenticator, as a planted page
 * would have a person do it.
 */
async function signAt(
  { tab: { page } }: Person,
  origin: string,
  passkey: unknown,
): Promise<unknown> {
  // The planted worker answers with a page of its own: it may run what it likes.
  await page.goto(`${origin}/`);
  const script = `(async ({ challenge, allowCredentials, rpId }) => {
    const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const { id, response } = await navigator.credentials.get({
      publicKey: { challenge: bytes(challenge), rpId, userVerification: "required", allowCredentials: allowCredentials.map((each) => ({ ...each, id: bytes(each.id) })) },
    });
    const { clientDataJSON, authenticatorData, signature } = response;
    return { id, rawId: id, type: "public-key", clientExtensionResults: {},
      response: { clientDataJSON: text(clientDataJSON), authenticatorData: text(authenticatorData), signature: text(signature) } };
  })(${JSON.stringify(passkey)})`;
  return page.evaluate(script);
}

/** A request of the page that is open, with its session. */
const call = (
  page: Page,
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> =>
  page.evaluate(`fetch(${JSON.stringify(path)}, {
    method: "POST",
    headers: { "content-type": "application/json", "x-acp-inbox": localStorage.getItem("acp-inbox-key") },
    body: ${JSON.stringify(JSON.stringify(body))},
  }).then(async (response) => ({ status: response.status, body: await response.json() }))`);

describe.skipIf(!chromiumNeed.run)(
  `a worker that was planted while the inbox was down ${chromiumNeed.reason}`,
  { timeout: TEST_MS },
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    }, TEST_MS);
    afterAll(() => browser.close(), TEST_MS);

    /**
     * The names that somebody could know before the inbox starts: the old ones, that of the
     * passkeys, that of the inbox before.
     */
    const namesAt = (port: number, before: string): readonly string[] =>
      ["localhost", "127.0.0.1", RP_ID, before].map((name) => `http://${name}:${port}`);

    /**
     * A person with a passkey, whose inbox went away, and whose browser has a worker at every name
     * of the port; then the inbox is back.
     */
    async function plantedWorld(): Promise<{
      readonly ada: Person;
      readonly world: World;
      readonly names: readonly string[];
    }> {
      const passkeys = memoryPasskeys();
      const before = await openWorld({ passkeys });
      const ada = await signedIn(browser, before);
      await ada.tab.addPasskey("phone");
      const { port, hostname } = new URL(before.origin);
      await before[Symbol.asyncDispose]();
      const names = namesAt(Number(port), hostname);
      {
        await using _rogue = await openRogue(Number(port));
        for (const name of names) await plant(ada.context, name);
      }
      const world = await openWorld({ passkeys, port: Number(port) });
      return { ada, world, names };
    }

    it("is not at the name that is printed: sign-in and passkey go to the inbox, and no worker stands before it", async () => {
      const { ada, world } = await plantedWorld();
      await using _world = world;
      await using _ada = ada;
      const { page } = ada.tab;
      await page.goto(`${world.origin}/#code=${world.inbox.signInCode("ada")}`);
      await ada.tab.at("tab-questions").waitFor();
      expect(await page.evaluate("navigator.serviceWorker.controller === null")).toBe(true);
      expect(
        await page.evaluate(
          "navigator.serviceWorker.getRegistrations().then(({ length }) => length)",
        ),
      ).toBe(0);
      const ran = world.want("send_mail", { to: "grace@example.com", subject: "Invoice" });
      await ada.tab.read("Invoice");
      await ada.tab.approve();
      await ada.tab.sees("outcome", "Approved");
      expect(await ran).toMatchObject({ ran: true, verdict: { approvers: ["ada"] } });
      expect(world.lastRecord().response["proof"]).toMatchObject({ algorithm: "WebAuthn" });
    });

    it("has no question signed: what is signed at its names counts nowhere, even for the very answer", async () => {
      const { ada, world, names } = await plantedWorld();
      await using _world = world;
      await using _ada = ada;
      const { page } = ada.tab;
      void world.want("send_mail", { to: "mallory@example.com", subject: "All files" });
      await page.goto(`${world.origin}/#code=${world.inbox.signInCode("ada")}`);
      await ada.tab.row("All files").waitFor({ state: "attached" });
      const requestId = await ada.tab.row("All files").getAttribute("data-id");
      // Of the names that it holds these two may ask for the passkey: the passkeys' own, and that
      // of the inbox before.
      for (const name of names.slice(2)) {
        await page.goto(`${world.origin}/`);
        await ada.tab.row("All files").waitFor({ state: "attached" });
        const prepared = await call(page, "/api/answers/prepare", {
          request_id: requestId,
          decision: "approved",
        });
        const assertion = await signAt(ada, name, prepared.body["passkey"]);
        await page.goto(`${world.origin}/`);
        await ada.tab.row("All files").waitFor({ state: "attached" });
        const refused = await call(page, "/api/answers", {
          ticket: prepared.body["ticket"],
          assertion,
        });
        expect([name, refused.status, refused.body["code"]]).toEqual([
          name,
          403,
          "passkey_refused",
        ]);
      }
      expect(world.performed).toEqual([]);
    });

    it("is ended by the inbox at the names that it holds, where there is no inbox and nothing that leads to it", async () => {
      const { ada, world, names } = await plantedWorld();
      await using _world = world;
      await using _ada = ada;
      for (const name of names) {
        const page = await ada.context.newPage();
        await page.goto(name);
        // Soon after a visit the browser looks for the worker's script anew; what it gets then ends
        // the worker and loads the page anew.
        await page.getByRole("heading", { name: "The inbox is not at this address" }).waitFor();
        expect(
          await page.evaluate(
            "navigator.serviceWorker.getRegistrations().then(({ length }) => length)",
          ),
        ).toBe(0);
        expect(await page.content()).not.toContain(new URL(world.origin).hostname);
        await page.close();
      }
    });

    it("gets nothing for a code: it is one process's, and nobody is heard who does not know its name", async () => {
      await using world = await openWorld();
      const { port } = new URL(world.origin);
      const code = world.inbox.signInCode("ada");
      for (const name of ["localhost", "127.0.0.1", RP_ID, `other.${RP_ID}`]) {
        const origin = `http://${name}:${port}`;
        const headers = {
          origin,
          "content-type": "application/json",
          "x-acp-inbox": "1",
          host: `${name}:${port}`,
        };
        const answer = await world.inbox.handler(
          new Request(`${origin}/api/session`, {
            method: "POST",
            headers,
            body: JSON.stringify({ code }),
          }),
        );
        expect([name, answer.status]).toEqual([name, 421]);
      }
      await using next = await openWorld({ passkeys: world.passkeys });
      await using ada = await openPerson(browser, next, { path: `/#code=${code}` });
      await ada.tab.sees("sign-in-problem", "wrong, used or too old");
      await using bob = await openPerson(browser, world, { path: `/#code=${code}` });
      await bob.tab.at("tab-questions").waitFor();
    });

    it("signs nobody out with cookies of its own", async () => {
      await using world = await openWorld();
      await using ada = await signedIn(browser, world);
      const page = await ada.context.newPage();
      await using rogue = await openRogue();
      for (const name of ["localhost", RP_ID]) {
        await page.goto(`http://${name}:${rogue.port}/`);
        await page.evaluate(`for (let at = 0; at < 40; at += 1)
        for (const domain of ["", "; domain=${RP_ID}"]) document.cookie = "acp_inbox" + (at || "") + "=planted" + at + "; path=/" + domain`);
      }
      await ada.tab.page.reload();
      await ada.tab.sees("empty", "Nothing to answer");
    });
  },
);
