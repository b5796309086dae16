import { describe, expect, it } from "vitest";
import { fieldOf, type Call } from "./call.js";
import { NOTHING } from "./feed.js";
import { interpreterName, programOf } from "./interpreters.js";
import { siteOf } from "./site.js";

const SPAN = { start: 0, end: 0 };

function call(line: string): Call {
  const [name = "", ...args] = line.split(" ");
  const site = siteOf({ inside: "", projectRoot: undefined, trustedWorkspace: true });
  return { name, args: args.map((text) => fieldOf(text, SPAN)), input: NOTHING, site };
}

describe("interpreterName()", () => {
  it.each([
    ["python3.11", "python"],
    ["python", "python"],
    ["perl5.30", "perl"],
    ["node", "node"],
    ["ls", undefined],
    ["3", undefined],
  ])("%s is %s", (name, interpreter) => {
    expect(interpreterName(name)).toBe(interpreter);
  });
});

describe("programOf()", () => {
  it.each([
    ["python3 -c x", "python", { codes: ["x"], file: undefined, readsInput: false }],
    ["python3 -Bcx", "python", { codes: ["x"], file: undefined, readsInput: false }],
    ["python3 -W ignore -c x", "python", { codes: ["x"], file: undefined, readsInput: false }],
    ["python3 -m json.tool", "python", { codes: [], file: undefined, readsInput: false }],
    ["python3 a.py -c x", "python", { codes: [], file: "a.py", readsInput: false }],
    ["python3 -", "python", { codes: [], file: undefined, readsInput: true }],
    ["python3 -u", "python", { codes: [], file: undefined, readsInput: true }],
    ["python3 /dev/stdin", "python", { codes: [], file: undefined, readsInput: true }],
    ["python3 --version", "python", { codes: [], file: undefined, readsInput: false }],
    ["python3 -V", "python", { codes: [], file: undefined, readsInput: false }],
    ["perl -lane x", "perl", { codes: ["x"], file: undefined, readsInput: false }],
    ["perl -i -pe x f", "perl", { codes: ["x"], file: undefined, readsInput: false }],
    ["perl -MFoo -e x", "perl", { codes: ["x"], file: undefined, readsInput: false }],
    ["node --eval x", "node", { codes: ["x"], file: undefined, readsInput: false }],
    ["node --print=x", "node", { codes: ["x"], file: undefined, readsInput: false }],
    ["node -r m a.js", "node", { codes: [], file: "a.js", readsInput: false }],
    ["bun run -", "bun", { codes: [], file: undefined, readsInput: true }],
    ["deno run a.ts", "deno", { codes: [], file: "a.ts", readsInput: false }],
    ["deno eval x", "deno", { codes: ["x"], file: undefined, readsInput: false }],
    ["awk -F , x f", "awk", { codes: ["x"], file: undefined, readsInput: false }],
    ["awk -f p f", "awk", { codes: [], file: undefined, readsInput: false }],
  ])("%s", (line, name, expected) => {
    const { codes, file, readsInput } = programOf(call(line), name);
    expect({ codes: codes.map(({ text }) => text), file: file?.text, readsInput }).toEqual(
      expected,
    );
  });
});
