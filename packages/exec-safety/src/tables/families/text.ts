/** Text: programs that print files, or parts of them, in another form. */
import { reviewed, UNPROVEN } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

const CHECKSUM: Binary = {
  flags: `-b,--binary -c,--check -t,--text -z,--zero --tag --ignore-missing --quiet --status --strict -w,--warn -a,--algorithm:text
    -l,--length:number --base64 --raw --untagged --debug --help --version`,
  operands: "path*",
  examples: {
    safe: ["sha256sum a.txt", "md5sum -c --quiet sums.md5", "shasum -a 256 a.txt"],
    review: ["sha256sum /etc/shadow"],
  },
};

const ONE_FILE_OUT = "write: writes to its second file";

export const text: BinaryTable = {
  cat: {
    flags: `-A,--show-all -b,--number-nonblank -e -E,--show-ends -n,--number -s,--squeeze-blank -t -T,--show-tabs -u -v,--show-nonprinting
      --help --version`,
    operands: "path*",
    examples: {
      safe: ["cat a.txt", "cat -n src/a.ts", "cat -- -odd", "cat"],
      review: ["cat /etc/passwd", "cat .env", "cat --what a"],
    },
  },
  bat: bat(),
  batcat: bat(),
  head: {
    flags:
      "-c,--bytes:count -n,--lines:number -q,--quiet,--silent -v,--verbose -z,--zero-terminated -# --help --version",
    operands: "path*",
    operandsWith: { "-c": "path-or-random*" },
    examples: {
      safe: [
        "head -5 a",
        "head -n 20 a b",
        "head -c1k a",
        "head --lines=3 a",
        "head -c 20 /dev/urandom",
      ],
      review: [
        "head ~/.ssh/id_rsa",
        "head -x a",
        "head -c -20 /dev/urandom",
        "head -c 20 /dev/sda",
        "head /dev/random",
      ],
    },
  },
  tail: {
    flags:
      "-c,--bytes:number -n,--lines:number -q,--quiet,--silent -v,--verbose -z,--zero-terminated -r -# --help --version",
    reviewFlags: {
      "-f,-F,--follow?:text": "endless: does not end by itself",
      "--retry": "endless: does not end by itself",
    },
    operands: "path*",
    examples: {
      safe: ["tail -n +3 a", "tail -20 log.txt", "tail -c 100 a"],
      review: ["tail -f log.txt", "tail -nf log", "tail ../x"],
    },
  },
  wc: {
    flags:
      "-c,--bytes -m,--chars -l,--lines -w,--words -L,--max-line-length --total:text --debug --help --version",
    reviewFlags: { "--files0-from:path": "read: reads whatever files a list names" },
    operands: "path*",
    examples: {
      safe: ["wc -l a.ts", "wc", "wc -lw a b"],
      review: ["wc --files0-from=list", "wc --files0 x", "wc -l /etc/hosts"],
    },
  },
  cut: {
    flags: `-b,--bytes:text -c,--characters:text -d,--delimiter:text -f,--fields:text -n -s,--only-delimited -w -z,--zero-terminated
      --complement --output-delimiter:text --help --version`,
    operands: "path*",
    examples: {
      safe: ["cut -d / -f2", "cut -d, -f1,3 a.csv", "cut -c1-10 a"],
      review: ["cut -f1 /etc/passwd", "cut --what a"],
    },
  },
  tr: {
    flags:
      "-c,-C,--complement -d,--delete -s,--squeeze-repeats -t,--truncate-set1 -u --help --version",
    operands: "text+",
    examples: {
      safe: ["tr a-z A-Z", "tr [:lower:] [A-Z]", "tr -d '\\n'", "tr -cs A-Za-z '\\n'"],
      review: ["tr -x a b", "tr"],
    },
  },
  paste: {
    flags: "-d,--delimiters:text -s,--serial -z,--zero-terminated --help --version",
    operands: "path*",
    examples: { safe: ["paste -sd, a", "paste a b"], review: ["paste /etc/passwd"] },
  },
  nl: {
    flags: `-b,--body-numbering:text -d,--section-delimiter:text -f,--footer-numbering:text -h,--header-numbering:text
      -i,--line-increment:number -l,--join-blank-lines:number -n,--number-format:text -p,--no-renumber -s,--number-separator:text
      -v,--starting-line-number:number -w,--number-width:number --help --version`,
    operands: "path*",
    examples: { safe: ["nl -ba src/a.ts"], review: ["nl ~/x"] },
  },
  fold: {
    flags: "-b,--bytes -c,--characters -s,--spaces -w,--width:number -# --help --version",
    operands: "path*",
    examples: { safe: ["fold -w 80 -s a.txt"], review: ["fold /etc/hosts"] },
  },
  fmt: {
    flags:
      "-c,--crown-margin -p,--prefix:text -s,--split-only -t,--tagged-paragraph -u,--uniform-spacing -w,--width:number -g,--goal:number -#",
    operands: "path*",
    examples: { safe: ["fmt -w 72 README.md"], review: ["fmt /etc/hosts"] },
  },
  pr: {
    flags:
      "-a -c -d -F -f -h:text -J -l:number -m -o:number -r -s?:text -S?:text -t -T -v -w:number -W:number -e?:text -i?:text -n?:text -N:number -# -+",
    operands: "path*",
    examples: { safe: ["pr -t -m a b"], review: ["pr /etc/hosts"] },
  },
  comm: {
    flags:
      "-1 -2 -3 -i -z,--zero-terminated --check-order --nocheck-order --output-delimiter:text --total --help --version",
    operands: "path path",
    examples: { safe: ["comm -12 a b"], review: ["comm a /etc/passwd", "comm a b c"] },
  },
  join: {
    flags: `-a:text -e:text -i,--ignore-case -j:text -o:text -t:text -v:text -1:text -2:text -z,--zero-terminated --header --check-order
      --nocheck-order --help --version`,
    operands: "path path",
    examples: { safe: ["join -t, -1 2 -2 1 a b"], review: ["join a /etc/passwd"] },
  },
  column: {
    flags: `-t,--table -s,--separator:text -o,--output-separator:text -c,--output-width:number -C,--table-column:text -n,--table-name:text
      -N,--table-columns:text -R,--table-right:text -W,--table-wrap:text -T,--table-truncate:text -H,--table-hide:text -E,--table-noextreme:text
      -e,--table-header-repeat -d,--table-noheadings -L,--keep-empty-lines -J,--json -x,--fillrows -O,--table-order:text
      -l,--table-columns-limit:number -m,--table-maxout -r,--tree:text -i,--tree-id:text -p,--tree-parent:text -h,--help -V,--version`,
    operands: "path*",
    examples: { safe: ["column -t", "column -s, -t a.csv"], review: ["column -t /etc/passwd"] },
  },
  rev: {
    flags: "-0,--zero -h,--help -V,--version",
    operands: "path*",
    examples: { safe: ["rev a"], review: ["rev /etc/hosts"] },
  },
  tac: {
    flags: "-b,--before -r,--regex -s,--separator:text --help --version",
    operands: "path*",
    examples: { safe: ["tac log.txt"], review: ["tac /etc/hosts"] },
  },
  sort: {
    flags: `-b,--ignore-leading-blanks -d,--dictionary-order -f,--ignore-case -g,--general-numeric-sort -i,--ignore-nonprinting -M,--month-sort
      -h,--human-numeric-sort -n,--numeric-sort -R,--random-sort -r,--reverse -V,--version-sort --sort:text -c -C --check?:text -k,--key:text
      -m,--merge -s,--stable -S,--buffer-size:text -t,--field-separator:text -u,--unique -z,--zero-terminated --batch-size:number
      --parallel:number --debug --help --version`,
    reviewFlags: {
      "-o,--output:path": "write: puts its result into the file it names",
      "--compress-program:text": "exec: runs the program it names",
      "-T,--temporary-directory:path": "write: puts files into the folder it names",
      "--files0-from:path": "read: reads whatever files a list names",
      "--random-source:path": "read: reads another file",
    },
    operands: "path*",
    examples: {
      safe: [
        "sort a",
        "sort -u -k2,2n -t: a",
        "sort -rn",
        "sort -nr -k 3 a b",
        "sort ./*.txt",
        "sort -- *.txt",
      ],
      review: [
        "sort -o x y",
        "sort -ox y",
        "sort -uo x y",
        "sort --out=x y",
        "sort --compress-prog ./x y",
        "sort *",
        "sort /etc/passwd",
      ],
    },
  },
  uniq: {
    flags: `-c,--count -d,--repeated -D --all-repeated?:text -f,--skip-fields:number -i,--ignore-case -s,--skip-chars:number -u,--unique
      -z,--zero-terminated -w,--check-chars:number --group?:text -# --help --version`,
    operands: "path?",
    excess: ONE_FILE_OUT,
    examples: { safe: ["uniq -c", "uniq -d a"], review: ["uniq a b", "uniq /etc/passwd"] },
  },
  expand: {
    flags: "-i,--initial -t,--tabs:text -# --help --version",
    operands: "path*",
    examples: { safe: ["expand -t 2 a"], review: ["expand /etc/hosts"] },
  },
  unexpand: {
    flags: "-a,--all --first-only -t,--tabs:text --help --version",
    operands: "path*",
    examples: { safe: ["unexpand -a a"], review: ["unexpand /etc/hosts"] },
  },
  shuf: {
    flags:
      "-e,--echo -i,--input-range:text -n,--head-count:number -r,--repeat -z,--zero-terminated --help --version",
    reviewFlags: {
      "-o,--output:path": "write: puts its result into the file it names",
      "--random-source:path": "read: reads another file",
    },
    operands: "path?",
    operandsWith: { "-e": "text*" },
    examples: {
      safe: ["shuf -n 3 a", "shuf -e a b c", "shuf -i 1-9"],
      review: ["shuf a -o b", "shuf --out b a"],
    },
  },
  strings: {
    flags: `-a,--all -f,--print-file-name -n,--bytes:number -t,--radix:text -o -e,--encoding:text -d,--data -w,--include-all-whitespace
      -s,--output-separator:text -T,--target:text -U,--unicode:text -# --help --version`,
    operands: "path*",
    readsArgumentFiles: true,
    examples: {
      safe: ["strings -n 8 a.bin", "strings ./*.bin"],
      review: ["strings /proc/1/environ", "strings @a", "strings *", "strings ./*"],
    },
  },
  od: {
    flags: `-A,--address-radix:text -j,--skip-bytes:number -N,--read-bytes:count -S:number --strings?:number -t,--format:text
      -v,--output-duplicates -w,--width?:number --endian:text -a -b -c -d -f -i -l -o -s -x --help --version`,
    operands: "path*",
    operandsWith: { "-N": "path-or-random*" },
    examples: {
      safe: ["od -c a", "od -An -tx1 -N4 a", "od -An -N4 -tu4 /dev/urandom"],
      review: ["od /dev/mem", "od /dev/urandom", "od -N4 /dev/mem"],
    },
  },
  hexdump: hexdump("hexdump"),
  hd: hexdump("hd"),
  xxd: {
    style: "words",
    flags: `-a -autoskip -b -bits -C -capitalize -c:number -cols:number -e -E -EBCDIC -g:number -groupsize:number -h -help -i -include -l:number
      -len:number -n:text -name:text -o:number -p -ps -postscript -plain -s:text -seek:text -u -v -version -d`,
    reviewFlags: { "-r,-revert": "write: turns a dump back into bytes" },
    operands: "path?",
    excess: ONE_FILE_OUT,
    examples: {
      safe: ["xxd a", "xxd -l 64 a", "xxd -p"],
      review: ["xxd a b", "xxd -r -p a", "xxd -r"],
    },
  },
  base64: encoder("base64"),
  base32: encoder("base32"),
  iconv: {
    flags:
      "-f,--from-code:text -t,--to-code:text -l,--list -c -s,--silent --verbose --help --usage -V,--version",
    reviewFlags: { "-o,--output:path": "write: puts its result into the file it names" },
    operands: "path*",
    examples: {
      safe: ["iconv -f latin1 -t utf-8 a"],
      review: ["iconv -f latin1 -t utf-8 a -o b", "iconv --out=b a"],
    },
  },
  cmp: {
    flags:
      "-b,--print-bytes -i,--ignore-initial:text -l,--verbose -n,--bytes:number -s,--quiet,--silent --help -v,--version",
    operands: "path path? number? number?",
    examples: { safe: ["cmp -s a b"], review: ["cmp a /etc/passwd"] },
  },
  diff: {
    flags: `-q,--brief -s,--report-identical-files -c --context?:number -C:number -u --unified?:number -U:number --normal -e,--ed -n,--rcs
      -y,--side-by-side -W,--width:number --left-column --suppress-common-lines -p,--show-c-function -F,--show-function-line:text -L,--label:text
      -t,--expand-tabs -T,--initial-tab --tabsize:number --suppress-blank-empty -r,--recursive --no-dereference -N,--new-file
      -P,--unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case -x,--exclude:text -S,--starting-file:text -i,--ignore-case
      -E,--ignore-tab-expansion -Z,--ignore-trailing-space -b,--ignore-space-change -w,--ignore-all-space -B,--ignore-blank-lines
      -I,--ignore-matching-lines:text -a,--text --strip-trailing-cr -D,--ifdef:text --line-format:text --old-line-format:text
      --new-line-format:text --unchanged-line-format:text --old-group-format:text --new-group-format:text --changed-group-format:text
      --unchanged-group-format:text -d,--minimal --horizon-lines:number -H,--speed-large-files --color?:text --palette:text --help -v,--version -#`,
    reviewFlags: {
      "-l,--paginate": "exec: passes its result through another program",
      "-X,--exclude-from:path": "read: reads another file",
      "--from-file:path": "read: compares one file with all others",
      "--to-file:path": "read: compares one file with all others",
    },
    operands: "path path+",
    examples: {
      safe: [
        "diff a b",
        "diff -u a b",
        "diff -rq src lib",
        "diff -U3 a b",
        "diff -y --color=always a b",
        "diff ./*.txt",
      ],
      review: ["diff -l a b", "diff a /etc/passwd", "diff a ~/b"],
    },
  },
  diff3: {
    flags: "-A -e -E -3 -x -X -i -m -T -a --strip-trailing-cr -L:text",
    operands: "path path path",
    examples: { safe: ["diff3 a b c"], review: ["diff3 a b /etc/c"] },
  },
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  shasum: CHECKSUM,
  md5: reviewed(UNPROVEN, "md5 -q a"),
  cksum: CHECKSUM,
  sum: {
    flags: "-r -s,--sysv --help --version",
    operands: "path*",
    examples: { safe: ["sum a"], review: ["sum /etc/passwd"] },
  },
  zcat: {
    flags: "-f,--force -q,--quiet -v,--verbose -h,--help -V,--version",
    operands: "path*",
    examples: { safe: ["zcat a.gz"], review: ["zcat /var/log/x.gz"] },
  },
  bzcat: {
    flags: "-s,--small -h,--help",
    operands: "path*",
    examples: { safe: ["bzcat a.bz2"], review: ["bzcat /var/log/x.bz2"] },
  },
  xzcat: {
    flags: "-q,--quiet -h,--help -V,--version",
    operands: "path*",
    examples: { safe: ["xzcat a.xz"], review: ["xzcat /var/log/x.xz"] },
  },
  zstdcat: {
    flags: "-q,--quiet -h,--help -V,--version",
    operands: "path*",
    examples: { safe: ["zstdcat a.zst"], review: ["zstdcat /var/log/x.zst"] },
  },
  numfmt: {
    flags: `-d,--delimiter:text --field:text --format:text --from:text --from-unit:text --grouping --header?:number --invalid:text --padding:number
      --round:text --suffix:text --to:text --to-unit:text -z,--zero-terminated --debug --help --version`,
    operands: "text*",
    examples: { safe: ["numfmt --to=iec 1048576"], review: ["numfmt --what 1"] },
  },
  tsort: {
    flags: "--help --version",
    operands: "path?",
    examples: { safe: ["tsort a"], review: ["tsort /etc/x"] },
  },
};

function bat(): Binary {
  return {
    flags: `-n,--number -p,--plain --style:text --color:text -l,--language:text -r,--line-range:text -H,--highlight-line:text --theme:text
      --tabs:number --wrap:text --decorations:text --terminal-width:number --italic-text:text -A,--show-all -f,--force-colorization
      -d,--diff --diff-context:number -L,--list-languages --list-themes -s,--squeeze-blank -S,--chop-long-lines -u,--unbuffered --file-name:text
      -m,--map-syntax:text --paging=never -P --no-config -h,--help -V,--version`,
    reviewFlags: {
      "--pager:text": "exec: runs the program it names",
      "--paging:text": "exec: runs the pager that the environment names",
    },
    operands: "path*",
    pagesUnless: "--paging=never",
    examples: {
      safe: ["bat -p a.ts", "bat --paging=never -r 1:20 a.ts"],
      review: ["bat --pager=./x a", "bat --paging=always a", "bat ~/.netrc"],
    },
  };
}

function hexdump(name: string): Binary {
  return {
    flags: `-b,--one-byte-octal -X,--one-byte-hex -c,--one-byte-char -C,--canonical -d,--two-bytes-decimal -e,--format:text -L,--color?:text
      -n,--length:number -o,--two-bytes-octal -s,--skip:text -v,--no-squeezing -x,--two-bytes-hex -h,--help -V,--version`,
    reviewFlags: { "-f,--format-file:path": "read: reads another file" },
    operands: "path*",
    examples: {
      safe: [`${name} -C a`, `${name} -n 16 a`],
      review: [`${name} /dev/sda`, `${name} -f x a`],
    },
  };
}

function encoder(name: string): Binary {
  return {
    flags: "-d,-D,--decode -i,--ignore-garbage -w,--wrap:number -b,--break:number --help --version",
    reviewFlags: { "-o,--output:path": "write: puts its result into the file it names" },
    operands: "path?",
    examples: {
      safe: [`${name} a`, `${name} -d`, `${name} -w0 a`],
      review: [`${name} ~/.ssh/id_rsa`, `${name} a -o b`, `${name} --out b a`],
    },
  };
}
