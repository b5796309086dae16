/**
 * Bookkeeping: what programs write for themselves whatever they are asked for. None of it is the
 * project's, none of it is ever run, and nobody who reads a project would be asked about it. Data:
 * what is changed, and whose it is.
 */
const BOOKKEEPING: readonly (readonly [what: RegExp, whose: string])[] = [
  [
    /^modified \/world\/project\/\.git\/index$/,
    "git: notes the times of unchanged files, unless GIT_OPTIONAL_LOCKS is 0",
  ],
  [/^created \/tmp\/hsperfdata_\w+(?:\/\d+)?$/, "the Java machine: counters of its processes"],
  [/^created \/world\/home\/\.java$/, "the Java machine: preferences"],
  [
    /^created \/world\/home\/\.gradle(?:\/native(?:\/jansi(?:\/null(?:\/linux64)?)?)?)?$/,
    "gradle: empty folders for its own libraries",
  ],
  [
    /^created \/world\/home\/\.npm(?:\/_logs(?:\/[\w-]+\.log)?|\/_update-notifier-last-checked)?$/,
    "npm: logs of its runs",
  ],
  [
    /^created \/tmp\/(?:\.v8flags[\w.-]+\.json|tsx-\d+(?:\/[\w.-]+)?)$/,
    "programs of Node: what they know of it",
  ],
  [/^created \/world\/home\/\.cache(?:\/biome(?:\/.*)?)?$/, "biome: where its server would be"],
  [/^created \/world\/home\/\.config\/procps$/, "top: where its settings would be"],
  [/^(?:created|modified) \/world\/home\/\.lesshst$/, "less: what was searched for"],
  [
    /^created \/world\/home\/\.rustup(?:\/settings\.toml)?$/,
    "rustup: which toolchains there are, on its first run",
  ],
  [
    /^mkdir \/usr\/(?:.*\/)?__pycache__$/,
    "programs in Python: their own code compiled, where root has not done it",
  ],
  [/^openat \/var\/cache\/man\/[\w/.-]+$/, "man: a page as it was shown"],
];

/** Whether a change is one that nobody has to know of. */
export function isBookkeeping(what: string): boolean {
  return BOOKKEEPING.some(([pattern]) => pattern.test(what));
}
