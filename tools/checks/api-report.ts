/**
 * The public surface of every package as a reviewed file, etc/<package>.api.md; `--update` writes
 * it. A type that the surface uses but does not export is a problem of its own.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import type { ExtractorMessage, IConfigFile } from "@microsoft/api-extractor";
import { packages, root as home } from "../workspace.mjs";
import type { Check } from "./check.js";

const COMPILER = {
  target: "ES2022",
  module: "NodeNext",
  lib: ["ES2023", "ESNext.Disposable"],
  types: ["node"],
  typeRoots: [join(home, "node_modules/@types")],
  strict: true,
  skipLibCheck: true,
};

interface Entry {
  readonly name: string;
  readonly dir: string;
  readonly types: string;
}

/** Every subpath of every package that has types. */
function entriesOf(root: string): readonly Entry[] {
  return packages(root).flatMap(({ folder, dir, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
      const types = typeof target === "string" ? undefined : target["types"];
      const name = [folder, ...subpath.split("/").slice(1)].join("-");
      return types === undefined ? [] : [{ name, dir, types: join(dir, types) }];
    }),
  );
}

function configOf(root: string, { name, dir, types }: Entry, temp: string): ExtractorConfig {
  const none = { logLevel: ExtractorLogLevel.None };
  const configObject: IConfigFile = {
    mainEntryPointFilePath: types,
    projectFolder: dir,
    // What an entry hands on is part of its surface, as if it were its own.
    bundledPackages: name.startsWith("core") ? ["@acp/exec-safety"] : [],
    compiler: { overrideTsconfig: { compilerOptions: COMPILER, files: [types] } },
    apiReport: {
      enabled: true,
      reportFileName: `${name}.api.md`,
      reportFolder: join(root, "etc"),
      reportTempFolder: temp,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    newlineKind: "lf",
    messages: {
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      extractorMessageReporting: {
        default: { logLevel: ExtractorLogLevel.Error },
        "ae-missing-release-tag": none,
        "ae-undocumented": none,
        "ae-unresolved-link": none,
      },
      tsdocMessageReporting: { default: none },
    },
  };
  return ExtractorConfig.prepare({
    configObject,
    configObjectFullPath: undefined,
    packageJsonFullPath: join(dir, "package.json"),
  });
}

/**
 * A brand is not exported on purpose; what a subpath uses may be exported by the package's main
 * entry.
 */
function isMeant({ name, dir }: Entry, { messageId, text }: ExtractorMessage): boolean {
  return (
    messageId === "ae-forgotten-export" &&
    (name !== basename(dir) || /^The symbol "\w+Brand"/.test(text))
  );
}

function problemsOf(
  root: string,
  entry: Entry,
  { update, temp }: { update: boolean; temp: string },
): readonly string[] {
  if (!existsSync(entry.types)) return [`${relative(root, entry.types)}: is not built`];
  const problems: string[] = [];
  const messageCallback = (message: ExtractorMessage): void => {
    message.handled = true;
    if (message.logLevel === ExtractorLogLevel.Error && !isMeant(entry, message))
      problems.push(`etc/${entry.name}.api.md: ${message.text}`);
  };
  const { apiReportChanged } = Extractor.invoke(configOf(root, entry, temp), {
    localBuild: update,
    messageCallback,
  });
  return apiReportChanged && !update
    ? [...problems, `etc/${entry.name}.api.md: does not show the public surface as it is`]
    : problems;
}

export const apiReport: Check = {
  name: "api report",
  remedy:
    "If the change of the public surface is meant: `npm run check -- --update`, read the difference, commit it with a changeset",
  async run({ root, update }) {
    const temp = mkdtempSync(join(tmpdir(), "acp-api-"));
    mkdirSync(join(root, "etc"), { recursive: true });
    try {
      const found: string[] = [];
      for (const entry of entriesOf(root)) {
        found.push(...problemsOf(root, entry, { update, temp }));
        // Other checks go on in between.
        await setImmediate();
      }
      return { problems: found };
    } finally {
      rmSync(temp, { recursive: true, force: true });
    }
  },
};
