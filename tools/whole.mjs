// Whole programs: an entry in CommonJS is one file with every package of ours and every library in
// it, because Node starts that soonest. Made from the sources, as `npm test` runs them.
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "tsup";
import { root } from "./workspace.mjs";

/** @typedef {import("tsup").Options} Options */
/** @typedef {NonNullable<Options["esbuildPlugins"]>[number]} Plugin */

/**
 * Libraries that stay outside, each with the package of ours that asks for it, where it is found:
 * what few runs need, and what comes in many files.
 */
const OUTSIDE = {
  "@simplewebauthn/server": "channel-web",
  ajv: "proxy-mcp",
  // Of servers that want a sign-in, when a token is renewed.
  "@acp/proxy-mcp/oauth": "proxy-mcp",
  // Of `acp mcp wrap`, which this program never runs.
  "@decimalturn/toml-patch": "cli",
  "jsonc-parser": "cli",
};

/**
 * Sources of ours that no such program runs, with what they export: with what only they need they stay
 * out of it.
 */
const NEVER_RUN = {
  "cli/src/commands/mcp-login.ts": ["mcpLogin", "mcpLogout"],
  "cli/src/commands/mcp-restart.ts": ["mcpRestart"],
  "cli/src/commands/mcp-review.ts": ["mcpReview"],
  "cli/src/commands/mcp-scan.ts": ["mcpScan"],
  "cli/src/commands/mcp-serve.ts": ["serveMcpHttp", "serveMcpHttpLocked"],
  "cli/src/commands/mcp-wrap.ts": ["mcpStatus", "mcpUnwrap", "mcpWrap"],
  "cli/src/resident/shared-servers.ts": ["createSharedServers"],
  "cli/src/servers/live-servers.ts": ["liveSource", "openLiveServers"],
};

/**
 * @param {string} dir - A package's.
 * @param {string} name - An entry's.
 */
export async function bundleWhole(dir, name) {
  /** @type {Set<string>} */
  const libraries = new Set();
  const file = join(dir, "dist", `${name}.cjs`);
  const options = /** @type {Options} */ ({
    entry: { [name]: join(dir, "src", `${name}.ts`) },
    outDir: join(dir, "dist"),
    outExtension: () => ({ js: ".cjs" }),
    format: "cjs",
    target: "node20",
    platform: "node",
    noExternal: [/./],
    splitting: false,
    dts: false,
    silent: true,
    config: false,
    clean: false,
    // Where it says which name of ours is which source.
    tsconfig: join(root, "tsconfig.json"),
    esbuildPlugins: [leaveOut, keepPlaces(dir), leaveOutside, noteLibraries(libraries)],
    esbuildOptions: (esbuild) => {
      esbuild.mainFields = ["module", "main"];
      // A script of node:vm has no import().
      esbuild.supported = { "dynamic-import": false };
      esbuild.legalComments = "none";
    },
  });
  await build(options).catch(() => {
    throw new Error(`${file} does not bundle: see the errors above`);
  });
  writeFileSync(file, inAscii(readFileSync(file, "utf8")));
  for (const library of libraries) copyNotice(library, join(dir, "dist"));
}

/** A text of one byte a character is read and compiled sooner. Letters are in strings and regular expressions. */
const inAscii = (/** @type {string} */ text) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * What lies beside a source is looked for beside the built file of its package: that of the program
 * itself, or that which the program would find.
 *
 * @param {string} dir
 * @returns {Plugin}
 */
const keepPlaces = (dir) => ({
  name: "keep-places",
  setup({ onLoad }) {
    onLoad({ filter: /\/packages\/[^/]+\/src\/.*\.ts$/ }, ({ path }) => {
      const [, folder] = /.*\/packages\/([^/]+)\/src\//.exec(path) ?? [];
      const place = dir.endsWith(`/${folder}`) ? "__filename" : `require.resolve("@acp/${folder}")`;
      return {
        loader: "ts",
        contents: readFileSync(path, "utf8")
          .replaceAll("import.meta.url", `(require("node:url").pathToFileURL(${place}).href)`)
          .replace(
            /import\.meta\.resolve\(("[^"]+")\)/g,
            '(require("node:url").pathToFileURL(require.resolve($1)).href)',
          ),
      };
    });
  },
});

/** @type {Plugin} */
const leaveOut = {
  name: "leave-out",
  setup({ onLoad }) {
    for (const [source, names] of Object.entries(NEVER_RUN))
      onLoad({ filter: new RegExp(`/packages/${source.replaceAll(".", "\\.")}$`) }, () => ({
        contents: names
          .map((each) => `export function ${each}() { throw new Error("${each} is not in here"); }`)
          .join("\n"),
      }));
  },
};

/** @type {Plugin} */
const leaveOutside = {
  name: "leave-outside",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true }));
    for (const [library, folder] of Object.entries(OUTSIDE)) {
      onResolve({ filter: new RegExp(`^${library}(/.*)?$`) }, ({ path }) => ({
        path,
        namespace: folder,
      }));
      onLoad({ filter: /.*/, namespace: folder }, ({ path }) => ({
        contents: `module.exports = require("node:module").createRequire(require.resolve("@acp/${folder}"))("${path}");`,
      }));
    }
  },
};

/**
 * @param {Set<string>} libraries - Gets the directories of those that are in the file.
 * @returns {Plugin}
 */
const noteLibraries = (libraries) => ({
  name: "note-libraries",
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => {
      const [, library] = /(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
      if (library !== undefined) libraries.add(library);
      return undefined;
    });
  },
});

/**
 * Its licence asks to be passed on with every copy. Not by that word: pnpm would then leave out our
 * own.
 *
 * @param {string} library
 * @param {string} dist
 */
function copyNotice(library, dist) {
  const [, name = ""] = /.*\/node_modules\/(.*)$/.exec(library) ?? [];
  const licence = readdirSync(library).find((file) => /^licen[cs]e(?:\.\w+)?$/i.test(file));
  if (licence === undefined) throw new Error(`${library} has no license to pass on`);
  copyFileSync(join(library, licence), join(dist, `NOTICE-${name.replace("/", "-")}.txt`));
}
