/**
 * What each configuration does with each kind of command, through the hub as it ships: every
 * combination, each cell written down.
 */
import { describe, expect, it } from "vitest";
import { AGENT, codeOf, DANGEROUS, openDesk, REVIEWED } from "./desk.js";

/** One command of each kind; `listed` needs review but for its entry. */
const COMMANDS = {
  safe: "ls",
  listed: "mkdir made",
  review: REVIEWED,
  dangerous: DANGEROUS,
} as const;
type Kind = keyof typeof COMMANDS;
const KINDS = ["safe", "listed", "review", "dangerous"] as const satisfies readonly Kind[];
const ALLOWLIST = [{ pattern: "mkdir **" }, { pattern: "rm **" }];

/** What a configuration says while a person can be asked: safe, listed, needs-review, dangerous. */
const ASKED = [
  ["deny", "off", ["deny", "deny", "deny", "deny"]],
  ["deny", "on-miss", ["deny", "deny", "deny", "deny"]],
  ["deny", "always", ["deny", "deny", "deny", "deny"]],
  ["allowlist", "off", ["allow", "allow", "deny", "deny"]],
  ["allowlist", "on-miss", ["allow", "allow", "ask", "ask"]],
  ["allowlist", "always", ["ask", "ask", "ask", "ask"]],
  ["full", "off", ["allow", "allow", "allow", "allow"]],
  ["full", "on-miss", ["allow", "allow", "allow", "allow"]],
  ["full", "always", ["ask", "ask", "ask", "ask"]],
] as const;

/** What silence means, once a question was asked: of the same four. */
const SILENCE = [
  ["deny", ["deny", "deny", "deny", "deny"]],
  ["allowlist", ["deny", "allow", "deny", "deny"]],
  ["full", ["allow", "allow", "allow", "deny"]],
] as const;

describe.each(ASKED)("security %s, ask %s", (security, ask, whileAsked) => {
  it.each(SILENCE)("and askFallback %s", async (askFallback, afterSilence) => {
    const found: Partial<Record<Kind, readonly [asked: boolean, end: string]>> = {};
    const wanted: typeof found = {};
    for (const [at, kind] of KINDS.entries()) {
      const written = {
        security,
        ask,
        askFallback,
        allowlist: ALLOWLIST,
        dangerouslyAllowOnTimeout: askFallback === "full",
      };
      const desk = await openDesk({ written });
      const verdict = desk.hub.onApprovalNeeded(COMMANDS[kind], AGENT);
      const isAsked = whileAsked[at] === "ask";
      if (isAsked) {
        await desk.request();
        await desk.clock.advance(60_000);
      }
      found[kind] = [desk.sent.length > 0, codeOf(await verdict)];
      const denied = isAsked ? "consent_expired" : "policy_denied";
      wanted[kind] = [
        isAsked,
        (isAsked ? afterSilence[at] : whileAsked[at]) === "allow" ? "allow" : denied,
      ];
    }
    expect(found).toEqual(wanted);
  });
});
