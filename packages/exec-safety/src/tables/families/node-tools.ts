/**
 * Node's tools: what lists the packages of a project without running code of the project or asking
 * the network.
 */
import { reviewed, UNPROVEN } from "../table.js";
import { versionRows } from "../shows-version.js";
import type { Binary, BinaryTable } from "../table.js";

const RUNS = "exec: runs another program";
const LOADS = "exec: loads code or settings, which run programs";
const INSTALLS = "change: installs packages, whose scripts run";
const SCRIPT = "change: runs a script of the project";
const REGISTRY = "network: asks the registry";
const ELSEWHERE = "exec: takes packages, whose code runs, from elsewhere";
const SETS = "exec: changes settings, which name programs and registries";

/** Flags of npm, pnpm and yarn that name programs to run or other settings. */
const NPM_REVIEW = {
  "--script-shell:text": RUNS,
  "--shell:text": RUNS,
  "--call:text": RUNS,
  "--editor,--browser,--viewer:text": RUNS,
  "--node-options:text": LOADS,
  "--git:text": RUNS,
  "--userconfig,--globalconfig:path": LOADS,
  "--registry,--proxy,--https-proxy,--noproxy:text": ELSEWHERE,
  "--strict-ssl?:text": ELSEWHERE,
};
const INSTALL_REVIEW = {
  ...NPM_REVIEW,
  "-g,--global": "write: installs outside of the project",
  "--location:text": "write: installs outside of the project",
};
const QUIET = "--no-update-notifier";

const NPM_LIST: Binary = {
  flags: `--depth:number -a,--all -g,--global --json -l,--long -p,--parseable --prod --production --dev --only:text --omit:text --include:text --link
    --package-lock-only --no-update-notifier --unicode --no-unicode -w,--workspace:text -ws,--workspaces --include-workspace-root --color?:text --no-color -s,--silent`,
  reviewFlags: NPM_REVIEW,
  operands: "text*",
  silentWith: QUIET,
  examples: {
    safe: [`npm ls ${QUIET}`, `npm ls react --depth=0 ${QUIET}`, `npm ls -g --json ${QUIET}`],
    review: ["npm ls", "npm ls --script-shell=./x", "npm ls --prefix /x", "npm ls --script-sh x"],
  },
};

const EXAMPLE = (line: string): Binary["examples"] => ({ safe: [], review: [line] });

const changing = (name: string, subcommands: string, review: string): BinaryTable =>
  Object.fromEntries(
    subcommands
      .split(/\s+/)
      .map(
        (sub) =>
          [
            sub,
            { review, reviewFlags: NPM_REVIEW, examples: EXAMPLE(`${name} ${sub} x`) },
          ] as const,
      ),
  );

const installing = (name: string, subcommands: string): BinaryTable =>
  Object.fromEntries(
    Object.entries(changing(name, subcommands, INSTALLS)).map(([sub, entry]) => [
      sub,
      { ...entry, reviewFlags: INSTALL_REVIEW, operands: "package*" },
    ]),
  );

/**
 * What a folder is called asks nobody; everything else of npm asks the registry for a newer npm.
 */
const says = (line: string): Binary => ({
  flags: "-g --global",
  reviewFlags: NPM_REVIEW,
  operands: "text*",
  examples: { safe: [line], review: [`${line} --script-shell=./x`] },
});

const shows = (line: string, flags = "--json"): Binary => ({
  flags: `${flags} ${QUIET}`,
  reviewFlags: NPM_REVIEW,
  operands: "text*",
  silentWith: QUIET,
  examples: { safe: [`${line} ${QUIET}`], review: [line, `${line} ${QUIET} --script-shell=./x`] },
});

export const nodeTools: BinaryTable = {
  npm: {
    flags: "-v,--version -s,--silent --no-color",
    reviewFlags: NPM_REVIEW,
    subcommands: {
      ls: NPM_LIST,
      list: NPM_LIST,
      ll: NPM_LIST,
      la: NPM_LIST,
      explain: shows("npm explain react"),
      why: shows("npm why react"),
      query: shows("npm query .dev"),
      root: says("npm root -g"),
      prefix: says("npm prefix -g"),
      bin: shows("npm bin", "-g --global"),
      version: {
        flags: `--json ${QUIET}`,
        reviewFlags: NPM_REVIEW,
        excess: "change: sets the version and makes a commit",
        silentWith: QUIET,
        examples: { safe: [`npm version ${QUIET}`], review: ["npm version", "npm version patch"] },
      },
      pkg: {
        subcommands: {
          get: shows("npm pkg get name"),
          set: reviewed(
            "exec: changes the package's own file, whose scripts run",
            "npm pkg set a=b",
          ),
        },
        examples: {
          safe: [`npm pkg get version ${QUIET}`],
          review: ["npm pkg set a=b", "npm pkg get version"],
        },
      },
      config: {
        subcommands: {
          get: {
            flags: `--json ${QUIET}`,
            operands: "setting",
            silentWith: QUIET,
            examples: {
              safe: [`npm config get registry ${QUIET}`],
              review: [
                "npm config get registry",
                "npm config get //x/:_authToken",
                "npm config get",
              ],
            },
          },
          ...changing("npm config", "set delete rm edit fix", SETS),
        },
        examples: {
          safe: [`npm config get prefix ${QUIET}`],
          review: ["npm config set a b", "npm config list"],
        },
      },
      ...changing("npm", "set c", SETS),
      run: scripts("npm run"),
      "run-script": scripts("npm run-script"),
      ...installing(
        "npm",
        "i install in ci add update up upgrade uninstall un rm remove dedupe prune rebuild link install-test it",
      ),
      ...changing("npm", "test t tst start stop restart", SCRIPT),
      ...changing("npm", "exec x init create innit explore edit docs repo bugs", RUNS),
      ...changing(
        "npm",
        "view info show v outdated audit search ping whoami doctor fund dist-tag owner access profile team org star stars",
        REGISTRY,
      ),
      ...changing(
        "npm",
        "publish unpublish deprecate login adduser logout token",
        "network: changes what the registry holds",
      ),
    },
    examples: {
      safe: ["npm -v", "npm --version", `npm ls ${QUIET}`],
      review: ["npm", "npm i", "npm test", "npm exec x", "npm frob", "npm --script-shell=./x ls"],
    },
  },
  pnpm: packageManager("pnpm", "list ls why outdated audit licenses root bin store"),
  yarn: packageManager("yarn", "list why info outdated"),
  npx: runner("npx"),
  pnpx: runner("pnpx"),
  bunx: runner("bunx"),
  eslint: tool(
    "eslint",
    "--rulesdir:path --plugin:text --resolve-plugins-relative-to:path --parser:text -f,--format:text",
  ),
  prettier: tool("prettier", "--plugin:text --plugin-search-dir:path"),
  jest: tool(
    "jest",
    "--globalSetup:text --globalTeardown:text --testEnvironment:text --runner:text --reporters:text --transform:text --setupFiles:text",
  ),
  vitest: tool("vitest", "--globalSetup:text --reporter:text --environment:text -r,--root:path"),
  mocha: tool("mocha", "-r,--require:text --import:text --reporter:text --ui:text"),
  webpack: tool("webpack", "--env:text"),
  vite: tool("vite", "--root:path"),
  rollup: tool("rollup", "-p,--plugin:text --configPlugin:text"),
  nvm: versionManager("nvm"),
  fnm: versionManager("fnm"),
  volta: versionManager("volta"),
  asdf: versionManager("asdf"),
};

/** The names of scripts, or one of them. */
function scripts(line: string): Binary {
  return {
    flags: `--json ${QUIET}`,
    reviewFlags: NPM_REVIEW,
    excess: SCRIPT,
    silentWith: QUIET,
    examples: { safe: [`${line} ${QUIET}`], review: [line, `${line} build`] },
  };
}

/**
 * Loads hooks, or a program of its own from the project, whatever it is asked: also its version.
 */
function packageManager(name: string, lists: string): Binary {
  return {
    reviewFlags: NPM_REVIEW,
    subcommands: {
      ...changing(name, lists, "change: loads hooks of the project to list packages"),
      ...changing(name, "config set plugin global", SETS),
      ...installing(
        name,
        "install i add remove update up upgrade link unlink rebuild prune dedupe import fetch patch",
      ),
      ...changing(name, "run test start build dev lint", SCRIPT),
      ...changing(name, "exec dlx create init node", RUNS),
      ...changing(name, "publish login logout", "network: changes what the registry holds"),
    },
    examples: {
      safe: [],
      review: [
        `${name} -v`,
        `${name} --version`,
        name,
        `${name} add x`,
        `${name} run build`,
        `${name} dlx x`,
        `${name} list`,
        `${name} --script-shell ./x run y`,
      ],
    },
  };
}

function runner(name: string): Binary {
  const rows = versionRows(name, ["--version", "-v"]);
  return {
    alone: rows.alone,
    review: RUNS,
    examples: {
      safe: rows.safe,
      review: [...rows.review, `${name} tsc --version`, name, `${name} -c id`],
    },
  };
}

function tool(name: string, loads: string): Binary {
  const rows = versionRows(name, ["--version"]);
  return {
    alone: rows.alone,
    review: "change: runs code of the project",
    reviewFlags: {
      "-c,--config:path": LOADS,
      ...Object.fromEntries(loads.split(" ").map((flag) => [flag, LOADS] as const)),
    },
    examples: {
      safe: rows.safe,
      review: [
        ...rows.review,
        `${name} -v`,
        `${name} .`,
        `${name} --config=./x .`,
        `${name} -c ./x`,
      ],
    },
  };
}

function versionManager(name: string): Binary {
  return reviewed(
    UNPROVEN,
    `${name} list`,
    `${name} current`,
    `${name} --version`,
    `${name} use 20`,
    `${name} exec 20 x`,
  );
}
