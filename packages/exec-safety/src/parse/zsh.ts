/**
 * Zsh: whether a text that only reads in bash means the same in zsh. Read letter by letter;
 * whatever zsh reads in a way of its own, with whatever options, does not: `=ls`, `~x`, `^x`, `x#`,
 * `**`, `<1-5>`, `$x[1]`, `$x:h`, `$~x`, `${(e)x}`. That a glob finds nothing ends a command there;
 * nothing worse. Names of programs, aliases and functions are the caller's own, as they are in
 * bash.
 */

/**
 * Behind a `$`: a name, or one letter, behind which nothing chooses a part or changes it; or a
 * command.
 */
const PARAMETER =
  /(?:[A-Za-z_]\w*(?![[\w]|:[A-Za-z&])|\{[A-Za-z_]\w*\}(?![[:])|[?$0-9](?![[:\w])|\((?!\())/y;
/** Outside of quotes: letters that mean in zsh what they mean in bash, wherever they stand. */
const PLAIN = /[\w\s./,:+@%;&|()\]?-]/;
/** Its letters are other options there. */
const SETS_OPTIONS = /(?:^|[;&|({])\s*(?:set|setopt)(?!\S)/m;

/**
 * Variables that mean something there: `path` is where programs are found, `module_path` where code
 * is loaded from.
 */
const MEANT =
  "(?:path|[cf]dpath|fpath|manpath|mailpath|module_path|psvar|fignore|watch|prompt|argv|status|pipestatus|histchars|zsh_\\w+|options|commands|" +
  "functions\\w*|builtins|parameters|modules|dirstack|[gs]?aliases|history\\w*|jobdirs|jobtexts|jobstates|nameddirs|userdirs|usergroups|" +
  "func\\w*|reswords|patchars|dis_\\w+|errnos|sysparams|mapfile|langinfo|termcap|terminfo|keymaps|widgets|keys|killring|region_\\w+)";
const OUT = "(?:^|[^\\d&>]|(?<!\\d)1|&)>";
const SAME_COMMAND = "(?:[^;&|\\n]|>&|&>)*?";
/**
 * What zsh does in a way of its own, seen in a text without quotes: it sets such a variable; it
 * reads a text as a sum, in which `x[$(…)]` runs a command; or it sends the output to two places at
 * once, one of which bash leaves out.
 */
const OWN_WAYS: readonly (readonly RegExp[])[] = [
  [new RegExp(`(?<![\\w$-])${MEANT}\\+?=|\\bfor\\s+${MEANT}\\b`)],
  [/\bread\b/, new RegExp(`\\s${MEANT}\\b`)],
  [/\bread\b/, /\s-[a-zA-Z]*[tukNn](?!\s*\d)/],
  [
    /(?<![\w./-])(?:exit|return|break|continue|shift|history|ulimit|umask|wait)[ \t]+(?=\S)(?!\d+(?![^\s;&|)}])|\$\?|-[A-Za-z]|[;&|)}])/,
  ],
  [/\[|\btest\b/, /-t\s(?!\s*\d\s)/],
  // A format may hold what elsewhere ends a command.
  [/\bprintf\b/, /%(?!-?\d*(?:\.\d+)?[sbq%])/],
  [new RegExp(`${OUT}&?${SAME_COMMAND}(?:(?<!\\|)\\|(?!\\|)|${OUT})`, "m")],
];

const QUOTED = /\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"/g;

/** The text without quotes, where what they hide ends no word and no command. */
function withoutQuotes(text: string): string {
  return text.replace(QUOTED, (found) =>
    found === "\\\n"
      ? ""
      : found
          .replace(/^["']|["']$/g, "")
          .replace(/\\/g, "")
          .replace(/[\s;&|<>(){}]/g, "_"),
  );
}

/** Whether a text that bash reads without a person means the same in zsh. */
export function isSameInZsh(text: string): boolean {
  if (SETS_OPTIONS.test(text)) return false;
  const bare = withoutQuotes(text);
  if (OWN_WAYS.some((parts) => parts.every((part) => part.test(bare)))) return false;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (letter === "'" && quote !== '"') quote = quote === "'" ? "" : "'";
    else if (quote === "'") continue;
    else if (letter === '"') quote = quote === '"' ? "" : '"';
    else if (letter === "\\") at += 1;
    else if (letter === "$") {
      PARAMETER.lastIndex = at + 1;
      const found = PARAMETER.exec(text)?.[0];
      // In quotes a command has quotes of its own.
      if (found === undefined || (found === "(" && quote !== "")) return false;
      at += found === "(" ? 0 : found.length;
    } else if (letter === "`") return false;
    else if (quote === "" && !PLAIN.test(letter) && !isPlainHere(text, at)) return false;
  }
  return quote === "";
}

/** Letters that zsh reads like bash in some places only. */
function isPlainHere(text: string, at: number): boolean {
  const [before, letter, behind] = [text.charAt(at - 1), text.charAt(at), text.charAt(at + 1)];
  switch (letter) {
    case "=":
      // `=ls` is where `ls` is.
      return /[\w\]-]/.test(before);
    case "*":
      return before !== "*" && behind !== "*" && behind !== "(";
    case "[":
      // Behind a value it would choose a part of it.
      return behind !== "^" && behind !== "!" && !/[)}"'$]/.test(before);
    case "!":
      return /^\s?$/.test(before) && /\s/.test(behind);
    case "<":
      // `<1-5>` is any of these numbers, `<<` begins a text with quotes of its own.
      return /[\s/\w.]/.test(behind) && !/[\d<]/.test(behind) && before !== "<";
    case ">":
      return !/[!|(]/.test(behind) && before !== "<";
    case "{":
      return behind === "}" || /\s/.test(behind);
    case "}":
      return before === "{" || endsCommand(text, at);
    default:
      return false;
  }
}

/** Whether a command has ended before a brace, which ends a group there in any case. */
function endsCommand(text: string, at: number): boolean {
  let index = at - 1;
  while (text.charAt(index) === " ") index -= 1;
  return index !== at - 1 ? /[;\n&]/.test(text.charAt(index)) : /[;\n]/.test(text.charAt(index));
}
