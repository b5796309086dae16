import { expect, it } from "vitest";
import { ruleId } from "./rule-id.js";

it.each([
  [{ kind: "tool", server: "files", tool: "write_file" } as const, "allow-files-write_file"],
  [{ kind: "tool", server: "a b", tool: "ü/…" } as const, "allow-a-b"],
  [{ kind: "http", host: "[::1]", port: 80, method: "GET" } as const, "allow-get-1"],
  [{ kind: "shell", program: "" } as const, "allow-shell"],
])("ruleId() of %j is %s", (shape, id) => {
  expect(ruleId(shape, "allow", new Set())).toBe(id);
});

it("ruleId() takes none that is taken, and none that is too long", () => {
  const shape = { kind: "tool", server: "s", tool: "t" } as const;
  expect(ruleId(shape, "deny", new Set(["deny-s-t", "deny-s-t-2"]))).toBe("deny-s-t-3");
  expect(ruleId({ ...shape, tool: "t".repeat(300) }, "deny", new Set())).toHaveLength(64);
});
