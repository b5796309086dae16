/**
 * Path guard: keeps tool calls away from ACP's own files and asks about places where credentials
 * are kept, whatever the argument is called. No rule lifts it and no grant answers it. A text
 * counts as a path where all of it is one; prose that mentions one is noted in the question
 * (mentions.ts). Until policies know the roles of arguments:
 * docs/adr/0105-a-guard-until-arguments-have-roles.md. Pure: who makes it says how links are
 * resolved.
 */
import { isToolAction } from "../action/action.js";
import { quoteText } from "@acp/exec-safety/text";
import type { Layer, Ruling } from "../layers.js";
import { createPlaceJudge, strictest } from "./place.js";
import { readingsOf } from "./readings.js";
import type { PathGuardOptions, PlaceKind } from "./place.js";
import { joinedTexts, parsed, textsOf } from "./texts.js";
import type { PlacedText } from "./texts.js";

interface Finding {
  readonly kind: PlaceKind;
  readonly at: string;
  readonly text: string;
}

/** Names of tools that tell names and sizes, and no contents; what lies in a root is judged when it is read. */
const TELLS_NAMES =
  /^(?:mcp:roots\/list|list|ls|stat|tree|directory_?tree|get_?file_?info|file_?info|exists)(?![a-z])/i;
const WHY: Readonly<Record<PlaceKind, string>> = {
  closed: "ACP keeps its keys, its policy or its log there, and no tool may touch them",
  credentials: "credentials are usually kept there",
  around:
    "it contains ACP's keys or places where credentials are kept; whoever reads, copies or deletes all of it reaches them",
};

function rule({ kind, at, text }: Finding): Ruling {
  const where = `${at === "" ? "an argument" : quoteText(at)} names ${quoteText(text.slice(0, 200))}: ${WHY[kind]}`;
  if (kind === "closed") return { effect: "deny", ruleId: "guard:acp-home", reason: where };
  // No offers: each such call is asked about.
  return {
    effect: "ask",
    ruleId: `guard:${kind}`,
    reason: where,
    level: "high",
    ask: { offers: [] },
  };
}

/**
 * Readings of one call that are looked at, and parts of paths in them: each takes a look at the
 * disk.
 */
const READINGS_MAX = 3_000;
const PARTS_MAX = 20_000;

/** What stands in the texts, the strictest first; more than can be looked at is a question too. */
function lookAt(
  texts: readonly PlacedText[],
  judge: (reading: string) => PlaceKind | undefined,
): Finding | "too many" | undefined {
  const findings: Finding[] = [];
  const left = { readings: READINGS_MAX, parts: PARTS_MAX };
  let isCut = false;
  for (const { at, text } of texts) {
    const found = readingsOf(text);
    // What a text says that is JSON itself stands among the texts.
    isCut ||= found.isCut && parsed(text) === undefined;
    for (const reading of found.readings) {
      left.readings -= 1;
      left.parts -= reading.split("/").length;
      if (left.readings < 0 || left.parts < 0) break;
      const kind = judge(reading);
      if (kind !== undefined) findings.push({ kind, at, text });
    }
    if (left.readings < 0 || left.parts < 0) break;
  }
  isCut ||= left.readings < 0 || left.parts < 0;
  const worst = strictest(findings.map(({ kind }) => kind));
  return findings.find(({ kind }) => kind === worst) ?? (isCut ? "too many" : undefined);
}

/**
 * Makes a layer that denies tool calls whose arguments name ACP's own files, and asks about those
 * that name a place where credentials are kept, or a directory that contains one, whatever a rule
 * allows. It reads every text of the arguments, and asks where there are too many to read.
 */
export function createPathGuard(options: PathGuardOptions): Layer {
  const judgePlace = createPlaceJudge(options);
  return {
    name: "guard",
    judge(action) {
      if (!isToolAction(action)) return undefined;
      const { texts, isCut } = textsOf(action.args);
      const starts = options.startsOf(action.meta.server);
      const tellsNames = TELLS_NAMES.test(action.name);
      const found = lookAt([...texts, ...joinedTexts(texts)], (reading) => {
        const kind = judgePlace(reading, starts);
        return kind === "around" && tellsNames ? undefined : kind;
      });
      if (found !== undefined && found !== "too many") return rule(found);
      const reason = "the call has too many texts to look at them all";
      return isCut || found !== undefined
        ? { effect: "ask", ruleId: "guard:size", reason, ask: { offers: [] } }
        : undefined;
    },
  };
}
