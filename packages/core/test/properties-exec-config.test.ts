import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isConsentError } from "../src/index.js";
import { parseAllowlist } from "../src/exec/allowlist.js";
import { parseExecApprovalConfig } from "../src/exec/config.js";
import { execEffect, fallbackEffect, requiresApproval } from "../src/exec/requires-approval.js";
import type { CommandRisk, CommandSafety } from "@acp/exec-safety";

const word = fc.stringMatching(/^[a-z][a-z0-9./:=@-]{0,6}$/).filter((text) => !text.includes("="));
const anything = fc.string({ unit: "grapheme", maxLength: 8 });
const matches = (pattern: string, argv: readonly string[]): boolean =>
  parseAllowlist([{ pattern }]).find(argv) === pattern;

/** The format's words, one argument at a time, by trying every split: slow and plain. */
function slowly(pattern: readonly string[], text: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return text.length === 0;
  if (first === "*") return text.some((_, at) => slowly(rest, text.slice(at))) || slowly(rest, []);
  const [character, ...more] = text;
  return character !== undefined && (first === "?" || first === character) && slowly(rest, more);
}

describe("patterns of an allowlist", () => {
  it("plain words match themselves, with ** whatever follows, and nothing shorter", () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 5 }),
        fc.array(anything, { minLength: 1, maxLength: 4 }),
        (argv, more) => {
          const pattern = argv.join(" ");
          expect(matches(pattern, argv)).toBe(true);
          expect(matches(pattern, [...argv, ...more])).toBe(false);
          expect(matches(`${pattern} **`, argv)).toBe(true);
          expect(matches(`${pattern} **`, [...argv, ...more])).toBe(true);
          expect(matches(`${pattern} **`, argv.slice(0, -1))).toBe(false);
        },
      ),
    );
  });

  it("an argument is never more than one argument, whatever it holds", () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 3, maxLength: 5 }),
        fc.integer({ min: 1, max: 3 }),
        (argv, at) => {
          const joined = [...argv.slice(0, at), argv.slice(at).join(" ")];
          expect(matches(argv.join(" "), joined)).toBe(joined.length === argv.length);
          expect(
            matches(
              `${argv[0]} ${Array(argv.length - 1)
                .fill("*")
                .join(" ")}`,
              joined,
            ),
          ).toBe(joined.length === argv.length);
        },
      ),
    );
  });

  it("a word with wildcards matches what the plain definition says", () => {
    const symbols = fc.array(fc.constantFrom("*", "?", "a", "b"), { minLength: 1, maxLength: 6 });
    const text = fc.array(fc.constantFrom("a", "b", " ", "*", "\n", "é"), { maxLength: 8 });
    fc.assert(
      fc.property(symbols, text, (symbol, characters) => {
        // A word of ** alone is not a word but the rest.
        fc.pre(symbol.join("") !== "**");
        expect(matches(`x ${symbol.join("")}`, ["x", characters.join("")])).toBe(
          slowly(symbol, characters),
        );
      }),
    );
  });
});

const safetyOf = (riskLevel: CommandRisk): CommandSafety => ({
  riskLevel,
  reasons: [],
  commands: [{ span: { start: 0, end: 1 }, program: "x", args: [], allowedBy: "x **" }],
  layers: ["allowlist"],
});

describe("configurations", () => {
  const config = fc.record(
    {
      security: fc.constantFrom("deny", "allowlist", "full"),
      ask: fc.constantFrom("off", "on-miss", "always"),
      timeoutMs: fc.integer({ min: 1, max: 604_800_000 }),
      askFallback: fc.constantFrom("deny", "allowlist", "full"),
      allowlist: fc.array(fc.record({ pattern: word }), { maxLength: 3 }),
      dangerouslyAllowOnTimeout: fc.boolean(),
      trials: fc.boolean(),
    },
    { requiredKeys: [] },
  );

  it("anything at all either loads or is config_invalid", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          config,
          fc.dictionary(fc.constantFrom("security", "ask", "allowlist", "x"), fc.anything()),
        ),
        (value) => {
          try {
            parseExecApprovalConfig(value);
          } catch (error) {
            expect(isConsentError(error, "config_invalid")).toBe(true);
          }
        },
      ),
    );
  });

  it("silence never allows more than the operator said, and nothing dangerous", () => {
    fc.assert(
      fc.property(config, (value) => {
        const isOpen = value.askFallback === "full";
        fc.pre(!isOpen || value.dangerouslyAllowOnTimeout === true);
        const parsed = parseExecApprovalConfig(value);
        expect(fallbackEffect(parsed, safetyOf("dangerous"))).toBe("deny");
        if (!isOpen) expect(fallbackEffect(parsed, safetyOf("needs-review"))).toBe("deny");
        if (value.askFallback === undefined || value.askFallback === "deny")
          expect(fallbackEffect(parsed, safetyOf("safe"))).toBe("deny");
        if (parsed.security === "deny")
          expect(fallbackEffect(parsed, safetyOf("safe"))).toBe("deny");
      }),
    );
  });

  it("a riskier command never gets a milder effect, and requiresApproval() is the ask", () => {
    const rank = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(config, (value) => {
        fc.pre(value.askFallback !== "full" || value.dangerouslyAllowOnTimeout === true);
        const parsed = parseExecApprovalConfig(value);
        const effects = (["safe", "needs-review", "dangerous"] as const).map((risk) =>
          execEffect(parsed, safetyOf(risk)),
        );
        const ranks = effects.map((effect) => rank[effect]);
        expect(ranks).toEqual([...ranks].sort((one, other) => one - other));
        expect(requiresApproval(parsed, safetyOf("safe"))).toBe(effects[0] === "ask");
      }),
    );
  });
});
