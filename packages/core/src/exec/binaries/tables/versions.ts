/** Versions: programs of which only the question for their version is known to be harmless. */
import type { Binary, BinaryTable } from "../table.js";

/** Programs by the flags that show their version, which are all that they may have. */
const VERSION_FLAGS: Readonly<Record<string, string>> = {
  "--version": `tsc-watch ts-node tsx ava esbuild parcel next nuxt ng vue astro svelte-kit turbo nx lerna
    playwright cypress biome oxlint swc babel nodemon pm2 serve http-server ruff mypy black flake8 pylint isort bandit pdm
    hatch tox pre-commit virtualenv pyenv rbenv  mise direnv rustfmt clippy-driver rust-analyzer wasm-pack golangci-lint
    gofumpt dlv bazel buck2 ninja meson cmake ctest autoconf automake libtool pkg-config flex bison ld as lldb valgrind clang-format clang-tidy shellcheck shfmt hadolint yamllint markdownlint actionlint ansible ansible-playbook packer vagrant mysqldump redis-server pg_dump
    pandoc latex pdflatex xelatex convert magick gs dot protoc buf grpcurl hyperfine tokei scc cloc
    bundler rake rails rubocop composer phpunit phpstan artisan mix elixir rebar3 ghc ghci stack cabal ocaml dune opam swift swiftc xcodebuild kotlin kotlinc scala sbt lein clojure crystal nim zig v dart flutter ant bower gulp grunt
    port choco scoop winget minikube kind k3d skaffold tilt tflint
    task earthly dagger act glab hub lazygit delta difft zoxide starship fzf `,
  "-v --version": "node-gyp tsc",
  "-version --version": "ffmpeg ffprobe ffplay javac javap",
  "-V --version": "tmux screen wasmtime wasmer",
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
