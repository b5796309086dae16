/**
 * Data: programs with a small language of their own: sed, awk, jq and the like. What each language
 * may hold is in ../languages/.
 */
import type { Binary, BinaryTable } from "../table.js";

const IN_PLACE = "write: changes files in place";
const FROM_FILE = "exec: reads its program from a file";

export const data: BinaryTable = {
  sed: sed("sed"),
  gsed: sed("gsed"),
  awk: awk("awk"),
  gawk: awk("gawk"),
  mawk: awk("mawk"),
  nawk: awk("nawk"),
  jq: {
    flags: `-r,--raw-output -j,--join-output -a,--ascii-output -c,--compact-output -s,--slurp -n,--null-input -R,--raw-input -e,--exit-status
      -S,--sort-keys -C,--color-output -M,--monochrome-output --tab --indent:number --unbuffered --stream --stream-errors --seq --raw-output0
      --arg:text:text --argjson:text:text --args --jsonargs -h,--help -V,--version --build-configuration`,
    reviewFlags: {
      "-f,--from-file:path": FROM_FILE,
      "-L,--library-path:path": "exec: reads libraries from the folder it names",
      "--rawfile,--slurpfile:text:path": "read: reads another file",
    },
    operands: "jq path*",
    examples: {
      safe: [
        "jq . package.json",
        "jq -r '.scripts | keys[]' package.json",
        "jq --arg v 1 '.a[$v]' a.json",
        "jq '.env' a.json",
        "jq 'select(.name == \"env\")' a",
        "jq -nr '1+1'",
      ],
      review: [
        "jq env",
        "jq '$ENV.TOKEN' a",
        "jq -n input_filename",
        "jq 'include \"x\"; .' a",
        "jq -f x a",
        "jq --rawfile a /etc/passwd . b",
        "jq --slurpfile a x . b",
        "jq -L x . a",
        "jq . ~/x.json",
        "jq '\"\\(env.X)\"' a",
        "jq '. # \"\n| env # \"' a",
      ],
    },
  },
  yq: {
    flags: `-r,--unwrapScalar?:text --raw-output -j,--tojson -c,--compact-output --slurp -n,--null-input -e,--exit-status -S --sort-keys -C,--colors
      -M,--no-colors -P,--prettyPrint -I,--indent:number -o,--output-format:text -p,--input-format:text -N,--no-doc -y --yaml-output -Y -t -x
      --arg:text:text --argjson:text:text -0,--nul-output --header-preprocess?:text --xml-attribute-prefix:text --xml-content-name:text -v,--verbose
      -V,--version -h,--help`,
    reviewFlags: {
      "-i,--inplace,--in-place": IN_PLACE,
      "-s,--split-exp:text": "write: writes many files",
      "--from-file,--split-exp-file,--expression-file:path": FROM_FILE,
    },
    operands: "yq path*",
    subcommands: {
      eval: yqEvaluation("eval"),
      e: yqEvaluation("e"),
      "eval-all": yqEvaluation("eval-all"),
      ea: yqEvaluation("ea"),
    },
    examples: {
      safe: [
        "yq .name a.yml",
        "yq -o json . a.yml",
        "yq -r '.a[] | .b' a.yml",
        "yq eval '.a' a.yml",
      ],
      review: [
        "yq -i '.a = 1' a.yml",
        "yq -s .a a.yml",
        "yq --split-exp=.a a.yml",
        "yq 'load(\"x\")' a.yml",
        "yq 'env(TOKEN)' a.yml",
        "yq strenv(X) a",
        "yq . /etc/x.yml",
        "yq eval -i .a a.yml",
      ],
    },
  },
  xmllint: {
    style: "words",
    flags:
      "--noout --format --xpath:text --nonet --recover --huge --pretty:number --noblanks --nocdata --version --html --xmlout --dropdtd --nowarning --timing --stream",
    reviewFlags: {
      "--output,-o:path": "write: writes a file",
      "--shell": "exec: opens a shell of its own",
      "--load-trace": "read: reads other files",
    },
    operands: "local*",
    examples: {
      safe: ["xmllint --noout a.xml", "xmllint --xpath //a a.xml"],
      review: [
        "xmllint --output b a.xml",
        "xmllint --shell a.xml",
        "xmllint --schema x a.xml",
        "xmllint --noent a.xml",
        "xmllint http://x.example/a",
      ],
    },
  },
  bc: {
    flags: "-l,--mathlib -q,--quiet -s,--standard -w,--warn -v,--version -h,--help",
    examples: { safe: ["bc -l", "bc"], review: ["bc script.bc"] },
  },
  dc: {
    review: "exec: can run other programs with `!`",
    examples: { safe: [], review: ["dc -e '!id'", "dc -e '1 1 + p'"] },
  },
};

function sed(name: string): Binary {
  return {
    flags: `-n,--quiet,--silent --debug -e,--expression:sed -E,-r,--regexp-extended -l,--line-length:number --posix -s,--separate --sandbox
      -u,--unbuffered -z,--null-data,--zero-terminated -a -b,--binary --follow-symlinks --help --version`,
    reviewFlags: {
      "-i,--in-place?:text": IN_PLACE,
      "-I?:text": IN_PLACE,
      "-f,--file:path": FROM_FILE,
    },
    operands: "sed path*",
    operandsWith: { "-e": "path*" },
    examples: {
      safe: [
        `${name} -n '1,120p' a.ts`,
        `${name} 's/e/w/g' a`,
        `${name} -e s/a/b/ -e '/x/d' a`,
        `${name} -nE '/^func/,/^}/p' a`,
        `${name} '$!N;P;D' a`,
        `${name} ':a;N;$!ba;s/\\n/ /g' a`,
        `${name} 's|/|w|;s,e,f,2p' a`,
        `${name} 's/[[:space:]]*$//' a`,
        `${name} -n '$=' a`,
        `${name} 5q a`,
        `${name} '1~2d;/a/I!p' a`,
        `${name} '1i head' a`,
      ],
      review: [
        `${name} -i s/a/b/ a`,
        `${name} -ni s/a/b/ a`,
        `${name} -i.bak s/a/b/ a`,
        `${name} --in s/a/b/ a`,
        `${name} '1e id' a`,
        `${name} e a`,
        `${name} 's/a/b/e' a`,
        `${name} 's,a,b,ge' a`,
        `${name} 's/a/b/w out' a`,
        `${name} -n 'w out' a`,
        `${name} -e'w f' a`,
        `${name} '/x/{p;w f\n}' a`,
        `${name} 'r /etc/passwd' a`,
        `${name} 'R x' a`,
        `${name} 'W x' a`,
        `${name} -f x a`,
        `${name} 's/[/]w x/' a`,
        `${name} p /etc/passwd`,
        `${name} -n p a -i`,
        `${name} '1!{e\n}' a`,
      ],
    },
  };
}

function awk(name: string): Binary {
  return {
    style: "first",
    flags: `-F,--field-separator:text -v,--assign:text -b,--characters-as-bytes -c,--traditional -P,--posix -r,--re-interval -S,--sandbox -t,--lint-old
      -k,--csv -V,--version -version -h,--help`,
    reviewFlags: {
      "-f,--file:path": FROM_FILE,
      "-e,--source:text": "exec: takes its program in pieces",
      "-E,--exec:path": FROM_FILE,
      "-i,--include:text": FROM_FILE,
      "-l,--load:text": "exec: loads an extension",
      "-d,--dump-variables?:text": "write: writes a file",
      "-o,--pretty-print?:text": "write: writes a file",
      "-p,--profile?:text": "write: writes a file",
      "-D,--debug?:text": "exec: opens the debugger",
    },
    operands: "awk path*",
    examples: {
      safe: [
        `${name} '{print $1}' a`,
        `${name} -F: '{ print $1, $NF }' a`,
        `${name} '{ print "> " $1 }' a`,
        `${name} 'NR==1 || /foo/ {n++} END {print n}' a`,
        `${name} '$3 > 10 && $2 ~ /^x/' a`,
        `${name} -F, -v n=2 'NR>1{s+=$n} END{printf "%.2f\\n", s/NR}' a`,
        `${name} '!seen[$0]++' a`,
        `${name} 'BEGIN{for(i=0;i<3;i++) print i}'`,
        `${name} '/start/,/end/' a`,
        `${name} '{gsub(/a/,"b"); print toupper(substr($0,1,5))}' a`,
        `${name} 'length > 80' a`,
      ],
      review: [
        `${name} 'BEGIN {system("id")}'`,
        `${name} '{print > "x"}' a`,
        `${name} '{print $1 >> $2}' a`,
        `${name} '{print $1,\n$2 > "x"}' a`,
        `${name} '{print | "sh"}' a`,
        `${name} 'BEGIN{"id" | getline x}'`,
        `${name} 'BEGIN{getline x < "/etc/passwd"}'`,
        `${name} 'BEGIN{print ENVIRON["TOKEN"]}'`,
        `${name} 'BEGIN{print |& "/inet/tcp/0/h/80"}'`,
        `${name} -f x a`,
        `${name} -i inplace '{print}' a`,
        `${name} -l x '{print}'`,
        `${name} '@load "x"'`,
        `${name} 'BEGIN{f="system";@f("id")}'`,
        `${name} 'BEGIN{ARGV[1]="/etc/passwd"}'`,
        `${name} 'BEGIN{if (1) /"/; system("id") # "\n}'`,
        `${name} '{x = a++ /"/; system("id") # "\n}'`,
        `${name} '{print}' /etc/passwd`,
      ],
    },
  };
}

function yqEvaluation(name: string): Binary {
  return {
    flags: `-r,--unwrapScalar?:text -n,--null-input -e,--exit-status -C,--colors -M,--no-colors -P,--prettyPrint -I,--indent:number
      -o,--output-format:text -p,--input-format:text -N,--no-doc -j,--tojson -v,--verbose -0,--nul-output -h,--help`,
    reviewFlags: {
      "-i,--inplace": IN_PLACE,
      "-s,--split-exp:text": "write: writes many files",
      "--from-file:path": FROM_FILE,
    },
    operands: "yq path*",
    examples: {
      safe: [`yq ${name} .a a.yml`],
      review: [`yq ${name} -i .a a.yml`, `yq ${name} 'load("x")' a.yml`],
    },
  };
}
