/**
 * A person at the page: a profile, a tab with passkeys, and what they do there as they do it, by
 * what stands on the screen.
 */
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Locator,
  Page,
} from "playwright-core";
import { type Authenticator, addAuthenticator } from "./authenticator.js";
import { PATIENCE_MS } from "./chromium.js";
import type { World } from "./world.js";

/** One tab. */
export interface Tab {
  readonly page: Page;
  readonly keys: Authenticator;
  /**
   * What the browser complained of: scripts that failed, content that the policy of the page
   * forbids.
   */
  readonly complaints: readonly string[];
  at(testId: string): Locator;
  /** The row of the question whose arguments say this. */
  row(text: string): Locator;
  /** Opens that question. */
  read(text: string): Promise<void>;
  /** Reads to the end and says yes, as soon as the page lets them. */
  approve(): Promise<void>;
  deny(reason: string): Promise<void>;
  /** Waits until an element has this text. */
  sees(testId: string, text: string | RegExp): Promise<void>;
  signIn(code: string): Promise<void>;
  /** Makes a passkey on the page's own screen for them. */
  addPasskey(label: string): Promise<void>;
}

/** Somebody with a browser of their own. */
export interface Person extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly tab: Tab;
  /** Addresses of all that the browser asked for. */
  readonly asked: readonly string[];
  openTab(): Promise<Tab>;
}

function tabOf(page: Page, keys: Authenticator): Tab {
  const complaints: string[] = [];
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("console", (message) => {
    if (/content security policy|trusted/i.test(message.text())) complaints.push(message.text());
  });
  const at = (testId: string): Locator => page.getByTestId(testId);
  const row = (text: string): Locator => at("question").filter({ hasText: text });
  return {
    page,
    keys,
    complaints,
    at,
    row,
    async read(text) {
      const id = (await row(text).getAttribute("data-id")) ?? "";
      await row(text).getByRole("link").click();
      // The view of the question before may still stand there.
      await page
        .locator(`[data-testid="question-view"][data-id="${id}"]`)
        .getByTestId("text")
        .waitFor();
    },
    async approve() {
      await readToEnd(at);
      await at("approve").click();
    },
    async deny(reason) {
      await at("deny").click();
      await at("deny-text").fill(reason);
      await at("deny-confirm").click();
    },
    sees: (testId, text) => at(testId).filter({ hasText: text }).first().waitFor(),
    async signIn(code) {
      await at("code").fill(code);
      await at("sign-in").click();
      await at("tab-questions").waitFor();
    },
    async addPasskey(label) {
      await at("tab-passkeys").click();
      await at("add-passkey").click();
      await at("label-text").fill(label);
      await at("label-confirm").click();
      await at("passkey").filter({ hasText: label }).waitFor();
      await at("tab-questions").click();
    },
  };
}

/** Scrolls until the end of the question was in view: the page takes no yes before. */
export async function readToEnd(at: Tab["at"]): Promise<void> {
  // The page draws a question anew when something about it changes, also just now.
  const isDrawnAnew = (error: unknown): boolean =>
    error instanceof Error && error.message.includes("not attached");
  for (let tries = 0; ; tries += 1) {
    try {
      await at("end-of-text").scrollIntoViewIfNeeded();
      break;
    } catch (error) {
      if (!isDrawnAnew(error) || tries === 20) throw error;
    }
  }
  await at("read-on").waitFor({ state: "hidden" });
}

/** What somebody looks at, and by which address they come. */
export interface Arrival extends BrowserContextOptions {
  readonly path?: string;
}

/** Somebody who opens the page. */
export async function openPerson(
  browser: Browser,
  { origin }: World,
  { path = "/", ...look }: Arrival = {},
): Promise<Person> {
  const context = await browser.newContext({
    baseURL: origin,
    locale: "en-GB",
    timezoneId: "UTC",
    reducedMotion: "reduce",
    ...look,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const asked: string[] = [];
  context.on("request", (request) => void asked.push(request.url()));
  const openTab = async (): Promise<Tab> => {
    const page = await context.newPage();
    const tab = tabOf(page, await addAuthenticator(page));
    await page.goto(path);
    return tab;
  };
  return {
    context,
    asked,
    openTab,
    tab: await openTab(),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Somebody who is signed in by a code. */
export async function signedIn(
  browser: Browser,
  world: World,
  approver = "ada",
  look: Arrival = {},
): Promise<Person> {
  const person = await openPerson(browser, world, look);
  await person.tab.signIn(world.inbox.signInCode(approver));
  return person;
}
