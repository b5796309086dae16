/** Git's commands for scripts: names, objects, references. */
import type { BinaryTable } from "../table.js";
import { DIFF_REVIEW, REFERENCES, REVISIONS } from "./git-flags.js";

const OTHER_FILE = "read: reads another file";

export const gitPlumbing: BinaryTable = {
  "rev-parse": {
    flags: `--abbrev-ref?:text --short?:number --verify -q,--quiet --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir
      --absolute-git-dir --git-common-dir --git-path:text --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository
      --show-object-format?:text --show-ref-format --symbolic --symbolic-full-name --all --branches?:text --tags?:text --remotes?:text --glob:text
      --exclude:text --default:text --revs-only --no-revs --flags --no-flags --not --sq --since,--after:text --until,--before:text
      --disambiguate:text --path-format:text --local-env-vars --end-of-options`,
    operands: "text*",
    examples: {
      safe: [
        "git rev-parse --abbrev-ref HEAD",
        "git rev-parse --short HEAD",
        "git rev-parse --show-toplevel",
      ],
      review: ["git rev-parse --parseopt"],
    },
  },
  "rev-list": {
    flags: `${REVISIONS} --count --objects --disk-usage?:text --quiet --timestamp --header --in-commit-order --filter?:text --missing?:text --max-age:number
      --min-age:number --unpacked --objects-edge --use-bitmap-index`,
    reviewFlags: DIFF_REVIEW,
    operands: "revision*",
    examples: { safe: ["git rev-list --count HEAD"], review: ["git rev-list --what HEAD"] },
  },
  "ls-files": {
    flags: `-c,--cached -d,--deleted -m,--modified -o,--others -i,--ignored -s,--stage --directory --no-empty-directory -u,--unmerged -k,--killed -z -v
      -t -f --error-unmatch --with-tree:text --full-name --recurse-submodules --abbrev?:number --debug --eol --format:text --sparse --deduplicate
      --resolve-undo --exclude-standard -x,--exclude:text --exclude-per-directory:text`,
    reviewFlags: { "-X,--exclude-from:path": OTHER_FILE },
    operands: "revision*",
    examples: {
      safe: ["git ls-files", "git ls-files -z -- '*.ts'", "git ls-files -o --exclude-standard"],
      review: ["git ls-files -X /etc/passwd", "git ls-files --exclude-f x"],
    },
  },
  "ls-tree": {
    flags:
      "-d -r -t -l,--long -z --name-only,--name-status --object-only --full-name --full-tree --abbrev?:number --format:text",
    operands: "revision+",
    examples: {
      safe: ["git ls-tree -r --name-only HEAD src"],
      review: ["git ls-tree --what HEAD"],
    },
  },
  "cat-file": {
    flags: `-e -p -t -s --batch?:text --batch-check?:text --batch-command?:text --batch-all-objects --buffer --follow-symlinks --unordered
      --use-mailmap --no-use-mailmap --mailmap -z -Z --allow-unknown-type`,
    reviewFlags: {
      "--textconv": "exec: runs the program that the settings name for conversions",
      "--filters": "exec: runs the programs that the settings name for conversions",
      "--path:text": "exec: belongs to a conversion",
    },
    operands: "revision*",
    examples: {
      safe: ["git cat-file -p HEAD", "git cat-file -t HEAD:src"],
      review: [
        "git cat-file --textconv HEAD:a",
        "git cat-file --filters HEAD:a",
        "git cat-file -p HEAD:.env",
      ],
    },
  },
  describe: {
    flags: `--all --tags --contains --abbrev?:number --candidates:number --exact-match --debug --long --match:text --exclude:text --always
      --first-parent --dirty?:text --broken?:text`,
    operands: "revision*",
    examples: { safe: ["git describe --tags --always --dirty"], review: ["git describe --what"] },
  },
  "name-rev": {
    flags:
      "--tags --refs:text --exclude:text --all --annotate-stdin --name-only --no-undefined --always",
    operands: "revision*",
    examples: { safe: ["git name-rev HEAD"], review: ["git name-rev --what"] },
  },
  "merge-base": {
    flags: "-a,--all --octopus --independent --is-ancestor --fork-point",
    operands: "revision+",
    examples: { safe: ["git merge-base main HEAD"], review: ["git merge-base --what"] },
  },
  "for-each-ref": {
    flags: `${REFERENCES} --count:number -s,--shell -p,--perl --python --tcl --exclude:text --include-root-refs`,
    operands: "text*",
    examples: {
      safe: ["git for-each-ref --sort=-committerdate --count=5 refs/heads"],
      review: ["git for-each-ref --what", "git for-each-ref --format='%(signature:key)'"],
    },
  },
  "show-ref": {
    flags:
      "--head --heads --branches --tags -d,--dereference -s,--hash?:number --verify --exists --abbrev?:number -q,--quiet --exclude-existing?:text",
    operands: "text*",
    examples: { safe: ["git show-ref --tags"], review: ["git show-ref --what"] },
  },
  "show-branch": {
    flags:
      "-r,--remotes -a,--all --current --topo-order --date-order --sparse --list --independent --no-name --sha1-name --topics --color?:text --no-color",
    operands: "revision*",
    examples: { safe: ["git show-branch -a"], review: ["git show-branch --what"] },
  },
  "symbolic-ref": {
    flags: "-q,--quiet --short --recurse --no-recurse",
    reviewFlags: {
      "-d,--delete": "change: deletes a reference",
      "-m:text": "change: moves a reference",
    },
    operands: "text",
    excess: "change: moves a reference",
    examples: {
      safe: ["git symbolic-ref --short HEAD"],
      review: ["git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d x"],
    },
  },
  "count-objects": {
    flags: "-v,--verbose -H,--human-readable",
    examples: { safe: ["git count-objects -vH"], review: ["git count-objects x"] },
  },
  "check-ignore": {
    flags: "-v,--verbose -q,--quiet --no-index -n,--non-matching --stdin -z",
    operands: "text*",
    examples: { safe: ["git check-ignore -v dist .env"], review: ["git check-ignore --what"] },
  },
  "check-attr": {
    flags: "-a,--all --cached --source:text --stdin -z",
    operands: "text*",
    examples: { safe: ["git check-attr -a src/a.ts"], review: ["git check-attr --what"] },
  },
  "check-ref-format": {
    flags: "--branch --normalize --allow-onelevel --refspec-pattern",
    operands: "text",
    examples: { safe: ["git check-ref-format --branch x"], review: ["git check-ref-format"] },
  },
  "hash-object": {
    flags: "-t:text --stdin --literally --no-filters",
    reviewFlags: {
      "-w": "change: writes an object",
      "--path:text": "exec: runs the programs that the settings name for conversions",
    },
    operands: "path*",
    examples: {
      safe: ["git hash-object --no-filters a"],
      review: ["git hash-object -w a", "git hash-object /etc/passwd"],
    },
  },
  fsck: {
    flags: `--full --no-full --strict --dangling --no-dangling --unreachable --root --tags --cache --reflogs --no-reflogs --connectivity-only
      --name-objects --progress --no-progress -v,--verbose`,
    reviewFlags: { "--lost-found": "change: writes what it finds" },
    operands: "text*",
    examples: { safe: ["git fsck --no-progress"], review: ["git fsck --lost-found"] },
  },
  var: {
    reviewFlags: {
      "-l": "secret: shows all settings, and addresses and headers among them may hold a token",
    },
    operands: "text?",
    examples: { safe: ["git var GIT_EDITOR"], review: ["git var --what", "git var -l"] },
  },
  version: {
    flags: "--build-options",
    examples: { safe: ["git version"], review: ["git version x"] },
  },
};
