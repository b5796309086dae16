/**
 * Python's tools: what lists packages without running code of the project or asking the network.
 */
import { reviewed, UNPROVEN } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

const INSTALLS = "change: installs packages, whose code runs";
const INDEX = "network: asks the index of packages";

const PIP_REVIEW = {
  "-i,--index-url,--extra-index-url:text": "exec: takes packages, whose code runs, from elsewhere",
  "-f,--find-links:text": "exec: takes packages, whose code runs, from elsewhere",
  "--python:path": "exec: runs another Python",
  "--config-settings:text": "exec: passes settings to code that runs",
  "--log:path": "write: writes a file",
  "--proxy,--cert,--client-cert,--trusted-host:text":
    "exec: takes packages, whose code runs, in another way",
};

const INSTALL_REVIEW = { ...PIP_REVIEW, "--user": "write: installs outside of the project" };
const QUIET = "--disable-pip-version-check";

const LIST: Binary = {
  flags:
    "-e,--editable -l,--local --user --path:path --pre --format:text --not-required --exclude-editable --include-editable --exclude:text -v -q --no-index --disable-pip-version-check",
  reviewFlags: { ...PIP_REVIEW, "-o,--outdated,-u,--uptodate": INDEX },
  silentWith: QUIET,
  examples: {
    safe: [`pip list ${QUIET}`, `pip list --format=json ${QUIET}`, `pip3 list ${QUIET}`],
    review: [
      "pip list",
      "pip list -o",
      "pip list --outdated",
      "pip list --outd",
      "pip list --log x",
      "pip list -i x",
    ],
  },
};

const changing = (name: string, subcommands: string, review: string): BinaryTable =>
  Object.fromEntries(
    subcommands.split(/\s+/).map(
      (sub) =>
        [
          sub,
          {
            review,
            reviewFlags: PIP_REVIEW,
            examples: { safe: [], review: [`${name} ${sub} x`] },
          },
        ] as const,
    ),
  );

const pip = (name: string): Binary => ({
  flags: "-V,--version --disable-pip-version-check",
  reviewFlags: PIP_REVIEW,
  subcommands: {
    list: LIST,
    freeze: {
      flags: "-l,--local --user --path:path --all --exclude-editable --exclude:text",
      reviewFlags: { ...PIP_REVIEW, "-r,--requirement:path": "read: reads another file" },
      examples: { safe: [`${name} freeze`], review: [`${name} freeze -r x`] },
    },
    show: {
      flags: "-f,--files -v --verbose",
      reviewFlags: {
        "--python:path": PIP_REVIEW["--python:path"],
        "--log:path": PIP_REVIEW["--log:path"],
      },
      operands: "text+",
      examples: { safe: [`${name} show -f requests`], review: [`${name} show`] },
    },
    check: {
      flags: "-v -q",
      reviewFlags: PIP_REVIEW,
      examples: { safe: [`${name} check`], review: [`${name} check --log x`] },
    },
    ...Object.fromEntries(
      Object.entries(changing(name, "install uninstall download wheel", INSTALLS)).map(
        ([sub, entry]) => [sub, { ...entry, reviewFlags: INSTALL_REVIEW, operands: "package*" }],
      ),
    ),
    config: reviewed(
      "exec: changes settings, which name the index of packages",
      `${name} config set a.b c`,
    ),
    ...changing(name, "search index inspect hash debug", INDEX),
  },
  examples: {
    safe: [`${name} --version`, `${name} list ${QUIET}`],
    review: [
      name,
      `${name} install x`,
      `${name} install -i https://x.example y`,
      `${name} config list`,
      `${name} --python ./x list`,
    ],
  },
});

export const pythonTools: BinaryTable = {
  pip: pip("pip"),
  pip3: pip("pip3"),
  uv: {
    subcommands: {
      version: reviewed(UNPROVEN, "uv version --short"),
      run: {
        review: "exec: runs another program",
        examples: { safe: [], review: ["uv run x.py"] },
      },
      tool: {
        review: "exec: runs another program",
        examples: { safe: [], review: ["uv tool run x"] },
      },
      ...changing("uv", "pip add remove sync lock venv build", INSTALLS),
    },
    examples: { safe: [], review: ["uv --version", "uv", "uv run x.py", "uv sync"] },
  },
  uvx: {
    review: "exec: runs another program",
    examples: { safe: [], review: ["uvx --version", "uvx ruff"] },
  },
  pipx: {
    subcommands: {
      list: {
        review: "change: writes a log and folders of its own",
        examples: { safe: [], review: ["pipx list"] },
      },
      run: { review: "exec: runs another program", examples: { safe: [], review: ["pipx run x"] } },
    },
    examples: { safe: [], review: ["pipx --version", "pipx install x"] },
  },
  poetry: {
    subcommands: {
      run: {
        review: "exec: runs another program",
        examples: { safe: [], review: ["poetry run x"] },
      },
      ...changing("poetry", "install add remove update lock show build publish", INSTALLS),
    },
    examples: { safe: [], review: ["poetry --version", "poetry", "poetry install"] },
  },
  conda: {
    subcommands: {
      list: reviewed(UNPROVEN, "conda list"),
      info: reviewed(UNPROVEN, "conda info --envs"),
      run: {
        review: "exec: runs another program",
        examples: { safe: [], review: ["conda run x"] },
      },
    },
    examples: { safe: [], review: ["conda --version", "conda install x"] },
  },
  pytest: {
    // `-V` runs the tests, and `--help` what configures them.
    alone: "--version",
    review: "change: runs code of the project",
    reviewFlags: {
      "-p:text": "exec: loads a plugin",
      "-c,--config-file:path": "exec: reads other settings",
      "-o,--override-ini:text": "exec: changes settings",
      "--rootdir:path": "exec: reads other settings",
      "--confcutdir:path": "exec: reads other settings",
    },
    examples: {
      safe: ["pytest --version"],
      review: [
        "pytest",
        "pytest -V",
        "pytest --help",
        "pytest -p x",
        "pytest -c x",
        "pytest tests",
      ],
    },
  },
};
