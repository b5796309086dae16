import { describe, expect, it } from "vitest";
import { fieldOf, type Call } from "./call.js";
import { interpreterName, programOf, readCode } from "./code.js";
import { NOTHING } from "./feed.js";
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
    expect({ codes: codes.map(({ text }) => text), file: file?.text, readsInput }).toEqual(expected);
  });
});

describe("readCode()", () => {
  it("finds the commands that code runs, as texts and as lists", () => {
    const { commands } = readCode("subprocess.run(['rm', '-rf', 'x']); os.system('ls -la')");
    expect(commands).toContain("rm -rf x");
    expect(commands).toContain("ls -la");
  });

  it("takes no text for a command where none is run", () => {
    expect(readCode("print('sudo rm')").commands).toEqual([]);
  });

  it("finds commands in other quotes of Perl and Ruby", () => {
    expect(readCode("print qx{rm x}").commands).toContain("rm x");
    expect(readCode("%x(rm x)").commands).toContain("rm x");
  });

  it.each([
    ["while True: os.fork()", true],
    ["fork while fork", true],
    ["os.fork()", false],
    ["while True: wait(os.fork())", false],
  ])("forksForever of %j is %s", (code, expected) => {
    expect(readCode(code).forksForever).toBe(expected);
  });

  it.each([
    ["os.kill(-1, 9)", true],
    ["kill 9, -1", true],
    ["kill(-1,9)", true],
    ["os.kill(pid, 9)", false],
  ])("killsAll of %j is %s", (code, expected) => {
    expect(readCode(code).killsAll).toBe(expected);
  });

  it.each([
    ["exec(base64.b64decode('x'))", true],
    ["eval(atob('x'))", true],
    ["os.system(bytes.fromhex('x').decode())", true],
    ["print(base64.b64decode('x'))", false],
    ["/x/.exec(atob('x'))", false],
    ["json.load(urlopen('x'))", false],
    ["model.eval(); fetch('x')", false],
  ])("runsHidden of %j is %s", (code, expected) => {
    expect(readCode(code).runsHidden).toBe(expected);
  });

  it.each([
    ["import socket,os;s=socket.socket();s.connect(a);os.dup2(s.fileno(),0)", true],
    ["require('net').connect(1,()=>require('child_process').spawn('sh'))", true],
    ["import socket;socket.socket().connect(a)", false],
    ["import subprocess;subprocess.run(a)", false],
    ["import socket;socket.gethostname();subprocess.run(a)", false],
  ])("isRemoteShell of %j is %s", (code, expected) => {
    expect(readCode(code).isRemoteShell).toBe(expected);
  });
});
