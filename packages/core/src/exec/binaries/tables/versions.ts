/** Versions: programs of which only the question for their version is known to be harmless. */
import type { Binary, BinaryTable } from "../table.js";

/** Programs by the flags that show their version, which are all that they may have. */
const VERSION_FLAGS: Readonly<Record<string, string>> = {
  "--version": `ts-node esbuild babel http-server ruff mypy black pylint isort pre-commit pyenv ninja cmake ctest
    pkg-config ld as valgrind markdownlint pg_dump convert rake`,
  "-v --version": "node-gyp tsc",
  "-version --version": "javac javap",
  "-V --version": "tmux",
};

const OTHERWISE = "unknown: is known to only read when it is asked for its version";

function versionOf(name: string, flags: string): Binary {
  const [flag = "--version"] = flags.split(" ");
  return {
    alone: flags,
    review: OTHERWISE,
    examples: { safe: [`${name} ${flag}`], review: [name, `${name} x`, `${name} ${flag} x`] },
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
