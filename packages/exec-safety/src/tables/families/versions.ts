/** Versions: programs of which only the question for their version is known to be harmless. */
import type { Binary, BinaryTable } from "../table.js";

/** Programs by the flags that show their version, which are all that they may have. */
const VERSION_FLAGS: Readonly<Record<string, string>> = {
  "--version": `ts-node esbuild babel http-server mypy black pylint isort pre-commit pyenv ninja cmake ctest
    pkg-config ld as valgrind markdownlint pg_dump convert rake`,
  "-v --version": "node-gyp tsc",
  "-version --version": "javac javap",
  "-V --version": "tmux",
};

const OTHERWISE = "unknown: is known to only read when it is asked for its version";

const RUNS = "exec: runs a program or a script that it names";
/** Flags of theirs that no entry of an allowlist lifts. */
const REVIEW_FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cmake: { "-P:path": RUNS, "-E": RUNS, "-C:path": RUNS, "--toolchain:path": RUNS },
  ctest: { "-S,-SP:path": RUNS, "--build-and-test": RUNS, "--test-command:text": RUNS },
  ninja: { "-f:path": RUNS },
  rake: { "-e,-E,-p:text": RUNS, "-r,-R,-f,--require,--rakefile,--libdir,--rakelibdir:path": RUNS },
  "pre-commit": { "-c,--config:path": RUNS },
  esbuild: { "--outfile,--outdir:path": "write: writes the file it names" },
};

/** Their flags are no clusters: `-DCMAKE_X=y`. */
const WORDS: ReadonlySet<string> = new Set(["cmake", "ctest"]);

function versionOf(name: string, flags: string): Binary {
  const [flag = "--version"] = flags.split(" ");
  const reviewFlags = Object.hasOwn(REVIEW_FLAGS, name) ? REVIEW_FLAGS[name] : undefined;
  const harmful = Object.keys(reviewFlags ?? {}).map(
    (names) => `${name} ${names.replace(/[,:].*/, "")} x`,
  );
  return {
    alone: flags,
    review: OTHERWISE,
    ...(reviewFlags !== undefined && { reviewFlags }),
    ...(WORDS.has(name) && { style: "words" as const }),
    examples: {
      safe: [`${name} ${flag}`],
      review: [name, `${name} x`, `${name} ${flag} x`, ...harmful],
    },
  };
}

export const versions: BinaryTable = Object.fromEntries(
  Object.entries(VERSION_FLAGS).flatMap(([flags, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, versionOf(name, flags)] as const),
  ),
);
