/** Files: programs that list files and tell about them. */
import { reviewed, UNPROVEN } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

const OTHER_NAMES = "read: reads the names of files from a file";
const RUNS_ON_MATCHES = "exec: runs another program on what it finds";

const LS: Binary = {
  flags: `-a,--all -A,--almost-all --author -b,--escape --block-size:text -B,--ignore-backups -c -C --color?:text -d,--directory -D,--dired -e -f -F
    --classify?:text -g -G,--no-group -h,--human-readable --si -H,--dereference-command-line --dereference-command-line-symlink-to-dir
    --hide:text --hyperlink?:text --indicator-style:text -i,--inode -I,--ignore:text -k,--kibibytes -l -L,--dereference -m -n,--numeric-uid-gid
    -N,--literal -o -O -p -q,--hide-control-chars --show-control-chars -Q,--quote-name --quoting-style:text -r,--reverse -R,--recursive
    -s,--size -S --sort:text --time:text --time-style:text --full-time --file-type --group-directories-first --format:text --zero -t -T -u -U -v
    -w,--width:number -W -x -X -Z,--context -1 -@ --help --version`,
  operands: "named*",
  examples: {
    safe: [
      "ls",
      "ls -la",
      "ls -1 src",
      "ls *.ts",
      "ls --color=never -lhS lib",
      "ls -ld /etc",
      "ls /usr/include/*.h",
    ],
    review: ["ls /", "ls /tmp", "ls /etc/shadow", "ls ~", "ls --what", "ls .."],
  },
};

const EZA: Binary = {
  flags: `-1,--oneline -l,--long -G,--grid -x,--across -R,--recurse -T,--tree -F,--classify?:text --color:text --colour:text --color-scale?:text
    --icons?:text --no-icons -a,--all -A,--almost-all -d,--list-dirs -L,--level:number -r,--reverse -s,--sort:text
    --group-directories-first -D,--only-dirs -f,--only-files -I,--ignore-glob:text --git-ignore -b,--binary -B,--bytes -g,--group -h,--header
    -H,--links -i,--inode -m,--modified -n,--numeric -S,--blocksize -t,--time:text -u,--accessed -U,--created --time-style:text
    --no-permissions -o,--octal-permissions --no-filesize --no-user --no-time --git --no-git --hyperlink -w,--width:number -@,--extended -v,--version
    --help`,
  operands: "named*",
  examples: { safe: ["exa -la --git", "exa -T -L 2 src"], review: ["exa /tmp"] },
};

export const files: BinaryTable = {
  ls: LS,
  dir: LS,
  vdir: LS,
  // The heir of exa, which was not run: its flags are the same, its code is not.
  eza: reviewed(UNPROVEN, "eza -la --git"),
  exa: EZA,
  lsd: EZA,
  stat: {
    flags:
      "-L,--dereference -f,--file-system --cached:text -c,--format:text --printf:text -t,--terse -x -s -n --help --version",
    operands: "named+",
    examples: {
      safe: ["stat a.ts", "stat -c %s a b", "stat --format='%U %n' src"],
      review: ["stat /etc/passwd", "stat /var/x"],
    },
  },
  file: {
    flags: `-b,--brief -i,--mime --mime-type --mime-encoding --apple --extension -F,--separator:text -h,--no-dereference -I -L,--dereference
      -k,--keep-going -l,--list -n,--no-buffer -N,--no-pad -r,--raw -s,--special-files -0,--print0 -e,--exclude:text --exclude-quiet:text
      -P,--parameter:text -E -v,--version --help`,
    reviewFlags: {
      "-C,--compile": "write: writes a compiled list",
      "-m,--magic-file:path": "read: reads another file",
      "-f,--files-from:path": OTHER_NAMES,
      "-z,--uncompress": "exec: runs programs that decompress",
      "-Z,--uncompress-noreport": "exec: runs programs that decompress",
    },
    operands: "path*",
    examples: {
      safe: ["file a.bin", "file -b --mime-type a b"],
      review: ["file -C -m x", "file -f list", "file -z a", "file /etc/passwd"],
    },
  },
  du: {
    flags: `-0,--null -a,--all --apparent-size -A -B,--block-size:text -b,--bytes -c,--total -D,--dereference-args -d,--max-depth:number -g -H
      -h,--human-readable --inodes -k -L,--dereference -l,--count-links -m -P,--no-dereference -S,--separate-dirs --si -s,--summarize
      -t,--threshold:text --time?:text --time-style:text --exclude:text -x,--one-file-system --help --version`,
    reviewFlags: {
      "--files0-from:path": OTHER_NAMES,
      "-X,--exclude-from:path": "read: reads another file",
    },
    operands: "path*",
    examples: {
      safe: ["du -sh .", "du -sh ./*", "du -sh */", "du -h -d 1 src"],
      review: ["du -sh /", "du --files0-from=x", "du ~"],
    },
  },
  df: {
    flags: `-a,--all -B,--block-size:text --total -h,--human-readable -H,--si -i,--inodes -k -l,--local --no-sync --output?:text -P,--portability
      -t,--type:text -T,--print-type -v -x,--exclude-type:text --help --version`,
    reviewFlags: { "--sync": "change: writes what is not yet on the disk" },
    operands: "text*",
    examples: { safe: ["df", "df -h .", "df -hT /"], review: ["df --sync"] },
  },
  tree: {
    style: "apart",
    flags: `-a -d -l -f -x -L:number -P:text -I:text --ignore-case --matchdirs --metafirst --prune --info --noreport --charset:text
      --filelimit:number -q -N -Q -p -u -g -s -h --si --du -D --timefmt:text -F --inodes --device -v -t -c -U -r --dirsfirst --filesfirst --sort:text
      -i -A -S -n -C -X -J -H:text -T:text --nolinks --gitignore --help --version`,
    reviewFlags: {
      "-o:path": "write: puts its result into the file it names",
      "-R": "write: may write a file into every folder",
      "--fromfile": OTHER_NAMES,
    },
    operands: "named*",
    examples: {
      safe: ["tree", "tree -L 2 src", "tree -aI 'node_modules|.git'"],
      review: [
        "tree -o x",
        "tree -ao x",
        "tree -Po a x",
        "tree -Lo 2 x",
        "tree -R -H . -L 1",
        "tree /",
      ],
    },
  },
  basename: {
    style: "text",
    operands: "text*",
    examples: { safe: ["basename src/a.ts .ts"], review: [] },
  },
  dirname: {
    style: "text",
    operands: "text*",
    examples: { safe: ["dirname src/a.ts"], review: [] },
  },
  realpath: {
    flags: `-E -e,--canonicalize-existing -m,--canonicalize-missing -L,--logical -P,--physical -q,--quiet --relative-to:path --relative-base:path
      -s,--strip,--no-symlinks -z,--zero --help --version`,
    operands: "named+",
    examples: {
      safe: ["realpath .", "realpath --relative-to=src src/a"],
      review: ["realpath /tmp/x"],
    },
  },
  readlink: {
    flags: `-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing -n,--no-newline -q,--quiet -s,--silent -v,--verbose -z,--zero
      --help --version`,
    operands: "named+",
    examples: { safe: ["readlink -f a"], review: ["readlink /proc/self/exe"] },
  },
  namei: {
    flags: "-x,--mountpoints -m,--modes -o,--owners -l,--long -n,--nosymlinks -v,--vertical",
    operands: "named+",
    examples: { safe: ["namei -l src/a"], review: ["namei /tmp"] },
  },
  find: {
    style: "words",
    flags: `-amin:number -anewer:path -atime:number -cmin:number -cnewer:path -ctime:number -empty -executable -false -fstype:text -gid:number
      -group:text -ilname:pattern -iname:pattern -inum:number -ipath:pattern -iregex:pattern -iwholename:pattern -links:number -lname:pattern
      -mmin:number -mtime:number -name:pattern -newer:path -newermt:text -newerct:text -newerat:text -newerBt:text -newermm:path -nogroup -nouser
      -path:pattern -perm:text -readable -regex:pattern -samefile:path -size:text -true -type:text -uid:number -used:number -user:text
      -wholename:pattern -writable -xtype:text -context:text -daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race
      -maxdepth:number -mindepth:number -mount -xdev -x -noleaf -regextype:text -warn -nowarn -L -H -P -D:text -O0 -O1 -O2 -O3 -E -s -X -print
      -print0 -printf:text -ls -prune -quit ( ) ! , -a -and -o -or -not -help --help -version --version`,
    reviewFlags: {
      "-exec,-execdir": "exec: runs another program on every match",
      "-ok,-okdir": "exec: runs another program on every match",
      "-delete": "write: deletes every match",
      "-fprint,-fprint0,-fls:path": "write: writes a file",
      "-fprintf:path:text": "write: writes a file",
      "-files0-from:path": OTHER_NAMES,
    },
    operands: "named*",
    examples: {
      safe: [
        "find . -name '*.ts'",
        "find src -type f -not -path '*/node_modules/*'",
        "find . -executable",
        "find . -name '*exec*'",
        "find . \\( -name a -o -name b \\) -prune -o -print",
        "find . -mtime -7 -size +1M",
        "find . -newermt 2024-01-01 -printf '%p %s\\n'",
        "find /etc -maxdepth 1 -type d -name 'jdk*'",
      ],
      review: [
        "find . -exec cat {} +",
        "find . -execdir id \\;",
        "find . -ok rm {} \\;",
        "find . -name x -delete",
        "find . -fprint x",
        "find . -fprintf x %p",
        "find . -fls x",
        "find / -name x",
        "find -files0-from x",
        "find ~ -name id_rsa",
        "find . -name *",
      ],
    },
  },
  fd: fd("fd"),
  fdfind: fd("fdfind"),
};

function fd(name: string): Binary {
  return {
    flags: `-H,--hidden -I,--no-ignore -u,--unrestricted --no-ignore-vcs --no-ignore-parent --no-global-ignore-file --no-require-git -s,--case-sensitive
      -i,--ignore-case -g,--glob --regex -F,--fixed-strings --literal -a,--absolute-path -L,--follow -p,--full-path -d,--max-depth:number
      --min-depth:number --exact-depth:number --prune -E,--exclude:text -t,--type:text -e,--extension:text -S,--size:text --changed-within:text
      --newer:text --changed-before:text --older:text -o,--owner:text -0,--print0 -c,--color:text -j,--threads:number -1 -q,--quiet --show-errors
      --strip-cwd-prefix?:text --max-results:number --one-file-system --format:text --and:pattern --path-separator:text --hyperlink?:text -h,--help
      -V,--version --search-path:path -C,--base-directory:folder`,
    reviewFlags: {
      "-x,--exec,-X,--exec-batch": RUNS_ON_MATCHES,
      "-l,--list-details": "exec: runs `ls`",
      "--ignore-file:path": "read: reads another file",
    },
    operands: "pattern? path*",
    examples: {
      safe: [`${name} -e ts`, `${name} test src -t f -H`],
      review: [
        `${name} -e ts -x rm`,
        `${name} -Hx rm`,
        `${name} x -X ls`,
        `${name} --exec=id`,
        `${name} --exe id`,
        `${name} a /etc`,
      ],
    },
  };
}
