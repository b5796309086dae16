import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readTools } from "../src/pins/read-tools.js";

interface Case {
  readonly name: string;
  readonly definition: string;
  readonly want: string | { readonly problem: string };
}

const { cases }: { readonly cases: readonly Case[] } = JSON.parse(
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
});
