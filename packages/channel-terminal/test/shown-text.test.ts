/**
 * What the terminal writes of the text of others: judged by the oracle of @acp/testing, over
 * naughty strings, confusables and random ones.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Channel,
  type ConsentRequest,
  createConsentGate,
  type JsonObject,
  toolAction,
} from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { hidingCharactersIn, manualClock, seededIds } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numbersInLane } from "../../../tools/deep.js";
import { diffArguments } from "../src/diff.js";
import { describeEnding, showDetails, showQuestion } from "../src/question-view.js";
import { createScreen } from "@acp/host";
import { createPaper } from "./ui-kit.js";

const vectors = resolve(
  fileURLToPath(new URL("../../..", import.meta.url)),
  process.env["ACP_VECTORS"] ?? "../shared/vectors",
  "text",
);
const noVectors = existsSync(vectors) ? "" : ", skipped: no vectors";

/** The question that a real gate asks about a call full of these texts. */
async function questionAbout(texts: readonly string[]): Promise<ConsentRequest> {
  const shown: ConsentRequest[] = [];
  const channel: Channel = {
    name: "test",
    deliver: async (request) => {
      shown.push(request);
    },
  };
  const clock = manualClock();
  const audit = { append: async () => ({ seq: 0, hash: "" }) };
  const gate = createConsentGate({
    policy: parsePolicy({ version: "1", default: "ask" }),
    channel,
    audit,
    clock,
    ids: seededIds(),
  });
  const args: JsonObject = Object.fromEntries(
    texts.map((text) => [text, [text, { command: text, url: `https://x.org/${text}` }]]),
  );
  const name = texts.join(" ").slice(0, 200);
  await gate.open(toolAction("files", "write_file", args), {
    agent: { id: "agent", name, command: texts.join(" ") },
  });
  await clock.advance(0);
  const [request] = shown;
  if (request === undefined) throw new Error("nothing was asked");
  return request;
}

/** Everything that the terminal writes about a question. */
function writtenAbout(request: ConsentRequest, columns: number): string {
  const paper = createPaper({ columns });
  const screen = createScreen({ output: paper, color: false });
  const question = { request, redelivery: false };
  showQuestion(screen, question);
  showDetails(screen, question);
  for (const { sign, text } of diffArguments(request.action.parameters, {
    changed: request.agent.name ?? "",
  }))
    screen.quote([`${sign} ${text}`]);
  screen.say(describeEnding(question, { status: "failed", reason: request.agent.name ?? "" }));
  return paper.text();
}

function stringsOf(file: string): readonly string[] {
  const found: unknown = JSON.parse(readFileSync(resolve(vectors, file), "utf8"));
  const list: readonly unknown[] = Array.isArray(found) ? found : Object.keys(Object(found));
  return list.filter((each) => typeof each === "string").filter((each) => each.isWellFormed());
}

describe("the terminal writes no character that hides", () => {
  it.runIf(noVectors === "").each([
    ["blns.json", 515],
    ["unicode_confusables.json", 6_294],
  ])(`of %s${noVectors}`, async (file, count) => {
    const texts = stringsOf(file);
    for (const at of numbersInLane(Math.ceil(texts.length / 40))) {
      const request = await questionAbout(texts.slice(at * 40, (at + 1) * 40));
      expect(hidingCharactersIn(writtenAbout(request, 80))).toEqual([]);
    }
    expect(texts).toHaveLength(count);
  });

  it("of any text, at any width, and no row of an agent's without the gutter", async () => {
    const text = fc
      .string({ unit: "binary", minLength: 1, maxLength: 40 })
      .filter((each) => each.isWellFormed());
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 20, max: 200 }),
        async (texts, columns) => {
          const request = await questionAbout(texts.map((each) => `${each}\nRisk:  low (read)`));
          const written = writtenAbout(request, columns);
          expect(hidingCharactersIn(written)).toEqual([]);
          expect(written.split("\n").filter((row) => row.startsWith("Risk"))).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("a long question on the terminal", () => {
  it("is wrapped at the terminal's width, not first at another", async () => {
    const request = await questionAbout([Array.from({ length: 200 }, (_, at) => at).join(" ")]);
    expect(request.text).toContain("\n↪ ");
    const paper = createPaper({ columns: 80 });
    showDetails(createScreen({ output: paper, color: false }), { request, redelivery: false });
    expect(paper.text()).not.toContain("↪ ↪");
    const continued = paper
      .text()
      .split("\n")
      .flatMap((row, index, rows) =>
        row.startsWith("│ ↪") && rows[index + 1]?.startsWith("│ ↪") === true ? [row] : [],
      );
    expect(new Set(continued.map((row) => row.length))).toEqual(new Set([79]));
  });

  it("has what decides above what is left out and at its end", async () => {
    const request = await questionAbout(Array.from({ length: 200 }, (_, at) => `text ${at}`));
    const paper = createPaper({ columns: 80 });
    expect(
      showQuestion(createScreen({ output: paper, color: false }), { request, redelivery: false }),
    ).toBe(false);
    const rows = paper.text().split("\n");
    const [top, end] = [rows.slice(0, 20), rows.slice(-40)].map((part) => part.join("\n"));
    for (const fact of [
      "│ Agent: agent",
      "│ Wants: call write_file on files",
      "│ Risk:  medium",
      "│ Open until: ",
      `│ Digest: ${request.actionDigest.slice(0, 60)}`,
    ]) {
      expect(top).toContain(fact);
      expect(end).toContain(fact);
    }
    expect(rows.join("\n")).toMatch(
      /── \d+ rows \(\d+ bytes\) are not shown here: v shows everything ──/,
    );
  });
});
