// CHANGELOG.md of the repository: one for all packages, because they carry one version and many
// changes concern several. Changesets would repeat such a change in the changelog of each.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ names: readonly string[], isBreaking: boolean, text: string }} Change */

const TITLE =
  "# Changelog\n\nWhat changes for users of the `@acp/*` packages; [VERSIONING.md](VERSIONING.md) says what counts as breaking.\n";
const FIRST =
  'The first release. "Before" and "until now" below speak of versions that were not published.';
const COMMAND_LINE = "@acp/cli";

/**
 * @param {string} text - A file of .changeset/.
 * @returns {Change}
 */
function readChangeset(text) {
  const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const names = [...head.matchAll(/^"([^"]+)":/gm)].map(([, name = ""]) => name);
  return { names, isBreaking: /: (?:minor|major)$/m.test(head), text: body.trim() };
}

/**
 * The changes that wait for a release, in the order of their file names.
 *
 * @param {string} from - A repository root.
 */
export function readChangesets(from) {
  const folder = join(from, ".changeset");
  const files = readdirSync(folder).filter((file) => file.endsWith(".md") && file !== "README.md");
  return files.sort().map((file) => readChangeset(readFileSync(join(folder, file), "utf8")));
}

/** Where readers look for a change: with the command, or with the package that it names first. */
const placeOf = (/** @type {Change} */ { names }) =>
  names.includes(COMMAND_LINE) ? COMMAND_LINE : (names[0] ?? "");

/** @param {Change} change */
function entryOf(change) {
  const others = change.names.filter((name) => name !== placeOf(change));
  const also =
    others.length === 0 ? "" : ` (Also ${others.map((name) => `\`${name}\``).join(", ")}.)`;
  return `- ${(change.text + also).replaceAll(/\n(?=[^\n])/g, "\n  ")}\n`;
}

/**
 * @param {string} title
 * @param {readonly Change[]} changes
 */
function partOf(title, changes) {
  if (changes.length === 0) return [];
  const places = [...new Set(changes.map(placeOf))].sort(
    (a, b) => Number(b === COMMAND_LINE) - Number(a === COMMAND_LINE) || a.localeCompare(b),
  );
  const groups = places.map(
    (place) =>
      `#### ${place}\n\n${changes
        .filter((change) => placeOf(change) === place)
        .map(entryOf)
        .join("")}`,
  );
  return [`### ${title}\n`, ...groups];
}

/**
 * What one release says. Before 1.0 a raised minor number says that something breaks, from then on
 * a raised major number.
 *
 * @param {string} version
 * @param {readonly Change[]} changes
 * @param {boolean} isFirst - Nothing was released before, so nothing can break.
 */
export function makeSection(version, changes, isFirst) {
  const parts = isFirst
    ? [`${FIRST}\n`, ...partOf("What there is", changes)]
    : [
        ...partOf(
          "May need a change of yours",
          changes.filter(({ isBreaking }) => isBreaking),
        ),
        ...partOf(
          "Other changes",
          changes.filter(({ isBreaking }) => !isBreaking),
        ),
      ];
  return [`## ${version}\n`, ...parts].join("\n");
}

/**
 * Puts the section of a release above those of earlier ones.
 *
 * @param {string} from - A repository root.
 * @param {string} section
 */
export function addSection(from, section) {
  const path = join(from, "CHANGELOG.md");
  const [, ...earlier] = existsSync(path) ? readFileSync(path, "utf8").split(/\n(?=## )/) : [];
  writeFileSync(path, [TITLE, section, ...earlier].join("\n"));
}
