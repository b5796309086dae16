/** An inbox on a clock in the test's hands, and pages of people who are signed in. */
import {
  type AskDouble,
  type ManualClock,
  askDouble,
  manualClock,
  sampleRequest,
} from "@acp/testing";
import type { ConsentRequest } from "@acp/core";
import { createInboxWith } from "../src/inbox.js";
import { memoryPasskeys } from "../src/memory-passkeys.js";
import type { Inbox, InboxOptions } from "../src/inbox-options.js";
import type { PasskeyCeremony } from "../src/passkey.js";
import { namedKeys } from "./keys.js";
import { ORIGIN, type Page, openPage } from "./page.js";

export interface Setup {
  readonly inbox: Inbox;
  readonly clock: ManualClock;
  readonly warnings: string[];
  /** A page on which this person is signed in with a code. */
  signedIn(approver?: string): Promise<Page>;
  /** A question that stands in the inbox. */
  ask(overrides?: Partial<ConsentRequest>): Promise<AskDouble>;
}

export function setUp(
  options: Partial<InboxOptions> = {},
  makeCeremony: () => PasskeyCeremony = namedKeys,
): Setup {
  const clock = manualClock();
  const warnings: string[] = [];
  const inbox = createInboxWith(
    {
      origin: ORIGIN,
      people: [{ approver: "ada" }, { approver: "bob" }],
      passkeys: memoryPasskeys(),
      clock,
      warn: (text) => void warnings.push(text),
      ...options,
    },
    makeCeremony,
  );
  const channel = inbox.channel();
  return {
    inbox,
    clock,
    warnings,
    async signedIn(approver = "ada") {
      const page = openPage(inbox.handler);
      await page.signIn("/api/session", { code: inbox.signInCode(approver) });
      return page;
    },
    async ask(overrides = {}) {
      const ask = askDouble(sampleRequest({ createdAtMs: clock.now(), ...overrides }));
      await channel.deliver(ask.request, ask.session);
      return ask;
    },
  };
}

/** Overrides that make a question one of this level. */
export const ofLevel = (
  requiredLevel: "low" | "medium" | "high" | "critical",
): Partial<ConsentRequest> => ({
  policy: { ruleId: "rule_1", ruleName: "", requiredLevel },
});

/** Lets everything run that is ready. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve));
}
