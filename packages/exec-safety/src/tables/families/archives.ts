/** Archives: only what lists them, or unpacks to the terminal. */
import { reviewed } from "../table.js";
import { versionRows } from "../shows-version.js";
import type { Binary, BinaryTable } from "../table.js";

const WRITES = "write: packs or unpacks files";
/** Others that write files under the names that an archive holds. */
const UNPACKERS: readonly string[] =
  "7zr unrar rar unar dtrx aunpack atool patool pax unace arj lha cabextract rpm2archive".split(
    " ",
  );
const RUNS = "exec: runs the program it names";

export const archives: BinaryTable = {
  tar: tar("tar"),
  gtar: tar("gtar"),
  bsdtar: tar("bsdtar"),
  unzip: {
    flags: "-l -v -Z -z -t -p -c -q -a -C -L -1 -2 -s -m -h -M",
    reviewFlags: {
      "-T": "write: sets the time of the archive",
      "-d:path": WRITES,
      "-o": WRITES,
      "-P:text": "secret: takes a password",
    },
    operands: "path text*",
    requires: "-l -v -Z -z -t -p -c",
    otherwise: WRITES,
    examples: {
      safe: ["unzip -l a.zip", "unzip -p a.zip b.txt", "unzip -Z1 a.zip"],
      review: [
        "unzip a.zip",
        "unzip -o a.zip",
        "unzip -lT a.zip",
        "unzip -l a.zip -d /x",
        "unzip -l /x/a.zip",
      ],
    },
  },
  zipinfo: {
    flags: "-1 -2 -s -m -l -v -h -M -t -T -z -C",
    operands: "path text*",
    examples: { safe: ["zipinfo -1 a.zip"], review: ["zipinfo /x/a.zip"] },
  },
  zip: {
    review: WRITES,
    reviewFlags: { "-T,--test": "exec: runs a program to test", "-TT,--unzip-command:text": RUNS },
    examples: { safe: [], review: ["zip a.zip b", "zip a.zip b -T -TT 'sh -c id'"] },
  },
  gzip: compressor("gzip"),
  gunzip: compressor("gunzip"),
  bzip2: compressor("bzip2"),
  bunzip2: compressor("bunzip2"),
  xz: compressor("xz"),
  unxz: compressor("unxz"),
  zstd: compressor("zstd"),
  "7z": sevenZip("7z"),
  "7za": sevenZip("7za"),
  "7zz": sevenZip("7zz"),
  ...Object.fromEntries(UNPACKERS.map((name) => [name, reviewed(WRITES, `${name} x a`)] as const)),
  ar: {
    review: WRITES,
    readsArgumentFiles: true,
    subcommands: {
      t: {
        operands: "path text*",
        reviewFlags: { "--plugin:path": RUNS },
        readsArgumentFiles: true,
        examples: { safe: ["ar t a.a"], review: ["ar t /x/a.a"] },
      },
    },
    examples: { safe: ["ar t a.a"], review: ["ar r a.a b.o"] },
  },
  jar: {
    style: "bare",
    flags: "-t,--list -f,--file:path -v,--verbose t f:path v",
    operands: "text*",
    readsArgumentFiles: true,
    requires: "-t t",
    otherwise: WRITES,
    examples: {
      safe: ["jar -tf a.jar", "jar tf a.jar", "jar --version"],
      review: ["jar -xf a.jar", "jar xf a.jar"],
    },
  },
  cpio: reviewed(WRITES, "cpio -o", "cpio -i --to-stdout --rsh-command=./x"),
  rsync: {
    review: "write: copies files, and deletes some where it is told to",
    reviewFlags: {
      "-e,--rsh:text": RUNS,
      "--rsync-path:text": RUNS,
      "--files-from:path": "read: reads a list of files",
    },
    examples: { safe: [], review: ["rsync -a a b", "rsync -e 'sh -c id' a b:"] },
  },
};

function tar(name: string): Binary {
  const rows = versionRows(name, ["--version"]);
  return {
    style: "bare",
    flags: `-t,--list -v,--verbose -z,--gzip,--gunzip,--ungzip -j,--bzip2 -J,--xz -Z --zstd --lzma --lzip --lzop -a,--auto-compress -f,--file:local
      t v z j J Z f:local --full-time --numeric-owner --exclude:text --wildcards --no-wildcards --no-anchored --utc --quoting-style:text
      --show-transformed-names --force-local -w`,
    reviewFlags: {
      "--checkpoint-action:text": RUNS,
      "--checkpoint?:number": "exec: belongs to an action that runs a program",
      "-I,--use-compress-program:text": RUNS,
      "--to-command:text": RUNS,
      "--rsh-command:text": RUNS,
      "--rmt-command:text": RUNS,
      "-F,--info-script,--new-volume-script:text": RUNS,
      "-T,--files-from:path": "read: reads a list of names, which may be flags",
      "-X,--exclude-from:path": "read: reads another file",
      "-C,--directory:path": WRITES,
      "-P,--absolute-names": "write: may write outside of the folder",
      "-x,--extract,--get": WRITES,
      "-c,--create": WRITES,
      "-r,--append": WRITES,
      "-u,--update": WRITES,
      "-A,--catenate,--concatenate": WRITES,
      "-d,--diff,--compare": "read: compares with files outside of the archive",
      "--delete": WRITES,
      "--index-file:path": WRITES,
      "--remove-files": WRITES,
    },
    operands: "text*",
    requires: "-t t",
    otherwise: WRITES,
    examples: {
      safe: [
        `${name} -tf a.tar`,
        `${name} tzf a.tgz`,
        `${name} tvf a.tar src`,
        `${name} --list --file=a.tar`,
        `${name} -tvf a.tar --exclude x`,
        ...rows.safe,
      ],
      review: [
        ...rows.review,
        `${name} xf a.tar`,
        `${name} -xzf a.tgz`,
        `${name} cf x y --checkpoint=1 --checkpoint-action=exec=sh`,
        `${name} -tf a.tar --checkpoint-act=exec=id`,
        `${name} -tf a --to-command=id`,
        `${name} -tf a --use-compress=./x`,
        `${name} -t -I ./x -f a`,
        `${name} -tI./x -f a`,
        `${name} -tf host:a`,
        `${name} -tf /etc/a.tar`,
        `${name} -tf a -T x`,
        `${name} -tPf a`,
      ],
    },
  };
}

/**
 * The last of several modes counts, so that `-l -d` unpacks: `-d` is without harm only in one word
 * with `-c`.
 */
function compressor(name: string): Binary {
  return {
    flags:
      "-l,--list -t,--test -v,--verbose -c,--stdout,--to-stdout -dc -cd -k,--keep -q,--quiet -f,--force -# --robot",
    operands: "path*",
    reviewFlags: {
      "-d,--decompress,--uncompress": WRITES,
      "-o:path": WRITES,
      "-S,--suffix:text": WRITES,
      "--rm": "write: deletes the files that it packs",
      "--output-dir-flat,--output-dir-mirror:path": WRITES,
      "--files?:path": "read: reads the names of files from a file",
      "-D,--filelist,--patch-from:path": "read: reads another file",
    },
    requires: "-l -t -c -dc -cd",
    otherwise: "write: replaces files with packed ones, or the other way round",
    examples: {
      safe: [`${name} -l a`, `${name} -dc a`, `${name} -t a`],
      review: [
        `${name} a`,
        `${name} -d a`,
        `${name} --version a`,
        `${name} -l -d a`,
        `${name} -td a`,
        `${name} -c /etc/shadow`,
      ],
    },
  };
}

function sevenZip(name: string): Binary {
  const list: Binary = {
    flags: "-slt -ba",
    operands: "path text*",
    readsArgumentFiles: true,
    examples: { safe: [`${name} l a.7z`], review: [`${name} l /x/a.7z`, `${name} l a.7z -o/x`] },
  };
  return {
    review: WRITES,
    subcommands: { l: list },
    examples: { safe: [`${name} l a.7z`], review: [`${name} x a.7z`, `${name} a a.7z b`] },
  };
}
