import { describe, expect, it } from "vitest";
import { readCode } from "./code.js";

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
