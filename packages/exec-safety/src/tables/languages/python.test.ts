import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMs } from "../../../../../tools/cpu-ms.js";
import { pythonReads } from "./python.js";

describe("pythonReads()", () => {
  it.each([
    ["print(1)", []],
    ["import json, sys; d = json.load(sys.stdin); print(d['a'], file=sys.stderr)", []],
    ["import json as j\nfrom re import (findall, sub as s)\nprint(findall('a', 'b'))", []],
    [
      "for k, v in sorted({}.items(), key=lambda p: p[1]):\n    print(f'{k:>10} {v!r} {{}}')  # a",
      [],
    ],
    ["print(f\"{d['a']:.2f} {x + 1}\")", []],
    ["print('{} {:>3}'.format(1, 2), '%s' % 3, '{}'.join([]))", []],
    [
      "def f(x):\n  try:\n    return int(x)\n  except ValueError as e:\n    raise KeyError(e) from e\nprint(f('1'))",
      [],
    ],
    ["from datetime import datetime\nprint(datetime.now().strftime('%Y'), __name__)", []],
    ["print(open('a.txt').read())", ["a.txt"]],
    [
      "import json\nwith open('package.json', encoding='utf-8') as f, open('b', 'rb') as g:\n  print(json.load(f))",
      ["package.json", "b"],
    ],
    ["x = [open('a', mode='r', errors='ignore').readlines() for _ in range(2)]", ["a"]],
    ["print(f\"{open('a').read()}\")", ["a"]],
    ["import urllib.parse; print(urllib.parse.quote('a'), type(1).__name__)", []],
  ])("reads %j", (script, files) => expect(pythonReads(script)).toEqual(files));

  it.each([
    "import os",
    "import json, os",
    "import os.path as json",
    "from os import system as dumps",
    "from sys import path",
    "from sys import *",
    "from . import json",
    "x = import json",
    "import sys; sys.path.append('.')",
    "import sys; sys.modules",
    "import json; json.codecs.open('a', 'w')",
    "import shlex; shlex.os.system('id')",
    "import base64 as b; b.main()",
    "eval('1')",
    "e = eval",
    "print(exec)",
    "getattr(1, 'x')",
    "__import__('os')",
    "globals()",
    "().__class__",
    "x.__globals__",
    "x.\n__class__",
    "(x\n.__class__)",
    "1..__class__",
    "1.__class__",
    "x._private",
    "'{0.__class__}'.format(1)",
    "'{0[a]}'.format(1)",
    "('{0.__cla' 'ss__}').format(1)",
    "'{0.__cla' 'ss__}'.format(1)",
    "'\\x7b0.a}'.format(1)",
    "s.format(1)",
    "print(f'{eval(1)}')",
    "print(f'{x.__class__}')",
    "print(f'{f\"{eval(1)}\"}')",
    "print(f'{x:{eval(1)}}')",
    "print(f'''{\nx}''')",
    "print(t'{eval(1)}')",
    "f'\\{eval(1):\\}'",
    "rf'\\{eval(1):\\}'",
    "('{0.__globals__'\n'}'.format(f))",
    "('{0.__globals__' # a\n\n'}'.format(f))",
    "(f'{0}{{0.__globals__}}' ''.format(f))",
    "print(tr'{eval(1)}')",
    "print(F'{eval(1)}', Rb'a')",
    "f'{'eval'}'",
    "open('a', 'w')",
    "open('a', 'r+')",
    "open('a', mode='a')",
    "open('a', opener=print)",
    "open('a', encoding='evil')",
    "open(x)",
    "open('a' 'b')",
    "open('\\x61')",
    "open(f'a')",
    "open(*['a', 'w'])",
    "o = open",
    "list(map(open, ['a']))",
    "while 1: pass",
    "class A: pass",
    "match = 1\ncase = 2",
    "async def f(): pass",
    "ｅｖａｌ('1')",
    "x = 'a\nb'",
    "'''a",
    "x = 1 \\\n + 2",
    "# -*- coding: utf-7 -*-\n# +AAo-",
    "print(1)\rimport os",
    "print(1)\fimport os",
    "$x",
    "input()",
    "help()",
    "breakpoint()",
    "x".repeat(9000),
  ])("leaves %j to a person", (script) =>
    expect(pythonReads(script)).toHaveProperty("topic", "exec"),
  );

  it("says something of every text, and soon", () => {
    const part = fc.constantFrom(
      "'",
      '"',
      "'''",
      "f'",
      "{",
      "}",
      "(",
      ")",
      "\\",
      "\n",
      "#",
      "open",
      "import ",
      "eval",
      ".",
      "a",
      "1",
      ":",
      ",",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => void pythonReads(parts.join(""))),
    );
    for (const hostile of ["f'{", "{", "(", "'", "open(", ":", "1", "import ", "f'{x:}'"]) {
      const text = hostile.repeat(8000 / hostile.length);
      const start = cpuMs();
      pythonReads(text);
      expect(cpuMs() - start).toBeLessThan(1_000);
    }
  });
});
