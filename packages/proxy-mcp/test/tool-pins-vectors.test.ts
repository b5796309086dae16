import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createLoopTurns } from "../src/loop-turns.js";
import { createPresented } from "../src/pins/presented.js";
import { readTools } from "../src/pins/read-tools.js";
import type { PresentedText } from "../src/pins/tool-pins.js";

interface Case {
  readonly name: string;
  readonly definition: string;
  readonly want: string | { readonly problem: string };
}

interface ListCase {
  readonly name: string;
  readonly method: string;
  readonly item: string;
  readonly want: Pick<PresentedText, "kind" | "name" | "pin"> | null;
}

const { cases, lists }: { readonly cases: readonly Case[]; readonly lists: readonly ListCase[] } =
  JSON.parse(
    readFileSync(new URL("../../../spec/vectors/tool-pins.json", import.meta.url), "utf8"),
  );

describe("spec/vectors/tool-pins.json", () => {
  it.each(cases)("readTools() of $name", ({ definition, want }) => {
    const line = Buffer.from(`{"id":1,"result":{"tools":[${definition}]}}`);
    const [tool] = readTools(line, true)?.tools ?? [];
    expect(tool?.problem === undefined ? tool?.pinned?.pin : { problem: tool.problem }).toEqual(
      want,
    );
  });

  it.each(lists)("createPresented() of $name", async ({ method, item, want }) => {
    const seen: PresentedText[] = [];
    const pins = {
      look: (_: string, presented: readonly PresentedText[]) => {
        seen.push(...presented);
        return Promise.resolve(presented.map(() => "same" as const));
      },
    };
    const member = { "prompts/list": "prompts", "resources/list": "resources" }[method];
    const line = Buffer.from(`{"id":1,"result":{"${member ?? "resourceTemplates"}":[${item}]}}`);
    expect(
      await createPresented({ server: "s", pins, log: () => {}, turns: createLoopTurns() }).take(
        method,
        line,
      ),
    ).toBe(line);
    expect(seen.map(({ kind, name, pin }) => ({ kind, name, pin }))).toEqual(
      want === null ? [] : [want],
    );
  });
});
