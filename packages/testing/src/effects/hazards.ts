/**
 * Hazards: commands that look as if they only read, each with what it does in a world of traps.
 * Data; a test runs each and sees it.
 */
import type { EffectClass } from "./effects.js";
import type { ObserveOptions } from "./observe.js";
import { PLANTED_SECRETS } from "./secrets.js";

/** A command that must not be called safe, and the effect that shows why. */
export interface CommandHazard {
  /** The kind of mistake that it would be to call it safe. */
  readonly family:
    | "file-name"
    | "repository"
    | "version"
    | "secret"
    | "pager"
    | "writes"
    | "endless"
    | "runs";
  /** The command, as text for a shell. */
  readonly command: string;
  /** The class of effect that running it must show. */
  readonly effect: EffectClass;
  /**
   * Programs other than bash that must be installed to see the effect, separated by spaces; may be
   * empty.
   */
  readonly needs: string;
  /** How to run it so that the effect shows. */
  readonly options?: Pick<ObserveOptions, "files" | "cwd" | "stdin" | "cpuSecondsMax">;
}

const SCRIPT = "#!/bin/sh\n: >/ran/x.sh\n";
const NODE_SCRIPT = 'require("node:fs").writeFileSync("/ran/x.js", "");\n';

/** A folder with ordinary files, and one whose name is a flag. */
function beside(...names: readonly string[]): Pick<ObserveOptions, "files" | "cwd"> {
  const ordinary = {
    "a.txt": "one\n",
    "b.txt": "two\n",
    "a.md": "a\n",
    "README.txt": "read me\n",
    "README.md": "read me\n",
    "x.sh": SCRIPT,
  };
  const all = { ...ordinary, ...Object.fromEntries(names.map((name) => [name, ""])) };
  return {
    cwd: "names",
    files: Object.fromEntries(Object.entries(all).map(([name, text]) => [`names/${name}`, text])),
  };
}

/** A folder with a key, and one file whose name is a flag. */
function besideKey(key: string, name: string): Pick<ObserveOptions, "files" | "cwd"> {
  const { text = "" } = PLANTED_SECRETS.find(({ path }) => path === "/world/project/.env") ?? {};
  return { cwd: "names", files: { [`names/${key}`]: text, [`names/${name}`]: "" } };
}

type Row = readonly [
  command: string,
  effect: EffectClass,
  needs: string,
  options?: CommandHazard["options"],
];

const hazards = (family: CommandHazard["family"], rows: readonly Row[]): readonly CommandHazard[] =>
  rows.map(([command, effect, needs, options]) => ({
    family,
    command,
    effect,
    needs,
    ...(options === undefined ? {} : { options }),
  }));

/** The hazards that {@link commandSafetyConformance} tries. */
export const COMMAND_HAZARDS: readonly CommandHazard[] = [
  ...hazards("file-name", [
    ["sort *.txt", "changes", "sort", beside("-oREADME.txt")],
    ['for f in *.txt; do sort "$f"; done', "changes", "sort", beside("-oREADME.txt")],
    ["ls | xargs sort", "changes", "sort xargs", beside("-oREADME.txt")],
    ["iconv -f utf8 *.txt", "changes", "iconv", beside("-oREADME.txt")],
    ["sed -n 1p *.txt", "changes", "sed", beside("-i.txt")],
    ["git diff --stat *.md", "changes", "git", beside("--output=README.md")],
    ["git log *.md", "changes", "git", beside("--output=README.md")],
    ["git show *.md", "changes", "git", beside("--output=README.md")],
    [
      "tar -tf *.tar",
      "runs-planted-code",
      "tar",
      beside(
        "a.tar",
        "--use-compress-program=sh x.sh .tar",
        "--checkpoint-action=exec=sh x.sh .tar",
      ),
    ],
    [
      "find . -name '*.txt' | xargs sort",
      "changes",
      "find sort xargs",
      beside("a.txt -oREADME.txt b.txt"),
    ],
    [
      "find . -name '*.txt' | xargs -n 3 sort",
      "changes",
      "find sort xargs",
      beside("a.txt -oREADME.txt b.txt"),
    ],
    [
      "find . -name '*.txt' | while read -r f; do sort \"$f\"; done",
      "changes",
      "find sort",
      beside("a.txt\n-oREADME.txt\nb.txt"),
    ],
    ["for f in ./*.txt; do sort $f; done", "changes", "sort", beside("a.txt -oREADME.txt b.txt")],
    ["sort $(date +%n-oREADME.txt) a.txt", "changes", "date sort", beside()],
    ["sort $(find . -name '*.txt')", "changes", "find sort", beside("a.txt -oREADME.txt b.txt")],
    [
      "find src -name '*.ts' | xargs cat",
      "prints-secrets",
      "find xargs",
      { files: { "src/a.ts .env b.ts": "" } },
    ],
    [
      "git ls-files -o '*.ts' | xargs cat",
      "prints-secrets",
      "git xargs",
      { files: { "src/a.ts .env b.ts": "" } },
    ],
    [
      "for f in src/*.ts; do cat $f; done",
      "prints-secrets",
      "cat",
      { files: { "src/a.ts .env b.ts": "" } },
    ],
    ["wc -l *", "prints-secrets", "wc", besideKey(".env", "--files0-from=.env")],
    ["du -sh *", "prints-secrets", "du", besideKey(".env", "--files0-from=.env")],
    [
      "ls | xargs -n 1 wc -l",
      "prints-secrets",
      "wc xargs",
      besideKey(".env", "--files0-from=.env"),
    ],
    ["grep -rn foo *", "prints-secrets", "grep", besideKey("id_rsa", "-v")],
    ["grep foo *", "prints-secrets", "grep", besideKey("id_rsa", "-v")],
    ["cat *.json", "prints-secrets", "cat"],
    ['for f in *; do head -3 "$f"; done', "prints-secrets", "head"],
  ]),
  ...hazards("repository", [
    ["git -C evil.git status", "runs-planted-code", "git"],
    ["cd evil.git && git status", "runs-planted-code", "git"],
    ["cd evil.git && git log", "runs-planted-code", "git"],
    ["git -C evil.git diff", "runs-planted-code", "git"],
    ["git -C evil.git log --format=%G?", "runs-planted-code", "git"],
    ["for d in evil.git src; do (cd $d && git status); done", "runs-planted-code", "git"],
    ["find . -name HEAD -execdir git status ';'", "runs-planted-code", "git find"],
  ]),
  ...hazards("version", [
    ["cargo --version", "runs-planted-code", "rustup cargo"],
    ["mvn --version", "runs-planted-code", "mvn"],
    ["pytest -V", "runs-planted-code", "pytest"],
    ["pylint --help", "runs-planted-code", "pylint"],
    ["yarn -v", "runs-planted-code", "yarn"],
    ["ava --version", "runs-planted-code", "ava"],
    ["gulp --version", "runs-planted-code", "gulp"],
    ["grunt --version", "runs-planted-code", "grunt"],
    ["mocha -v", "runs-planted-code", "mocha"],
    ["pnpm --version", "dials", "pnpm"],
    ["tclsh --version", "changes", "tclsh", { stdin: { piped: "exec touch pwned.txt\n" } }],
    [
      "erl --version",
      "changes",
      "erl",
      { stdin: { piped: 'os:cmd("touch pwned.txt").\nhalt().\n' } },
    ],
  ]),
  ...hazards("secret", [
    ["find . -type f | xargs cat", "prints-secrets", "find xargs"],
    ["grep -rn TOKEN .", "prints-secrets", "grep"],
    ["grep -r password", "prints-secrets", "grep"],
    ["git grep --no-index TOKEN", "prints-secrets", "git"],
    ["cat .git/config .vault_pass .env~ gcp-key.json", "prints-secrets", "cat"],
    ["git remote -v", "prints-secrets", "git"],
    ["git remote get-url origin", "prints-secrets", "git"],
    ["git remote show -n origin", "prints-secrets", "git"],
    ["git remote -v | rev", "prints-secrets", "git rev"],
    ["git config --get remote.origin.url", "prints-secrets", "git"],
    ["git var -l", "prints-secrets", "git"],
    ["git config --list", "prints-secrets", "git"],
    ["readelf -a @.env", "prints-secrets", "readelf"],
    ["base64 .env", "prints-secrets", "base64"],
    ["rev .vault_pass", "prints-secrets", "rev"],
    ["xxd .vault_pass", "prints-secrets", "xxd"],
  ]),
  ...hazards("pager", [
    ["less long.txt", "changes", "less", { stdin: { typed: "!touch pwned.txt\n\nq" } }],
    ["more long.txt", "changes", "more", { stdin: { typed: ["!", "touch pwned.txt\n", "q"] } }],
    ["man ./a.1", "changes", "man less", { stdin: { typed: "!touch pwned.txt\n\nq" } }],
    ["git log -p", "changes", "git less", { stdin: { typed: "!touch pwned.txt\n\nq" } }],
    [
      "git --no-optional-locks show",
      "changes",
      "git less",
      { stdin: { typed: "!touch pwned.txt\n\nq" } },
    ],
    ["git diff HEAD~1", "changes", "git less", { stdin: { typed: "!touch pwned.txt\n\nq" } }],
  ]),
  ...hazards("writes", [
    ["unzip -lT a.zip", "changes", "unzip zip"],
    ["file -C", "changes", "file"],
    ["echo 1 >/etc/planted", "writes-outside", ""],
  ]),
  ...hazards("endless", [
    ["while :; do :; done", "does-not-end", "", { cpuSecondsMax: 1 }],
    ["until false; do :; done", "does-not-end", "", { cpuSecondsMax: 1 }],
  ]),
  ...hazards("runs", [
    ["make -n", "runs-planted-code", "make"],
    ["gradle tasks", "runs-planted-code", "gradle"],
    ["./a.sh", "runs-planted-code", ""],
    ["python3 -m json.tool a.json", "runs-planted-code", "python3"],
    ["python3 -c 'import json'", "runs-planted-code", "python3"],
    ["echo 'import json' | python3", "runs-planted-code", "python3"],
    ["python3 - <<'EOF'\nimport json\nEOF", "runs-planted-code", "python3"],
    [
      "python3 -I -c 'import sys; sys.path.insert(0, \".\"); import json'",
      "runs-planted-code",
      "python3",
    ],
    ["PYTHONPATH=. python3 -c 'print(1)'", "runs-planted-code", "python3"],
    ['python3 -I -c \'open("new.txt", "w")\'', "changes", "python3"],
    [
      "node -e 'require(\"./conf.json\")'",
      "runs-planted-code",
      "node",
      { files: { "conf.json/index.js": NODE_SCRIPT } },
    ],
    [
      "node -e 'require(\"left-pad\")'",
      "runs-planted-code",
      "node",
      { files: { "node_modules/left-pad/index.js": NODE_SCRIPT } },
    ],
    [
      "NODE_OPTIONS='--require ./x.js' node -e 1",
      "runs-planted-code",
      "node",
      { files: { "x.js": NODE_SCRIPT } },
    ],
    ["node -e 1 -r ./x.js", "runs-planted-code", "node", { files: { "x.js": NODE_SCRIPT } }],
    ['node -e \'fs.writeFileSync("new.txt", "a")\'', "changes", "node"],
    // What is behind `\\{` of a formatted text is code; unbuffered, the output is a file.
    [
      'python3 -I -c "f\'\\{__import__(\\"os\\").system(\\"touch new.txt\\"):\\}\'"',
      "changes",
      "python3",
    ],
    [
      'python3 -I -u -c \'import sys; type(sys.stdout.buffer)("new.txt", "w")\'',
      "changes",
      "python3",
    ],
    [
      `node -e 'for (of of [(x) => x]) of["constr" + "uctor"]("fs.writeFileSync(\\"new.txt\\", \\"a\\")")()'`,
      "changes",
      "node",
    ],
    [`node -e '"."\ntypeof /\`/; fs.writeFileSync("new.txt", "a") // \`'`, "changes", "node"],
    [
      'sed -n "$(grep -n one a.txt | cut -d: -f1 | head 1)p" a.txt',
      "changes",
      "sed grep cut",
      { files: { "a.txt": "one\n", 1: "1w new.txt\n" } },
    ],
    ["touch new.txt & wait", "changes", "touch"],
    [
      "find /etc -name hostname -newer /etc/hostname -o -name hosts -exec touch new.txt ';'",
      "changes",
      "find touch",
    ],
    ["getent hosts registry.example", "dials", "getent"],
  ]),
];
