import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sample } from "../checks/sample.js";
import { capture, root } from "../workspace.mjs";
import { KINDS } from "./kinds.mjs";
import { filesOf, make } from "./new.mjs";

const TSC = "node_modules/typescript7/bin/tsc";
const BUILD = '{\n  "references": [\n    { "path": "packages/cli" }\n  ]\n}\n';

describe("npm run new", () => {
  it("makes adapters that compile against the ports and their conformance suites", async () => {
    const made = sample({ "tsconfig.build.json": BUILD });
    for (const kind of Object.keys(KINDS)) make(kind, "sketch", made);
    symlinkSync(join(root, "node_modules"), join(made, "node_modules"));
    const paths = { "@acp/*": [join(root, "packages/*/src/index.ts")] };
    const compilerOptions = {
      noEmit: true,
      composite: false,
      incremental: false,
      paths,
      types: ["node"],
      rootDir: "/",
    };
    const config = {
      extends: join(root, "tsconfig.base.json"),
      compilerOptions,
      include: ["packages"],
    };
    writeFileSync(join(made, "tsconfig.json"), JSON.stringify(config));
    const { output } = await capture(process.execPath, [join(root, TSC), "-p", "."], { cwd: made });
    // Errors of ours alone: the packages that they lean on are checked where they are.
    expect(output.split("\n").filter((line) => line.startsWith("packages/"))).toEqual([]);
    expect(readFileSync(join(made, "tsconfig.build.json"), "utf8")).toContain(
      '"packages/channel-sketch" },\n',
    );
  });

  it.each([
    ["chanel", "x", 'Cannot make "chanel": there is no such kind'],
    ["channel", "../x", 'Cannot make a channel "../x": not a name'],
    ["channel", "", 'Cannot make a channel "": not a name'],
  ])("refuses %s %s", (kind, name, why) => {
    expect(() => filesOf(kind, name)).toThrow(why);
  });

  it("writes over nothing", () => {
    const made = sample({ "tsconfig.build.json": BUILD });
    mkdirSync(join(made, "packages/channel-sketch"), { recursive: true });
    writeFileSync(join(made, "packages/channel-sketch/README.md"), "mine");
    expect(() => make("channel", "sketch", made)).toThrow(
      "packages/channel-sketch/README.md is there already",
    );
    expect(readFileSync(join(made, "packages/channel-sketch/README.md"), "utf8")).toBe("mine");
  });
});
