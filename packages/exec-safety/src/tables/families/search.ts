/**
 * Search: programs that look for text in files. Searching the project is a read; its hidden and
 * ignored files is where credentials are.
 */
import type { Binary, BinaryTable } from "../table.js";

const HIDDEN = "secret: also searches hidden or ignored files, where credentials are kept";
const PATTERNS = "read: reads its patterns from another file and shows them with `-v`";
const RUNS = "exec: runs the program it names";

export const search: BinaryTable = {
  grep: grep("grep"),
  egrep: grep("egrep"),
  fgrep: grep("fgrep"),
  rg: {
    flags: `-e,--regexp:pattern -F,--fixed-strings --no-fixed-strings -i,--ignore-case -S,--smart-case -s,--case-sensitive -w,--word-regexp
      -x,--line-regexp -v,--invert-match --no-invert-match -n,--line-number -N,--no-line-number -c,--count --count-matches --include-zero -L,--follow
      -l,--files-with-matches --files-without-match -o,--only-matching -q,--quiet -m,--max-count:number -A,--after-context:number
      -B,--before-context:number -C,--context:number -g,--glob:selection --iglob:selection --glob-case-insensitive -t,--type:text -T,--type-not:text
      --type-add:text --type-clear:text --type-list --files -0,--null --null-data -H,--with-filename -I,--no-filename --heading --no-heading
      --color:text --colors:text -p,--pretty --column --no-column -b,--byte-offset --trim --no-trim --vimgrep --json --no-json -r,--replace:text
      -U,--multiline --no-multiline --multiline-dotall -P,--pcre2 --no-pcre2 --engine:text --auto-hybrid-regex -a,--text --no-text --binary
      --no-binary --crlf -M,--max-columns:number --max-columns-preview -d,--max-depth:number --maxdepth:number --max-filesize:text --sort:text
      --sortr:text --sort-files --stats --no-stats -j,--threads:number --passthru --passthrough --context-separator:text --no-context-separator
      --field-match-separator:text --field-context-separator:text --path-separator:text --line-buffered --block-buffered --one-file-system
      -E,--encoding:text --no-encoding --no-messages --no-ignore-messages --debug --trace --dfa-size-limit:text --regex-size-limit:text --mmap
      --no-mmap --no-config --no-unicode --no-pcre2-unicode --stop-on-nonmatch --hyperlink-format:text --no-require-git --ignore --ignore-vcs
      --no-hidden --no-follow --pcre2-version -V,--version -h,--help -.,--hidden -u,--unrestricted --no-ignore --no-ignore-dot
      --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-parent --no-ignore-vcs`,
    reviewFlags: {
      "--pre:text": "exec: runs the program it names on every file",
      "--pre-glob:text": "exec: belongs to a program that runs on every file",
      "--hostname-bin:text": RUNS,
      "-z,--search-zip": "exec: runs programs that decompress",
      "-f,--file:path": PATTERNS,
      "--ignore-file:path": "read: reads another file",
    },
    operands: "pattern path*",
    operandsWith: { "-e,--files,--type-list": "path*" },
    examples: {
      safe: [
        "rg foo",
        "rg --files",
        "rg -n 'rm -rf' docs",
        "rg --pretty foo",
        "rg -tts -g '!*.test.ts' foo src",
        "rg -A3 -B 3 foo a.ts",
        "rg -e foo -e bar",
        "rg -l foo",
        "rg --no-ignore foo src",
        "rg -uu -g '*.ts' key",
      ],
      review: [
        "rg --pre cat foo",
        "rg --pre=./x foo",
        "rg --hostname-bin ./x a",
        "rg -z foo",
        "rg -nz foo",
        "rg -f /etc/passwd .",
        "rg -uu key",
        "rg --hidden token",
        "rg foo ~",
        "rg -A3 foo",
        "rg ''",
        "rg -g '.env*' x",
        "rg --search foo",
      ],
    },
  },
  ag: {
    flags: `-c,--count --color --nocolor --column -H --heading --noheading -l,--files-with-matches -L,--files-without-matches -m,--max-count:number
      --numbers --nonumbers -o,--only-matching --print-long-lines --passthrough --silent --stats --vimgrep -0,--null -A,--after?:number
      -B,--before?:number -C,--context?:number -a,--all-types -D,--debug --depth:number --filename --nofilename -f,--follow -F,--fixed-strings -Q,--literal
      -g:pattern -G,--file-search-regex:selection -i,--ignore-case -s,--case-sensitive -S,--smart-case --ignore:text -v,--invert-match -w,--word-regexp
      --js --ts --python --html --css --java --go --rust --cpp --cc --ruby --json --md --list-file-types --version --help`,
    reviewFlags: {
      "--pager:text": RUNS,
      "-z,--search-zip": "exec: runs programs that decompress",
      "-p,--path-to-ignore:path": "read: reads another file",
      "-u,--unrestricted,-U,--skip-vcs-ignores,-t,--all-text,--hidden": HIDDEN,
    },
    operands: "pattern? path*",
    examples: {
      safe: ["ag foo src", "ag -l foo"],
      review: ["ag --pager=./x foo", "ag --pag ./x foo", "ag --hidden foo", "ag foo /etc"],
    },
  },
  ack: {
    flags: `-i,--ignore-case -I,--no-ignore-case -S,--smart-case -v,--invert-match -w,--word-regexp -Q,--literal -l,--files-with-matches
      -L,--files-without-matches -o -c,--count -m,--max-count:number -1 -H,--with-filename -h,--no-filename --column -A,--after-context:number
      -B,--before-context:number -C,--context?:number --color --nocolor --group --nogroup -f -g -n,--no-recurse -t,--type:text --ignore-dir:text
      -s --js --ts --python --html --css --java --go --rust --cpp --ruby --json --md --help-types --version --help --noenv --nopager`,
    reviewFlags: {
      "--pager?:text": RUNS,
      "--output:text": "exec: evaluates its text",
      "-x": "read: reads the names of files from a list",
      "--files-from:path": "read: reads the names of files from a list",
      "--ackrc:path": "exec: reads other settings",
    },
    operands: "pattern? path*",
    examples: {
      safe: ["ack foo src"],
      review: ["ack --pager=./x foo", "ack -x foo", "ack foo /etc"],
    },
  },
  ugrep: {
    flags:
      "-r -R -n -i -l -L -c -w -x -v -o -F -E -G -P -e:pattern -A:number -B:number -C:number -g:selection -t:text -H -h -q -s -m:number --color?:text --version --help",
    reviewFlags: {
      "--filter:text": "exec: runs a program on every file",
      "--pager,--view?:text": RUNS,
      "-f,--file:path": PATTERNS,
      "-.,--hidden": HIDDEN,
      "--save-config?:path": "write: writes its settings",
      "--config?:path": "exec: reads other settings",
    },
    operands: "pattern path*",
    operandsWith: { "-e": "path*" },
    examples: {
      safe: ["ugrep -rn foo src"],
      review: ["ugrep --filter='pdf:./x' foo", "ugrep --pager=./x foo"],
    },
  },
};

function grep(name: string): Binary {
  return {
    flags: `-E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp -e,--regexp:pattern -i,--ignore-case -y --no-ignore-case
      -v,--invert-match -w,--word-regexp -x,--line-regexp -c,--count --color?:text --colour?:text -L,--files-without-match
      -l,--files-with-matches -m,--max-count:number -o,--only-matching -q,--quiet,--silent -s,--no-messages -b,--byte-offset -H,--with-filename
      -h,--no-filename --label:text -n,--line-number -T,--initial-tab -u,--unix-byte-offsets -Z,--null -A,--after-context:number
      -B,--before-context:number -C,--context:number -# --group-separator:text --no-group-separator -a,--text --binary-files:text
      -D,--devices:text -d,--directories:text --exclude:text --exclude-dir:text -I --include:selection --include-dir:selection -r,--recursive
      -R,--dereference-recursive --line-buffered -U,--binary -z,--null-data -V,--version --help`,
    reviewFlags: {
      "-f,--file:path": PATTERNS,
      "--exclude-from:path": "read: reads another file",
    },
    operands: "pattern path*",
    operandsWith: { "-e": "path*" },
    examples: {
      safe: [
        `${name} -rn foo src`,
        `${name} -c x a.ts`,
        `${name} -rn 'sudo' .`,
        `${name} -rn foo --include=*.ts .`,
        `${name} -e a -e b x`,
        `${name} -A3 -B 2 x a`,
        `${name} --color=never -oE 'v[0-9]+' a`,
      ],
      review: [
        `${name} -f /etc/passwd x`,
        `${name} --fil=x y`,
        `${name} root /etc/passwd`,
        `${name} KEY .env`,
        `${name} -r --include='.env*' KEY .`,
        `${name} --what x y`,
      ],
    },
  };
}
