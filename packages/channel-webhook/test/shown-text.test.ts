/**
 * What the pages behind links show of the text of others: judged by the oracle of @acp/testing. The
 * text is not escaped before, as core's is.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { hidingCharactersIn, sampleRequest } from "@acp/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noticePage, questionPage } from "../src/link-page.js";

const vectors = resolve(
  fileURLToPath(new URL("../../..", import.meta.url)),
  process.env["ACP_VECTORS"] ?? "../shared/vectors",
  "text",
);
const noVectors = existsSync(vectors) ? "" : ", skipped: no vectors";

/** Every text of another that a page can hold. */
async function pagesWith(text: string): Promise<string> {
  const offer = {
    id: text.slice(0, 64),
    scope: { kind: "tool", server: text, name: text },
    ttlMs: 60_000,
  } as const;
  const request = sampleRequest({ text, offers: [offer] });
  const page = questionPage({
    request,
    subject: text,
    formKey: "key",
    problem: { status: 409, text },
  });
  return (await page.text()) + (await noticePage(410, text, text).text());
}

function stringsOf(file: string): readonly string[] {
  const found: unknown = JSON.parse(readFileSync(resolve(vectors, file), "utf8"));
  const list: readonly unknown[] = Array.isArray(found) ? found : Object.keys(Object(found));
  return list.filter((each) => typeof each === "string");
}

describe("pages show no character that hides, and no markup of others", () => {
  it.runIf(noVectors === "").each([
    ["blns.json", 515, 1],
    // Single characters: several on one page, and none of them where a page cuts.
    ["unicode_confusables.json", 6_294, 30],
  ])(`of %s${noVectors}`, async (file, count, perPage) => {
    const all = stringsOf(file);
    const texts = all.flatMap((_, at) =>
      at % perPage === 0 ? [all.slice(at, at + perPage).join("")] : [],
    );
    const tags = (html: string): number => html.match(/<[a-z!/]/gi)?.length ?? 0;
    const plain = tags(await pagesWith("plain"));
    for (const text of texts) {
      const html = await pagesWith(text);
      expect(hidingCharactersIn(html)).toEqual([]);
      expect(tags(html)).toBe(plain);
    }
    expect(all).toHaveLength(count);
  });

  it("of any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 60 }), async (text) => {
        expect(hidingCharactersIn(await pagesWith(text))).toEqual([]);
      }),
    );
  });
});
