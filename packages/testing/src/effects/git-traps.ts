/**
 * Git traps: a repository without a work tree that comes as plain files of the project, and what
 * its configuration runs. Data.
 */
import { makeTrap, type Trap } from "./traps.js";

/** Where it lies in the project. */
export const HOSTILE_REPOSITORY = "evil.git";

const HOOKS =
  "pre-commit post-checkout post-index-change reference-transaction fsmonitor-watchman pre-auto-gc post-merge pre-push".split(
    " ",
  );

/** Each key has a trap of its own, so that a report names the key. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  core: [
    "fsmonitor",
    "pager",
    "editor",
    "sshCommand",
    "askPass",
    "gitProxy",
    "alternateRefsCommand",
  ],
  diff: ["external"],
  sequence: ["editor"],
  interactive: ["diffFilter"],
  uploadpack: ["packObjectsHook"],
  'diff "planted"': ["command", "textconv"],
  'filter "planted"': ["clean", "smudge", "process"],
  'merge "planted"': ["driver"],
  credential: ["helper"],
  gpg: ["program"],
  'gpg "ssh"': ["program"],
  difftool: ["cmd"],
  pager: [
    "log",
    "diff",
    "show",
    "branch",
    "status",
    "tag",
    "grep",
    "blame",
    "config",
    "stash",
    "reflog",
  ],
};

function configOf(folder: string): readonly Trap[] {
  const traps: Trap[] = [];
  const sections = Object.entries(KEYS).map(([section, keys]) => {
    const lines = keys.map((key) => {
      const trap = makeTrap(
        `${folder}/config:${section.replace(/\W+/g, "-")}.${key}`,
        "#!/bin/sh\n: >MARK\ncat 2>/dev/null\n",
      );
      traps.push({ ...trap, path: `/world/traps/${trap.mark}` });
      return `\t${key} = /world/traps/${trap.mark}`;
    });
    return `[${section}]\n${lines.join("\n")}`;
  });
  const own = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /world/project/${folder}\n\thooksPath = /world/project/${folder}/hooks`;
  const config = `${own}\n${sections.join("\n")}\n[log]\n\tshowSignature = true\n[alias]\n\tst = !/world/traps/x\n`;
  return [{ path: `${folder}/config`, mark: `${folder}%config`, text: config }, ...traps];
}

/** The files of a repository whose configuration runs everything that a configuration can run. */
export function hostileRepository(folder: string): readonly Trap[] {
  return [
    {
      path: `${folder}/info/attributes`,
      mark: "",
      text: "* filter=planted diff=planted merge=planted\n",
    },
    ...HOOKS.map((hook) => makeTrap(`${folder}/hooks/${hook}`, "#!/bin/sh\n: >MARK\n")),
    ...configOf(folder),
  ];
}
