/**
 * Delete: what removes or overwrites files where nobody expects it.
 */
import { hasFlag, operandsOf, optionValue, someKind, type Call, type Field } from "../call.js";
import { UNKNOWN, UNSET } from "../feed.js";
import type { ProgramRule } from "../rule.js";
import { kindOf, resolvePath, type PathKind } from "../site.js";

const isForced = (call: Call): boolean => hasFlag(call, "rRf", ["recursive", "force"]);

/**
 * Whether the root or a home is left of a target when the variables in it are empty: `"$DIR"/*`.
 */
function isRootIfEmpty({ text }: Field, call: Call): boolean {
  if (!text.includes(UNSET)) return false;
  const emptied = text.replaceAll(UNSET, "");
  const kind = kindOf(emptied, call.site);
  return kind === "root" || kind === "home";
}

/** `.git` of the project, or everything in it. */
function isRepository({ text }: Field, { site }: Call): boolean {
  const path = resolvePath(text, site);
  if (path === undefined) return false;
  const git = `${site.project}/.git`;
  return path === git || path === `${git}/*` || [`${git}/objects`, `${git}/refs`].includes(path);
}

/** Places whose loss nobody can have meant. */
const WHOLE: readonly PathKind[] = ["root", "home", "project", "system"];

/** Tests of find that choose by what a file is called, how old or how large it is. */
const CHOOSING =
  /^-(?:i?name|i?path|i?wholename|i?regex|[acm]?newer.*|[acm](?:time|min)|size|empty|user|group|uid|gid|perm|i?lname|inum|links|samefile|newer..|nouser|nogroup)$/;
const DELETING: ReadonlySet<string> = new Set(["rm", "shred", "unlink", "srm"]);

/** Where a find starts. */
export function startsOfFind({ args }: Call): readonly Field[] {
  const starts: Field[] = [];
  for (const [at, field] of args.entries()) {
    const { text } = field;
    if (/^-(?:[HLPEXdsx]+|O\d?|D)$/.test(text) || args[at - 1]?.text === "-D") continue;
    if (text.startsWith("-") || text === "(" || text === "!" || text === ")") break;
    starts.push(field);
  }
  return starts;
}

/**
 * Texts that stand for what a find finds: a path below each start; everything in it for the root,
 * and for a home that nothing chooses from.
 */
export function foundBy(call: Call): readonly string[] {
  const starts = startsOfFind(call).slice(0, 4);
  if (starts.length === 0) return [UNKNOWN];
  return starts.map(({ text }) => {
    const folder = text.endsWith("/") ? text : `${text}/`;
    const kind = kindOf(text, call.site);
    return folder + (kind === "root" || (kind === "home" && isUnfiltered(call)) ? "*" : UNKNOWN);
  });
}

function deletesByFind(call: Call): boolean {
  const texts = call.args.map(({ text }) => text);
  return texts.some((text, at) => {
    if (text === "-delete") return true;
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(text)) return false;
    const program = texts[at + 1] ?? "";
    if (!DELETING.has(program.slice(program.lastIndexOf("/") + 1))) return false;
    const end = texts.indexOf(";", at);
    return texts.slice(at, end < 0 ? texts.length : end).includes("{}");
  });
}

/** Whether a folder is above the project, so that more than the project is in it. */
function isAbove({ text }: Field, { site }: Call): boolean {
  const path = resolvePath(text, site);
  return path !== undefined && site.project.startsWith(`${path}/`);
}

/** Whether a find takes everything below its start. */
function isUnfiltered({ args }: Call): boolean {
  return !args.some(({ text }, at) => {
    if (!CHOOSING.test(text)) return false;
    const isNegated = /^(?:!|-not)$/.test(args[at - 1]?.text ?? "");
    return !isNegated && !(/name|path/.test(text) && /^[*.]+$/.test(args[at + 1]?.text ?? ""));
  });
}

function isDangerousFind(call: Call): boolean {
  if (!deletesByFind(call)) return false;
  const starts = startsOfFind(call);
  if (someKind(call, starts, ["root", "home", "system", "outside"])) return true;
  if (starts.some((start) => isRootIfEmpty(start, call) || isAbove(start, call))) return true;
  const isHere =
    starts.length === 0
      ? call.site.directory === call.site.project
      : someKind(call, starts, ["project"]);
  return isHere && isUnfiltered(call);
}

/**
 * The project's root or a folder above it; not what is in it, which is moved about in ordinary
 * work.
 */
function isWholeProject(source: Field, call: Call): boolean {
  return kindOf(source.text, call.site) === "project" && !source.text.endsWith("*");
}

/** Rules on deletion. */
export const DELETE_RULES: readonly ProgramRule[] = [
  {
    ruleId: "rm.protected",
    programs: ["rm", "unlink", "srm", "trash", "rimraf", "grm"],
    message: "It deletes the root, a home, a part of the system, the whole project or its history",
    applies: (call) => {
      const operands = operandsOf(call);
      if (someKind(call, operands, WHOLE)) return true;
      if (hasFlag(call, "", ["no-preserve-root"]) && operands.length > 0) return true;
      if (
        operands.some((operand) => isRootIfEmpty(operand, call)) &&
        (isForced(call) || call.name === "rimraf")
      )
        return true;
      return (
        (isForced(call) || call.name === "rimraf") &&
        operands.some((operand) => isRepository(operand, call))
      );
    },
    dangerous: [
      "rm -rf /",
      "rm -fr /*",
      "rm -r -f /",
      "rm / -rf",
      "rm --recursive --force /",
      "rm --rec --fo /",
      "rm -rf -- /",
      "rm -rf ~",
      "rm -rf ~/",
      "rm -rf ~/*",
      "rm -rf $HOME",
      'rm -rf "$HOME"',
      "rm -rf ${HOME}/",
      "rm -rf $HOME/x/..",
      "rm -rf .",
      "rm -rf ./",
      "rm -rf ..",
      "rm -rf ../",
      "rm -rf *",
      "rm -rf ./*",
      "rm -rf .[!.]* *",
      "rm -rf /etc",
      "rm -rf /usr/lib",
      "rm -rf /home",
      "rm -rf /home/alice",
      "rm -rf /root",
      "rm -rf /var",
      "rm /etc/passwd",
      "rm -rf .git",
      "rm -rf .git/",
      "rm -rf --no-preserve-root /",
      "rm -rf /tmp/../",
      "rm -rf //",
      "rm -rf /.",
      "rm -rf /./",
      "rm -rf src/..",
      "rm -rf $PWD",
      "rm -rf $(pwd)",
      'rm -rf "$BUILD_DIR"/*',
      "rm -rf $TARGET/",
      "/bin/rm -rf /",
      "\\rm -rf ~",
      "cd / && rm -rf *",
      "cd ~; rm -rf *",
      "cd && rm -rf ./*",
      "cd .. && rm -rf *",
      "pushd /; rm -rf .",
      "(cd /; rm -rf *)",
      "rm -rf ~root",
    ],
    not: [
      "rm -rf node_modules",
      "rm -rf ./dist build/",
      "rm b.txt",
      "rm -f package-lock.json",
      "rm *.log",
      "rm -rf build/*",
      "cd build && rm -rf *",
      "rm -rf ./src/../dist",
      "cd src && rm -rf ../dist",
      "rm -f .git/index.lock",
      "rm -i a.txt",
      'rm -rf "$d/node_modules"',
      'for d in a b; do rm -rf "$d/dist"; done',
      "rm -rf coverage .nyc_output .cache",
      'd=build; rm -rf "$d"/*',
      "rm -- -f",
      'rm -rf "${OUT:?}"/*',
      'echo "rm -rf /"',
      "grep -rn 'rm -rf /' .",
      "git rm -r --cached .",
      "rm -rf **/__pycache__",
      "rm -rf $(git ls-files -o)",
      'clean() { rm -rf "$1/build"; }',
      'clean() { rm -rf "$1"/*; }; clean dist',
      "find . -type d -exec sh -c 'rm -rf \"$1\"/*.tmp' _ {} \\;",
    ],
  },
  {
    ruleId: "rm.outside-project",
    programs: ["rm", "srm", "rimraf", "grm", "trash"],
    message: "It deletes files outside the project, recursively or without asking",
    applies: (call) =>
      (isForced(call) || call.name === "rimraf") && someKind(call, operandsOf(call), ["outside"]),
    dangerous: [
      "rm -rf /tmp/test-data",
      "rm -rf ../other-project",
      "rm -rf ~/Documents",
      "rm -f ~/notes.txt",
      "rm -rf /opt/app",
      "rm -r /var/lib/mysql",
      "rm -rf $HOME/projects",
      "rm -rf /mnt/backup/*",
      "rm -rf ../../x",
      "rm -rf ~alice/x",
    ],
    not: ["rm -rf dist", "rm /tmp/x.log", "rm -rf ./a/../b", "rm -rf a/b/../../c"],
  },
  {
    ruleId: "find.delete",
    programs: ["find", "gfind"],
    message: "`find` deletes what it finds outside the project, or everything in the project",
    applies: isDangerousFind,
    dangerous: [
      "find / -delete",
      "find / -name '*.log' -delete",
      "find ~ -type f -delete",
      "find /home -exec rm -rf {} +",
      "find / -exec rm {} \\;",
      "find . -delete",
      "find . -type f -delete",
      "find -delete",
      "find .. -name x -delete",
      "find $HOME -exec /bin/rm -f {} \\;",
      "find /etc -type f -exec shred -u {} \\;",
      "find . -name '*' -delete",
      "find . ! -name x -delete",
      "find /var -mtime +1 -delete",
    ],
    not: [
      "find . -name '*.pyc' -delete",
      "find . -type d -name __pycache__ -exec rm -rf {} +",
      "find build -type f -delete",
      "find / -name '*.conf'",
      "find . -empty -delete",
      "find . -name node_modules -prune -exec rm -rf {} +",
      "cd src && find . -name '*.orig' -delete",
      "find . -mtime +30 -delete",
      "find . -type f -exec sed -i.bak s/a/b/ {} \\; -exec rm {}.bak \\;",
      "find . -type d -exec rmdir {} +",
      "find ~ -name '*.sh' -exec chmod u+x {} \\;",
      "find ~/Downloads -name '*.pdf' | xargs mv -t docs",
    ],
  },
  {
    ruleId: "overwrite.destroy",
    programs: ["shred", "wipe", "srm", "scrub"],
    message: "It overwrites files outside the project so that nothing can bring them back",
    applies: (call) =>
      someKind(call, operandsOf(call, "ns"), ["root", "home", "system", "project", "outside"]),
    dangerous: [
      "shred -u ~/.ssh/id_rsa",
      "shred /dev/sda",
      "shred -n 3 -z /etc/passwd",
      "wipe -rf ~",
    ],
    not: ["shred -u secrets.txt", "shred --help"],
  },
  {
    ruleId: "mv.protected",
    programs: ["mv"],
    message:
      "It moves the root, a home, a part of the system or the whole project away, or moves files where they are lost",
    applies: (call) => {
      const operands = operandsOf(call, "tS");
      const target = optionValue(call, "t", "target-directory") ?? operands.at(-1);
      const sources = target === operands.at(-1) ? operands.slice(0, -1) : operands;
      if (sources.length > 0 && target?.text === "/dev/null") return true;
      return (
        someKind(call, sources, ["root", "home", "system"]) ||
        sources.some((source) => isWholeProject(source, call))
      );
    },
    dangerous: [
      "mv /* /tmp",
      "mv ~ /dev/null",
      "mv src /dev/null",
      "mv /etc/passwd x",
      "mv $HOME /tmp/h",
      "mv . ../x",
      "mv /usr/bin/ls .",
    ],
    not: [
      "mv a b",
      "mv src/*.ts lib/",
      "mv ~/Downloads/a.pdf docs/",
      "mv -t lib a b",
      "mv * app/",
      "mv ../x/a.txt .",
    ],
  },
  {
    ruleId: "rsync.delete",
    programs: ["rsync"],
    message: "`rsync --delete` empties a folder of the system, a home or the whole project",
    applies: (call) =>
      hasFlag(call, "", ["delete", "delete-after", "delete-before", "delete-excluded"]) &&
      someKind(call, operandsOf(call, "ef").slice(-1), WHOLE),
    dangerous: [
      "rsync -a --delete empty/ /",
      "rsync -a --delete empty/ ~/",
      "rsync --delete -r x/ /etc/",
    ],
    not: ["rsync -a --delete src/ build/", "rsync -av --delete dist/ user@host:/var/www/"],
  },
  {
    ruleId: "truncate.outside",
    programs: ["truncate", "fallocate"],
    message: "It cuts files of the system or a home",
    applies: (call) => someKind(call, operandsOf(call, "srlo"), WHOLE),
    dangerous: ["truncate -s 0 /etc/passwd", "truncate --size 0 /usr/bin/ls"],
    not: ["truncate -s 0 app.log", "truncate -s 10M test.bin"],
  },
];
