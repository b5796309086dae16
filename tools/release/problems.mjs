// What has to be settled before a release: the fields that only the project's owner can fill, and
// whether the tag is the version.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packages, readManifest, root } from "../workspace.mjs";

/** Stands where the owner of the project has to write something. */
export const PLACEHOLDER = "OWNER-FILLS-THIS";

const REPOSITORY = /^git\+https:\/\/[\w.-]+\/[\w.-]+\/[\w.-]+\.git$/;
const REPORTING_ADDRESS = /^## Reporting\n[^#]*?[\w.+-]+@[\w-]+\.[\w.-]+/m;

/**
 * The repository that every published manifest names. It stands in the root package.json alone.
 *
 * @param {string} [from]
 * @returns {string} Empty where there is none.
 */
export function repositoryUrl(from = root) {
  const { repository } = readManifest(from);
  const isTable = typeof repository === "object" && repository !== null && "url" in repository;
  return isTable && typeof repository.url === "string" ? repository.url : "";
}

/** @param {string} from */
function ownerProblems(from) {
  const url = repositoryUrl(from);
  const security = readFileSync(join(from, "SECURITY.md"), "utf8");
  return [
    ...(url.includes(PLACEHOLDER)
      ? [
          `package.json: "repository" still says ${PLACEHOLDER}: write the address of the project's repository`,
        ]
      : []),
    ...(REPOSITORY.test(url)
      ? []
      : [`package.json: "repository.url" must be git+https://HOST/OWNER/NAME.git, is "${url}"`]),
    ...(security.includes(PLACEHOLDER)
      ? [
          `SECURITY.md: still says ${PLACEHOLDER}: write the address that takes reports of vulnerabilities`,
        ]
      : []),
    ...(REPORTING_ADDRESS.test(security)
      ? []
      : ['SECURITY.md: "Reporting" names no e-mail address']),
  ];
}

/**
 * Compares with what GitHub Actions says about its run. The registry refuses a provenance statement
 * that names another repository, and by then some packages would be out.
 *
 * @param {string} from
 * @param {Readonly<Record<string, string | undefined>>} env
 */
function runProblems(from, env) {
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: name,
    GITHUB_REF_TYPE: type,
    GITHUB_REF_NAME: tag,
  } = env;
  const ours = repositoryUrl(from);
  const theirs = `git+${server}/${name}.git`;
  const versions = [...new Set(packages(from).map(({ manifest }) => `v${manifest.version}`))];
  return [
    ...(name === undefined || theirs === ours
      ? []
      : [`package.json: "repository.url" is "${ours}", and this run belongs to "${theirs}"`]),
    ...(type !== "tag" || versions.every((version) => version === tag)
      ? []
      : [`the tag is ${tag}, the packages are ${versions.join(", ")}`]),
  ];
}

/**
 * Why nothing may be released now; empty where it may.
 *
 * @param {string} [from] - Another repository root, for tests.
 * @param {Readonly<Record<string, string | undefined>>} [env]
 * @returns {string[]}
 */
export const releaseProblems = (from = root, env = {}) => [
  ...ownerProblems(from),
  ...runProblems(from, env),
];

/**
 * Ends the program with a message where nothing may be released.
 *
 * @param {string} [from]
 * @param {Readonly<Record<string, string | undefined>>} [env]
 */
export function stopUnlessReady(from = root, env = {}) {
  const problems = releaseProblems(from, env);
  if (problems.length === 0) return;
  process.stderr.write(
    `✗ Cannot release yet:\n${problems.map((problem) => `    ${problem}\n`).join("")}`,
  );
  process.exit(1);
}
