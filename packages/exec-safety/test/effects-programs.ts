/**
 * Programs: what the rows of the tables need, and where they get it. What `.ci/run` does not
 * install is named here with why, and runs in the deep set of a machine that has it; a program of
 * which no row has ever run is in no table. Data.
 */

/** Names under which other systems have a program, and that by which it is run here. */
const OTHER_NAMES = `gtar tar|gsed sed|gmake make|nawk awk|fd fdfind|bat batcat|7za 7z|pico nano|nodejs node|ipython ipython3|pip pip3|python python3
  python3.10 python3|python3.11 python3|python3.12 python3|python3.13 python3`;

/** The other name of a program, by its own. */
export const OTHER_NAME: ReadonlyMap<string, string> = new Map(
  OTHER_NAMES.split(/[|\n]/).map((pair): readonly [string, string] => {
    const [name = "", other = ""] = pair.trim().split(" ");
    return [name, other];
  }),
);

/** Programs that CI does not install, by why. */
const NOT_IN_CI: Readonly<Record<string, string>> = {
  "large; in Debian, among them default-jdk-headless, golang-go, guile-3.0, ipython3, ninja-build, postgresql-client and python3-pytest": `gradle java javac
    javap jar clang clang++ gofmt mypy ipython guile pylint black isort pre-commit gdb cmake ctest ninja valgrind psql pg_dump pip pip3 pytest`,
  "from npm":
    "eslint prettier rollup ts-node esbuild babel http-server markdownlint node-gyp tsc bun",
  "in no Debian of ours: comes with machines for development":
    "docker kubectl aws rustup pyenv python2 convert",
  "in some releases of Debian only": "exa lsd",
};

/** Why CI may be without a program, by its name. */
export const NOT_IN_CI_WHY: ReadonlyMap<string, string> = new Map(
  Object.entries(NOT_IN_CI).flatMap(([why, names]) =>
    names.split(/\s+/).map((name) => [name, why] as const),
  ),
);
