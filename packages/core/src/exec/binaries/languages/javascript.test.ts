import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMs } from "../../../../test/cpu-ms.js";
import { javascriptReads } from "./javascript.js";

describe("javascriptReads()", () => {
  it.each([
    ["console.log(1 + 1)", []],
    ["const d = JSON.parse('{}'); console.log(Object.keys(d).length, d.a?.b, d['c'], d[0])", []],
    ["for (const [k, v] of Object.entries({ a: 1 })) console.log(`${k} ${v + 1}`)", []],
    ["const f = (a, b = 2) => a / b; function g({ c }) { return /[/]\\/x/.test(c) ? f(1) : 0 }", []],
    ["try { null.x } catch (e) { console.error(e.message, process.version) }", []],
    ["const s = new Set([1]); s.add(2); console.log([...s].map(x => x * 2))", []],
    ["const fs = require('fs')\nconsole.log(JSON.parse(fs.readFileSync('package.json', 'utf8')).version)", ["package.json"]],
    ["JSON.parse(require('node:fs').readFileSync('a.json')).x", ["a.json"]],
    ["let fs = require('fs'), x = fs.readFileSync('b', 'utf-8')", ["b"]],
  ])("reads %j", (script, files) => expect(javascriptReads(script)).toEqual(files));

  it.each([
    "require('child_process')",
    "require('./package.json')",
    "require('left-pad')",
    "const r = require",
    "require('fs').writeFileSync('a', 'b')",
    "require('fs')['rmSync']('a')",
    "const fs = require('fs').promises",
    "const fs = require('fs'); fs.rmSync('a')",
    "const fs = require('fs'); const g = fs",
    "const fs = require('fs'); fs.readFileSync(x)",
    "const fs = require('fs'); fs.readFileSync('a', { flag: 'w' })",
    "const fs = require('fs'); fs.readFileSync('\\x61')",
    "const { rmSync } = require('fs')",
    "const x = { fs }",
    "fs.rmSync('a')",
    "child_process.execSync('id')",
    "{ const net = 1 } net.connect(1)",
    "process.env.A",
    "process['exit']()",
    "const p = process",
    "const { env } = process",
    "console._stdout",
    "console['_stdout']",
    "const c = console",
    "[].constructor.constructor('x')()",
    "[]['constructor']",
    "[]['con' + 'structor']",
    "const k = 'a'; [][k]",
    "[]?.[k]",
    "const { constructor: F } = {}",
    "const { 'constructor': F } = {}",
    "const { '\\x63onstructor': F } = {}",
    "const { ['con' + 'structor']: F } = {}",
    "(({ constructor }) => constructor)({})",
    "x.__proto__",
    "x['__proto__']",
    "Object.getPrototypeOf(1)",
    "Object['getPrototypeOf']",
    "const O = Object",
    "Error.prepareStackTrace = 1",
    "this.x",
    "eval('1')",
    "new Function('1')",
    "globalThis.x",
    "import('fs')",
    "import fs from 'fs'",
    "fetch('http://x')",
    "setTimeout('x')",
    "unknown()",
    "while (1) {}",
    "do {} while (1)",
    "class A {}",
    "let of = {}; of['a' + 'b']",
    "let x\nconst let_ = 1; let let = {}",
    "e\\u0076al('1')",
    "ｅ()",
    "`${eval(1)}`",
    "`${`${1}`}`",
    "(1) /eval(1)/ 1",
    "const a = {}; a.return /eval(1)/ 1",
    "const a = {}; a?.typeof /eval(1)/ 1",
    "x = 1 <!-- 2",
    "x\n--> 2",
    "// a\u2028eval(1)",
    "'a\nb'",
    "#!/x",
    "arguments.callee",
    "x".repeat(9000),
  ])("leaves %j to a person", (script) => expect(javascriptReads(script)).toHaveProperty("topic", "exec"));

  it("says something of every text, and soon", () => {
    const part = fc.constantFrom(
      "'",
      '"',
      "`",
      "${",
      "{",
      "}",
      "(",
      ")",
      "[",
      "]",
      "\\",
      "\n",
      "/",
      "//",
      "*/",
      "=>",
      "fs",
      "const ",
      "a",
      "1",
      ".",
      ":",
    );
    fc.assert(fc.property(fc.array(part, { maxLength: 40 }), (parts) => void javascriptReads(parts.join(""))));
    for (const hostile of ["`${", "(", "'", "/", "/*", "=>", ")=>", "catch(", "const {", "/[", "a=>", "[0]", "1", "."]) {
      const text = hostile.repeat(8000 / hostile.length);
      const start = cpuMs();
      javascriptReads(text);
      expect(cpuMs() - start).toBeLessThan(1_000);
    }
  });
});
