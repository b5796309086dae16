/**
 * Binaries: every built-in table as one. A program stands in one table only, which a test checks.
 */
import { archives } from "./families/archives.js";
import { builtins } from "./families/builtins.js";
import { changes } from "./families/changes.js";
import { compiledTools } from "./families/compiled-tools.js";
import { data } from "./families/data.js";
import { files } from "./families/files.js";
import { git } from "./families/git.js";
import { interpreters } from "./families/interpreters.js";
import { network } from "./families/network.js";
import { nodeTools } from "./families/node-tools.js";
import { pagersAndEditors } from "./families/pagers-and-editors.js";
import { pythonTools } from "./families/python-tools.js";
import { search } from "./families/search.js";
import { services } from "./families/services.js";
import { system } from "./families/system.js";
import type { BinaryTable } from "./table.js";
import { text } from "./families/text.js";
import { versions } from "./families/versions.js";

/** The tables, one a family. */
export const TABLES: readonly BinaryTable[] = [
  archives,
  builtins,
  changes,
  compiledTools,
  data,
  files,
  git,
  interpreters,
  network,
  nodeTools,
  pagersAndEditors,
  pythonTools,
  search,
  services,
  system,
  text,
  versions,
];

/** The built-in programs by name. */
export const BINARIES: BinaryTable = Object.fromEntries(
  TABLES.flatMap((table) => Object.entries(table)),
);
