/** The naughty strings and Unicode's confusables, through the renderer. */
import { hidingCharactersIn } from "@acp/testing";
import { expect, it } from "vitest";
import { isDeep, someInLane } from "../../../tools/deep.js";
import { viewHost } from "../src/approval/decode/script.js";
import { renderText } from "../src/approval/text.js";
import {
  canonicalJson,
  type JsonObject,
  normalizeHost,
  parametersOf,
  shellAction,
  toolAction,
  type Action,
} from "../src/index.js";
import { argumentsOf } from "./text-reader.js";
import { partsOf } from "./text-parts.js";
import { describeVectors, tally, vectorJson } from "./vectors.js";

function stringsOf(path: string): readonly string[] {
  const found = vectorJson(path);
  const list: readonly unknown[] = Array.isArray(found) ? found : Object.keys(Object(found));
  return list.filter((each) => typeof each === "string");
}

/** Renders, and says what is wrong with it. */
function faultOf(action: Action): string | undefined {
  const shown = renderText(partsOf(action), "why");
  const hiding = hidingCharactersIn(shown);
  if (hiding.length > 0) return `shows ${hiding.map(({ codePoint }) => codePoint).join(" ")}`;
  const rows = shown.split("\n").filter((line) => /^(?:Risk|Digest):/.test(line)).length;
  if (rows !== (shown.includes("\nAgain, what is asked:\n") ? 4 : 2)) return "has a forged line";
  return canonicalJson(argumentsOf(shown)) === canonicalJson(parametersOf(action).parameters)
    ? undefined
    : "cannot be read back";
}

/** A text in every place that an agent fills. */
function actionsWith(text: string): readonly Action[] {
  const args: JsonObject = {
    [text]: text,
    list: [text, { command: text, url: `https://x.org/${text}` }],
    json: JSON.stringify({ [text]: text }),
  };
  const plainName = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, 200);
  return [
    toolAction("files", "write", args),
    ...(plainName === "" ? [] : [toolAction(plainName, plainName, {})]),
    ...(text.trim() === "" || text.includes("\u0000") ? [] : [shellAction(text)]),
  ];
}

describeVectors("text", "text", () => {
  it.each(["text/blns.json", "text/unicode_confusables.json"])(
    "renders %s with nothing hidden, forged or lost",
    (path) => {
      const counted = tally();
      const texts = path.includes("blns") ? stringsOf(path) : someInLane(stringsOf(path));
      for (const text of texts) {
        if (!text.isWellFormed()) counted.exclude("an unpaired surrogate: no action holds one");
        else {
          const fault = actionsWith(text)
            .map(faultOf)
            .find((each) => each !== undefined);
          if (fault === undefined) counted.pass();
          else counted.fail(`${JSON.stringify(text)} ${fault}`);
        }
      }
      const { failed, passed, excluded } = counted.end(path);
      expect(failed).toEqual([]);
      expect(excluded).toEqual({});
      expect(passed).toBe(path.includes("blns") ? 515 : isDeep ? 6_294 : 630);
    },
  );

  it("knows the confusables that can stand in a host name", () => {
    const counted = tally();
    for (const [letter, ascii] of Object.entries(
      vectorJson("text/unicode_confusables.json") as Readonly<Record<string, string>>,
    )) {
      const like = ascii.toLowerCase();
      if ([...letter].length !== 1 || letter <= "\u007f" || !/^[a-z0-9-]+$/.test(like)) {
        counted.exclude("not one character that looks like ASCII letters, digits or a hyphen");
        continue;
      }
      let host: string;
      try {
        host = normalizeHost(`${letter}${letter}.com`);
      } catch {
        counted.exclude("no host has it");
        continue;
      }
      const view = viewHost(host);
      const looks = `"${letter}${letter}" looks like "${like}${like}"`;
      if (view?.shown !== `${letter}${letter}.com`)
        counted.exclude("a host spells it with other letters, which are judged in its place");
      else if (view.flags.includes(looks)) counted.pass();
      else if (letter === "\u04cf")
        counted.exclude(
          "U+04CF: Unicode says i; it stands for l where it was used to imitate apple.com",
        );
      else if (view.flags.length > 0) counted.fail(`${letter}: ${view.flags.join()}`);
      else if (like.length > 1) counted.exclude("looks like two letters: not in the small table");
      else if (!/^\p{L}$/u.test(letter))
        counted.exclude("a digit, mark or symbol: not in the small table");
      else
        counted.exclude(
          letter.length > 1
            ? "a letter of an ancient script, beyond U+FFFF"
            : `a letter not in the small table`,
        );
    }
    const { failed, passed, excluded } = counted.end("confusables in hosts");
    expect(failed).toEqual([]);
    expect(passed).toBe(117);
    expect(Object.values(excluded).reduce((sum, each) => sum + each, passed)).toBe(6_294);
  });
});
