import { describe, expect, it } from "vitest";
import { allowlistOf } from "../../../test/allowlist.js";
import { BINARIES } from "../../tables/binaries.js";
import { grammarOf } from "../../tables/grammar.js";
import type { Binary } from "../../tables/table.js";
import { evaluateCommandSafety } from "../../evaluate.js";
import { SEARCHES, TELLS_NAMES } from "./searches.js";

const levelOf = (command: string): string => evaluateCommandSafety(command).riskLevel;
const rulesOf = (command: string): readonly string[] =>
  evaluateCommandSafety(command).reasons.map(({ ruleId }) => ruleId);
const lines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** What may show a secret, with a text in its place that does not. */
const MENDED = lines(`
  grep -rn SECRET .
  grep -r password
  egrep -rn 'a|b' src
  fgrep -R key .
  grep -rn foo -A3 .
  grep -rn -3 foo .
  grep -rnv foo .
  grep -rnz foo .
  grep -rnE 'foo|' .
  grep -rn -e foo -e '' .
  grep -rn password --include='*.json' .
  grep -rn password --exclude='*.md' .
  grep -d recurse password .
  timeout 5 grep -rn password . | head -100
  x=$(grep -rn password .); echo "$x"
  grep -rn password . >&2 | wc -l
  grep -rn password . | while read -r l; do echo "$l"; done
  grep -rn password . && git status
  rg password
  rg ''
  rg -g '*.json' password
  rg -A3 foo
  rg -U 'foo' src
  rg -uu password
  rg --hidden password --iglob '*'
  rg password --iglob '*.JSON' -g '!*.json'
  rg --no-ignore --hidden password src
  rg --passthru foo
  rg --type-add 'ts:*.pem' -t ts password
  diff -r src lib
  diff -rN src lib
  diff . lib
  find . -type f | xargs cat
  find . -type f -print0 | xargs -0 head -5
  find . -type f | sort | head -20 | xargs -I{} sed -n 1,5p {}
  find . -name '*.ts' -o -name '*.json' | xargs cat
  find . -maxdepth 2 -type f \\( -name '*.json' -o -name '*.yml' \\) | xargs grep -n password
  find . -not -name '*.md' | xargs tail -3
  find . -type f | while read -r f; do cat "$f"; done
  while read -r f; do cat "$f"; done < <(find . -type f)
  grep foo *.json
  find . -type f | xargs wc -l
  find . -name '*.ts' | xargs cat
  find src \\( -name '*.ts' -o -name '*.tsx' \\) | xargs head -3
  find . -name node_modules -prune -o -name '*.py' -print | xargs cat
  find . -type f | grep '\\.py$' | xargs cat
  find . -type f | grep -E '\\.(ts|tsx)$' | xargs cat
  find . -type f | xargs grep -n foo
  git ls-files '*.ts' | xargs cat
  du -sh *
`);

/** What may show a secret and has no options to leave it out. */
const ASKED = lines(`
  cat *
  cat ./*
  cat *.json
  head -3 config/*.yml
  cat src/*
  cat gcp*
  jq . ./*.json
  grep password *.json
  grep -rn password . *.json
  for f in *; do head -3 "./$f"; done
  for f in *.json; do jq . "$f"; done
  git ls-files | xargs cat
  git ls-files | while read -r f; do head -1 "./$f"; done
  ls | xargs -I{} cat ./{}
  rg --files | xargs cat
  grep -rl password . | xargs cat
  cat < ./*.json
  cat * | tee /dev/stderr | wc -l
  { cat *; } >&2 | wc -l
  { cat * | while read -r l; do echo "$l" >&2; done; } >/dev/null
  cat * >/dev/null >&2
  ag password
  ag password src
  ack password
  ugrep password
  git grep --no-index password
  git grep --untracked password
  git diff --no-index src lib
  grep -rn password . && npm test
  find . -type f | xargs cat; cat *
  for f in $(find . -type f); do head -3 "$f"; done
  for f in $(find . -name '*.py'); do cat "$f"; done
  grep -rn password secrets/
  grep -rn password .git/modules
  grep -rn password src/../.config/x
  grep -rn password .config --exclude='*.md'
  rg password secrets
  rg -uuu password .config/gh
  diff -r a/secrets b/secrets
  find .config -type f | xargs cat
  find .git/modules -type f -print0 | xargs -0 cat
  for d in secrets .config; do rg password $d; done
  cd secrets && grep -rn password .
  cd .config && rg -uuu password
  cd .config && find . -type f -print0 | xargs -0 cat
`);

/** What reaches as far and shows no secret. */
const SAFE = lines(`
  grep -rn foo .
  grep -rn "TODO" src
  grep -rnE '(TODO|FIXME)' .
  grep -rn 'foo\\|import' .
  grep -rn 'rm -rf' .
  grep -rn "eval(" src
  grep -rl password .
  grep -rc password src
  grep -rq password . && echo found
  grep -rn password . | wc -l
  grep -rn password . | sort | uniq | wc -l
  grep -rn password . 2>/dev/null | grep -c x
  grep -rn password . > /dev/null && echo found
  grep -rn password --include=*.ts src
  grep -rn password src --include='*.py' --include='*.md'
  grep -n password src/*.ts
  grep -n password src/a.txt
  rg foo
  rg -l password
  rg -c password
  rg --hidden foo
  rg -uuu foo
  rg --no-ignore -tpy password
  rg --files
  rg -t py password
  rg -tts -g '!*.test.ts' password
  rg -g '*.{ts,tsx}' password
  rg password src/a.ts
  cat x.log | rg password
  ag -l password
  ack foo
  git grep password
  git grep --untracked password -- '*.ts'
  git grep --no-index -l password
  diff -rq src lib
  diff a.txt b.txt
  git diff --no-index a.txt b.txt
  git diff --no-index --stat src lib
  find . -type f | xargs cat | wc -l
  for f in src/*.ts; do head -3 "$f"; done
  cat .github/workflows/*.yml
  cat packages/*/package.json
  cat *.md
  cat *.log | grep -i error | tail
  ls *
  file ./*
  sha256sum *
  find . -name '*.ts' -print0 | xargs -0 cat
  find . -name '*.ts' | xargs wc -l
  find . -type f -print0 | grep -z '\\.py$' | xargs -0 cat
  git ls-files -z '*.ts' | xargs -0 cat
  du -sh ./*
  grep foo ./*.json
`);

describe("secrets by reach", () => {
  it.each(MENDED)("%s is reviewed, and has a text in its place that is safe", (command) => {
    const { riskLevel, rewrite } = evaluateCommandSafety(command);
    expect(riskLevel).toBe("needs-review");
    expect(rewrite).toBeDefined();
    expect(levelOf(rewrite?.command ?? "")).toBe("safe");
    expect(rewrite?.command.length).toBeGreaterThan(command.length);
  });

  it.each(ASKED)("%s is reviewed, with nothing in its place", (command) => {
    const { riskLevel, rewrite } = evaluateCommandSafety(command);
    expect({ riskLevel, rewrite }).toEqual({ riskLevel: "needs-review", rewrite: undefined });
  });

  it("takes --iglob for stronger than --glob, wherever it stands, as rg does", () => {
    const words = evaluateCommandSafety("rg --hidden password").rewrite?.command ?? "";
    expect(evaluateCommandSafety(words.replaceAll("--iglob", "--glob")).riskLevel).toBe("safe");
    expect(evaluateCommandSafety(words.replaceAll("--iglob", "--iglob '*' --glob")).riskLevel).toBe(
      "needs-review",
    );
  });

  it.each(SAFE)("%s is safe", (command) => expect(rulesOf(command)).toEqual([]));

  it("says what may be shown", () => {
    expect(evaluateCommandSafety("grep -rn SECRET .").reasons).toMatchObject([
      {
        ruleId: "grep.secret",
        message: "`grep .` reads many files, among which may be some that hold credentials",
      },
    ]);
  });

  it("cannot be cleared by an allowlist", () => {
    const allowlist = allowlistOf("grep **");
    expect(evaluateCommandSafety("grep -rn SECRET .", { allowlist }).riskLevel).toBe(
      "needs-review",
    );
  });
});

describe("SEARCHES", () => {
  const entryOf = (name: string): Binary | undefined =>
    name
      .split(" ")
      .reduce<Binary | undefined>(
        (found, part) => (found === undefined ? BINARIES[part] : found.subcommands?.[part]),
        undefined,
      );

  it.each(Object.entries(SEARCHES))(
    "%s names flags of its table",
    (name, { folders, names, pattern, choice }) => {
      const entry = entryOf(name);
      const known = entry === undefined ? undefined : grammarOf(entry).flags;
      const { include, exclude, excludeFolder, globs, lastGlobs, types } = choice ?? {};
      const flags = [
        folders,
        names,
        pattern?.flag,
        pattern?.loose,
        ...Object.keys(pattern?.dialects ?? {}),
        include,
        exclude,
        excludeFolder,
        globs,
        lastGlobs,
        types,
      ]
        .join(" ")
        .split(/\s+/)
        .filter((flag) => flag !== "" && flag !== "always");
      expect(flags.filter((flag) => known?.has(flag) !== true)).toEqual([]);
    },
  );

  it("shows names only for programs of the tables", () => {
    const builtins = ["basename", "dirname", "echo", "printf", "test"];
    expect(
      [...TELLS_NAMES].filter((name) => BINARIES[name] === undefined && !builtins.includes(name)),
    ).toEqual([]);
  });
});
