/** Flags that many commands of git share. */

/** Of everything that shows differences. */
export const DIFF = `-p,-u,--patch -s,--no-patch -U,--unified:number --output-indicator-new:text --output-indicator-old:text
  --output-indicator-context:text --raw --patch-with-raw --indent-heuristic --no-indent-heuristic --minimal --patience --histogram --anchored:text
  --diff-algorithm:text --stat?:text --no-stat --stat-width:number --stat-name-width:number --stat-count:number --stat-graph-width:number
  --compact-summary --numstat --shortstat -X,--dirstat?:text --cumulative --dirstat-by-file?:text --summary --patch-with-stat -z --name-only
  --name-status --submodule?:text --color?:text --no-color --color-moved?:text --no-color-moved --color-moved-ws:text --no-color-moved-ws
  --word-diff?:text --word-diff-regex:text --color-words?:text --no-renames --rename-empty --no-rename-empty --check --ws-error-highlight:text
  --full-index --binary --abbrev?:number --no-abbrev -B,--break-rewrites?:text -M,--find-renames?:text -C,--find-copies?:text
  --find-copies-harder -D,--irreversible-delete -l:number --diff-filter:text -S:text -G:text --find-object:text --pickaxe-all --pickaxe-regex -O:path
  --skip-to:text --rotate-to:text -R --relative?:text --no-relative -a,--text --ignore-cr-at-eol --ignore-space-at-eol -b,--ignore-space-change
  -w,--ignore-all-space --ignore-blank-lines -I,--ignore-matching-lines:text --inter-hunk-context:number -W,--function-context --no-ext-diff
  --no-textconv --ignore-submodules?:text --src-prefix:text --dst-prefix:text --no-prefix --default-prefix --line-prefix:text
  --ita-invisible-in-index --ita-visible-in-index`;

/** Those of them that a person has to see. */
export const DIFF_REVIEW: Readonly<Record<string, string>> = {
  "--output:path": "write: writes the file it names",
  "--ext-diff": "exec: runs the program that the settings name for differences",
  "--textconv": "exec: runs the program that the settings name for conversions",
};

/** Of everything that walks through commits. */
export const REVISIONS = `--end-of-options -# -n,--max-count:number --skip:number --since,--after:text --since-as-filter:text --until,--before:text --author:text
  --committer:text --grep-reflog:text --grep:text --all-match --invert-grep -i,--regexp-ignore-case --basic-regexp -E,--extended-regexp
  -F,--fixed-strings -P,--perl-regexp --remove-empty --merges --no-merges --min-parents?:number --max-parents?:number --no-min-parents
  --no-max-parents --first-parent --exclude-first-parent-only --not --all --branches?:text --tags?:text --remotes?:text --glob:text
  --exclude:text --exclude-hidden:text --reflog --alternate-refs --single-worktree --ignore-missing --bisect --stdin --cherry-mark --cherry-pick
  --left-only --right-only --cherry -g,--walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls --full-history --dense --sparse
  --simplify-merges --ancestry-path?:text --date-order --author-date-order --topo-order --reverse --no-walk?:text --do-walk --pretty?:git-format
  --format?:git-format --abbrev-commit --no-abbrev-commit --oneline --encoding?:text --expand-tabs?:number --no-expand-tabs --notes?:text --no-notes
  --show-notes?:text --show-notes-by-default --standard-notes --no-standard-notes --relative-date --date:text --parents --children --left-right
  --graph --no-graph --show-linear-break?:text --no-commit-header --commit-header`;

/** Of `log`, `show`, `reflog` and `whatchanged`. */
export const LOG: string = `${DIFF} ${REVISIONS} --follow --no-decorate --decorate?:text --decorate-refs:text --decorate-refs-exclude:text --clear-decorations
  --source --mailmap --no-mailmap --use-mailmap --no-use-mailmap --full-diff --log-size -L:line-range -c --cc --combined-all-paths -m -t -r
  --diff-merges:text --no-diff-merges --remerge-diff --dd -q,--quiet --root --no-root`;

/** Of commands that list references. */
export const REFERENCES = `--sort:text --format:git-format --color?:text --no-color --contains:revision --no-contains:revision --merged:revision
  --no-merged:revision --points-at:revision --column?:text --no-column -i,--ignore-case --omit-empty`;
