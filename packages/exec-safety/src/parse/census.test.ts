import { describe, expect, it } from "vitest";
import { census } from "./census.js";
import { SAFETY_LIMITS } from "../config/limits.js";
import { parseShell } from "./parse-shell.js";
import type { Script, Word } from "./tree.js";

function scriptOf(text: string): Script {
  const parsed = parseShell(text, SAFETY_LIMITS);
  if ("refused" in parsed) throw new Error(parsed.refused.message);
  return parsed.script;
}

/** Where the census does not agree with the tree. */
function unexplained(text: string, script: Script = scriptOf(text)): readonly number[] {
  const places: number[] = [];
  census(text, script, ({ ruleId, span }) => {
    expect(ruleId).toBe("shell.unexplained");
    places.push(span.start);
  });
  return places;
}

/** The tree of a parser that takes each of these words for plain text. */
function blindScript(text: string, raws: readonly string[]): Script {
  let at = 0;
  const words = raws.map((raw): Word => {
    const start = text.indexOf(raw, at);
    at = start + raw.length;
    return {
      span: { start, end: at },
      raw,
      pieces: [{ kind: "text", text: raw, quoted: false }],
      text: raw,
    };
  });
  const span = { start: 0, end: text.length };
  return { span, body: { type: "command", span, assignments: [], words, redirects: [] } };
}

describe("census()", () => {
  it.each([
    "ls -la | wc -l > /dev/null 2>&1",
    'echo $(a) `b` "$(c) `d`" <(e) >(f) $((1 + 2)) $[3]',
    "echo '$(a)' '`b`' $'\\'$(c)' \"'$(d)'\" \\$\\(e\\) \\`f \"\\$(g) \\`h\"",
    "cat <<'E'\n$(a) `b`\nE",
    "cat <<E\n$(a) `b` \\$(c)\nE",
    "ls # $(a) `b`\npwd",
    "echo $(ls # `a`\n)",
    "echo ${x:-$(a)} \"${x:-`b`}\" ${x}'$(c)'",
    "echo {a,$(b)} {c,d}'`'",
    '[[ a =~ ^(b|c)$ ]] && [ -f "$x" ]',
    "case $x in (a|b) c $(d);; esac",
    'for x in $(a); do b "${x%.ts}"; done',
    "x=$(a)b; y='$(c)' d",
    "find . \\( -name a -o -name 'b' \\) -exec c {} \\;",
    "f() { $(a); }",
    "(( x = $(a) ))",
    "echo \"a > b\" 'c|d' e\\;f \\&",
  ])("agrees with the tree of %j", (text) => expect(unexplained(text)).toEqual([]));

  it.each([
    ["echo $(a)", ["echo", "$(a)"], 5],
    ["echo `a`", ["echo", "`a`"], 5],
    ['echo "x$(a)"', ["echo", '"x$(a)"'], 7],
    ['echo "`a`"', ["echo", '"`a`"'], 6],
    ["echo <(a)", ["echo", "<(a)"], 5],
    ["echo >(a)", ["echo", ">(a)"], 5],
    ["echo $[a]", ["echo", "$[a]"], 5],
    ["echo ${x:-'$(a)'}", ["echo", "${x:-'$(a)'}"], 11],
    ["n=(a)x", ["n=(a)x"], 2],
    ["echo a;b 'c'", ["echo", "a;b", "'c'"], 6],
    ["echo a&b\\c", ["echo", "a&b\\c"], 6],
    ["echo a<b", ["echo", "a<b"], 6],
  ])("sees what a parser misses that takes a word of %j for text", (text, raws, place) =>
    expect(unexplained(text, blindScript(text, raws))).toContain(place),
  );

  it("sees a substitution between the words that a parser shows", () => {
    expect(unexplained("echo $(a) b", blindScript("echo $(a) b", ["echo", "b"]))).toEqual([5]);
    expect(unexplained("echo b `a`", blindScript("echo b `a`", ["echo", "b"]))).toEqual([7]);
  });

  it("does not trust quotes behind ${, nor anything in escaped backquotes, nor a word that is not what the text says", () => {
    expect(unexplained("cat <<E\n${x:-'$(a)'}\nE", scriptOf("cat <<E\n${x:-'####'}\nE"))).toContain(
      8,
    );
    expect(unexplained("echo `a \\`b\\``").length).toBeGreaterThan(0);
    expect(unexplained("echo 'a' $", blindScript("echo 'b' $", ["echo", "'b'"]))).toEqual([5]);
  });
});
