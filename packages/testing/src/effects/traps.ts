/**
 * Traps: the files with which a project makes a program run code that nobody asked for, one line a
 * file. Data. `RUN` becomes the path of an executable, `MARK` the path of a file to make: both say
 * later which trap ran.
 */

const SHELL = "#!/bin/sh\n: >MARK\n";
const NODE = 'require("fs").writeFileSync("MARK", "");\nmodule.exports = {};\n';
const MODULE =
  'import { writeFileSync } from "node:fs";\nwriteFileSync("MARK", "");\nexport default {};\n';
const PYTHON = 'open("MARK", "w").close()\n';
const RUBY = 'File.write("MARK", "")\n';
const SCRIPT = "exec sh -c {: >MARK}\n";

const files = (names: string, text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, text]),
  );

/** Programs that look in a project for a copy of themselves and run that one. */
const NODE_PROGRAMS = `gulp grunt gulp-cli ava mocha jest eslint typescript ts-node tsx webpack webpack-cli vite vitest rollup parcel next nuxt
  astro turbo nx lerna playwright cypress biome oxlint swc babel nodemon pm2 prettier npm yarn pnpm bower node-gyp ng vue svelte-kit serve
  http-server esbuild tsc-watch markdownlint`;
/** The very files that some of them hand over to, wherever they are installed themselves. */
const DELEGATES = `jest/bin/jest.js webpack-cli/bin/cli.js webpack-cli/lib/index.js nx/bin/nx.js nx/dist/bin/nx.js lerna/cli.js gulp/bin/gulp.js
  grunt/lib/grunt.js ava/cli.js vite/bin/vite.js @babel/cli/bin/babel.js rollup/dist/bin/rollup eslint/bin/eslint.js prettier/bin/prettier.cjs
  typescript/lib/tsc.js typescript/bin/tsc ts-node/dist/bin.js turbo/bin/turbo`;
const PYTHON_MODULES = `json sitecustomize usercustomize token ast re argparse pkg_resources importlib_metadata planted_plugin conftest setup noxfile
  fabfile tasks dodo site_cmd black flake8 pytest pylint mypy`;

const PACKAGE = JSON.stringify({
  name: "project",
  packageManager: "pnpm@9.9.9",
  version: "1.0.0",
  scripts: Object.fromEntries(
    "preinstall install postinstall prepare pretest test version build start lint"
      .split(" ")
      .map((name) => [name, "RUN"]),
  ),
  gulp: "x",
  ava: { require: ["./planted.cjs"] },
  mocha: { require: ["./planted.cjs"] },
  jest: { globalSetup: "./planted.cjs" },
  eslintConfig: { plugins: ["planted"] },
  prettier: "./planted.cjs",
  babel: { presets: ["./planted.cjs"] },
});

const SOURCES: Readonly<Record<string, string>> = {
  // Node and its tools.
  "package.json": PACKAGE,
  "planted.cjs": NODE,
  ".npmrc":
    "//registry.example/:_authToken=TOKEN\nscript-shell=RUN\nnode-options=--require /world/project/planted.cjs\ngit=RUN\nviewer=RUN\neditor=RUN\n",
  ".yarnrc.yml":
    "npmAuthToken: TOKEN\nyarnPath: .yarn/releases/yarn.cjs\nplugins:\n  - .yarn/plugins/planted.cjs\n",
  ".yarnrc": 'yarn-path ".yarn/releases/yarn.cjs"\nscript-shell "RUN"\n',
  "bunfig.toml": 'preload = ["./planted.cjs"]\n',
  "nodemon.json": '{"events":{"start":"RUN"},"execMap":{"js":"RUN"}}\n',
  ".bowerrc": '{"scripts":{"preinstall":"RUN"}}\n',
  ".swcrc": '{"jsc":{"experimental":{"plugins":[["./planted.wasm",{}]]}}}\n',
  "tsconfig.json":
    '{"compilerOptions":{"plugins":[{"name":"../planted.cjs"}]},"ts-node":{"require":["./planted.cjs"]}}\n',
  "deno.json": '{"tasks":{"start":"RUN"}}\n',
  ".mocharc.cjs": NODE,
  ...files(
    `.gulp.js .yarn/releases/yarn.cjs .yarn/plugins/planted.cjs .pnpmfile.cjs gulpfile.js Gruntfile.js .eslintrc.js prettier.config.cjs
    jest.config.js webpack.config.js rollup.config.cjs babel.config.js next.config.js nuxt.config.js vue.config.js playwright.config.js
    cypress.config.js ava.config.cjs ecosystem.config.js .markdownlint.cjs Jakefile.js metro.config.js tailwind.config.js postcss.config.js`,
    NODE,
  ),
  ...files(
    "eslint.config.mjs vite.config.mjs vitest.config.mjs astro.config.mjs svelte.config.mjs",
    MODULE,
  ),
  ...Object.fromEntries(
    NODE_PROGRAMS.split(/\s+/).flatMap((name) => [
      [
        `node_modules/${name}/package.json`,
        JSON.stringify({ name, version: "999.0.0", main: "index.js", bin: "index.js" }),
      ],
      [`node_modules/${name}/index.js`, `#!/usr/bin/env node\n${NODE}`],
      [`node_modules/.bin/${name}`, SHELL],
    ]),
  ),
  ...Object.fromEntries(
    DELEGATES.split(/\s+/).map((path) => [`node_modules/${path}`, `#!/usr/bin/env node\n${NODE}`]),
  ),
  ...files("node_modules/turbo-linux-64/bin/turbo node_modules/@turbo/linux-64/bin/turbo", SHELL),
  // Python.
  ...Object.fromEntries(PYTHON_MODULES.split(/\s+/).map((name) => [`${name}.py`, PYTHON])),
  "pytest.ini": "[pytest]\npythonpath = .\n",
  "test_planted.py": PYTHON,
  ".flake8": "[flake8:local-plugins]\nextension =\n  PL = planted_plugin:X\npaths = .\n",
  "setup.cfg":
    "[flake8:local-plugins]\nextension =\n  PL = planted_plugin:X\npaths = .\n[mypy]\nplugins = planted_plugin\n",
  "tox.ini": "[tox]\nrequires = planted\n[testenv]\ncommands = RUN\n",
  "mypy.ini": "[mypy]\nplugins = planted_plugin.py\n",
  ".pylintrc": '[MAIN]\ninit-hook=\'open("MARK","w").close()\'\nload-plugins=planted_plugin\n',
  "pyproject.toml": `[build-system]\nrequires = []\nbuild-backend = "planted_plugin"\nbackend-path = ["."]\n[tool.poetry]\nname = "x"\n[tool.pdm.scripts]\npre_install = "RUN"\n[tool.mypy]\nplugins = ["planted_plugin"]\n`,
  ".pre-commit-config.yaml":
    "repos:\n- repo: local\n  hooks:\n  - {id: x, name: x, entry: RUN, language: system}\n",
  "ansible.cfg":
    "[defaults]\ncallback_plugins = ./plugins\ncallbacks_enabled = planted\nvault_password_file = RUN\n",
  "plugins/planted.py": PYTHON,
  // Builds.
  ".cargo/config.toml":
    '[build]\nrustc = "RUN"\nrustc-wrapper = "RUN"\nrustdoc = "RUN"\n[alias]\nversion = "run"\n[target.x86_64-unknown-linux-gnu]\nlinker = "RUN"\nrunner = "RUN"\n',
  "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n',
  "build.rs": 'fn main() { std::fs::write("MARK", "").unwrap(); }\n',
  "src/main.rs": "fn main() {}\n",
  "rust-toolchain.toml": '[toolchain]\npath = "/world/project/toolchain"\n',
  ...files(
    "toolchain/bin/cargo toolchain/bin/rustc toolchain/bin/rustfmt toolchain/bin/clippy-driver toolchain/bin/rust-analyzer",
    SHELL,
  ),
  "go.mod": "module example.com/x\n\ngo 1.99.9\n\ntoolchain go1.99.9\n",
  ".mvn/jvm.config": "-Xlog:gc:file=MARK\n",
  ".mvn/maven.config": "-Dplanted=yes\n--global-settings\n/world/project/settings.xml\n",
  ".mvn/extensions.xml":
    "<extensions><extension><groupId>planted</groupId><artifactId>planted</artifactId><version>1</version></extension></extensions>\n",
  "pom.xml":
    "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version></project>\n",
  ...files(
    "settings.gradle build.gradle init.gradle buildSrc/build.gradle",
    'new File("MARK").createNewFile()\n',
  ),
  "gradle.properties": `org.gradle.jvmargs=-Xlog:gc:file=MARK\norg.gradle.java.home=/world/project/jdk\nsystemProp.java.home=/world/project/jdk
systemProp.gradle.user.home=/world/project/planted-home\nsystemProp.http.proxyHost=registry.example\n`,
  "jdk/bin/java": SHELL,
  "gradle/gradle-daemon-jvm.properties":
    "toolchainVersion=99\ntoolchainUrl.LINUX.X86_64=https\\://registry.example/jdk.zip\n",
  "gradle/wrapper/gradle-wrapper.properties":
    "distributionUrl=https\\://registry.example/gradle.zip\n",
  ".jvmopts": "-Xlog:gc:file=MARK\n",
  ".sbtopts": "-J-Xlog:gc:file=MARK\n",
  Makefile: "x := $(shell RUN)\nall:\n\tRUN\n",
  "build.ninja": "rule r\n  command = RUN\nbuild all: r\n",
  "CMakeLists.txt": "execute_process(COMMAND RUN)\n",
  "meson.build": "run_command('RUN')\n",
  ".bazelrc": "startup --output_user_root=/world/project/bazel\n",
  "tools/bazel": SHELL,
  "build.xml":
    '<project default="x"><target name="x"><exec executable="RUN"/></target></project>\n',
  justfile: "x := `RUN`\nall:\n\tRUN\n",
  "Taskfile.yml": 'version: "3"\nvars: {X: {sh: RUN}}\ntasks: {default: {cmds: [RUN]}}\n',
  ...files("gradlew mvnw configure artisan bin/rails bin/rake bin/console pre-commit", SHELL),
  // Ruby, PHP, and other languages.
  ...files(
    "Rakefile Gemfile Vagrantfile .irbrc .pryrc Guardfile Capfile Fastfile Podfile config/application.rb config/boot.rb",
    RUBY,
  ),
  ".rubocop.yml": "require: ./planted.rb\n",
  "planted.rb": RUBY,
  "composer.json": '{"scripts":{"pre-command-run":"RUN"}}\n',
  "php.ini": "auto_prepend_file=/world/project/planted.php\n",
  "planted.php": '<?php touch("MARK");\n',
  "phpunit.xml": '<phpunit bootstrap="planted.php"/>\n',
  "phpstan.neon": "parameters:\n  bootstrapFiles: [planted.php]\n",
  ".erlang": 'file:write_file("MARK", "").\n',
  "mix.exs": 'File.write!("MARK", "")\n',
  ".iex.exs": 'File.write!("MARK", "")\n',
  "rebar.config": '{pre_hooks, [{compile, "RUN"}]}.\n',
  ".ghci": ":! RUN\n",
  ".ocamlinit": 'Sys.command "RUN";;\n',
  ".Rprofile": 'file.create("MARK")\n',
  "nim.cfg": "",
  "config.nims": 'exec "RUN"\n',
  "project.clj": '(spit "MARK" "")\n',
  // Files that are named as a flag: whoever takes them for a script runs them.
  ...files("--version -version -v -V --help", SCRIPT),
  // What a project has anyway, to be run by name.
  ...files("a.sh x.sh run.sh", SHELL),
  ...files("a.py x.py", PYTHON),
  ...files("x.js index.js", NODE),
  "x.rb": RUBY,
  // Tools for other tools.
  ".gdbinit": "shell RUN\n",
  ".lldbinit": "platform shell RUN\n",
  ".valgrindrc": "--log-file=/world/project/valgrind.log\n--trace-children=yes\n",
  ".exrc": "!RUN\n",
  ".vimrc": "silent !RUN\n",
  ".dir-locals.el": '((nil . ((eval . (shell-command "RUN")))))\n',
  ".ackrc": "--pager=RUN\n",
  ".ripgreprc": "--pre=RUN\n",
  ".actrc": "--action-cache-path /world/project/act\n",
  ".tmux.conf": "run-shell RUN\n",
  ".screenrc": "exec RUN\n",
  ".lesskey": "#env\nLESSOPEN=|RUN %s\n",
  ".inputrc": '"a": "!RUN\\n"\n',
  ".curlrc": "output = curl-wrote\n",
  ".wgetrc": "output_document = wget-wrote\nuse_askpass = RUN\n",
  ".psqlrc": "\\! RUN\n",
  ".sqliterc": ".shell RUN\n",
  ".my.cnf": "[client]\npager=RUN\n",
  ".envrc": ": >MARK\n",
  ".mise.toml": '[env]\nX = "{{ exec(command=\'RUN\') }}"\n[hooks]\nenter = "RUN"\n',
  ".terraformrc": 'plugin_cache_dir = "/world/project/plugins"\ncredentials_helper "planted" {}\n',
  "main.tf": 'data "external" "x" {\n  program = ["RUN"]\n}\n',
  ".terraform/plugins/terraform-provider-planted": SHELL,
  "docker-compose.yml": "services:\n  x:\n    image: x\n",
  ".sops.yaml": "creation_rules: []\n",
  ".hgrc": "[hooks]\npre-version = RUN\n",
  gitconfig: "[alias]\n\tst = !RUN\n",
};

/** One file of a trap; `mark` is the name under which a run of it is found. */
export interface Trap {
  readonly path: string;
  readonly text: string;
  readonly mark: string;
}

/** A path as the name of a file. */
export function markOf(path: string): string {
  return path.replaceAll("/", "%");
}

/**
 * The traps with their text ready to be written. `RUN` lies in `/world/traps`, `MARK` in `/ran`.
 */
export const TRAPS: readonly Trap[] = Object.entries(SOURCES).map(([path, text]) =>
  makeTrap(path, text),
);

/** Puts the places into a trap's text. */
export function makeTrap(path: string, text: string): Trap {
  const mark = markOf(path);
  return {
    path,
    mark,
    text: text.replaceAll("RUN", `/world/traps/${mark}`).replaceAll("MARK", `/ran/${mark}`),
  };
}
