/**
 * Lines: what is safe beyond the rows of the tables, for a run in a world of traps: how parts are
 * joined, and where they are. Data.
 */
export const LINES: readonly string[] = [
  "ls & cat a.ts & wait",
  "{ ls; wc -l a.ts; } & sleep 0",
  "(ls | head -1) & wait",
  "cd src & cat a.ts",
  "/bin/ls -la",
  "/usr/bin/git log -1",
  "/usr/bin/env LC_ALL=C /bin/cat a.ts",
  "/usr/bin/timeout 5 /usr/bin/wc -l a.ts",
  "head -1 /usr/include/stdio.h",
  "ls -la /etc /opt /usr/include",
  "find /etc -maxdepth 1 -name 'host*'",
  'python3 -I -c \'import json, re, sys, textwrap, datetime, collections, ast, csv; print(json.dumps({}), re.sub("a", "b", "a"))\'',
  "python3 -I -c 'print(len(open(\"a.ts\").read()))'",
  "python3 -I - <<'EOF'\nimport statistics, decimal, random, hashlib, struct, urllib.parse, calendar\nprint(1)\nEOF",
  "python3 -I -m json.tool a.json",
  "cat a.json | python3 -I -m json.tool --sort-keys --indent 2",
  "node -e 'console.log([1, 2].map((x) => x * 2), process.argv)'",
  'node -p \'require("fs").readFileSync("a.ts", "utf8").length\'',
];
