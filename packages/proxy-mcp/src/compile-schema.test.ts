import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { schemaCompiler, warmSchemas } from "./compile-schema.js";

const { cache } = createRequire(import.meta.url);

it("warmSchemas() leaves nothing to load for schemas of any dialect", () => {
  warmSchemas();
  const loaded = Object.keys(cache).length;
  for (const $schema of [
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
    undefined,
  ]) {
    const schema = { $schema, type: "object", required: ["a"], properties: { a: { minimum: 3 } } };
    expect(schemaCompiler(schema)()({ a: 1 })).toContain("must be >= 3");
  }
  expect(Object.keys(cache).length).toBe(loaded);
  expect(loaded).toBeGreaterThan(0);
});
