/** Binaries: every built-in table as one. A program stands in one table only, which a test checks. */
import { archives } from "./tables/archives.js";
import { builtins } from "./tables/builtins.js";
import { changes } from "./tables/changes.js";
import { compiledTools } from "./tables/compiled-tools.js";
import { data } from "./tables/data.js";
import { files } from "./tables/files.js";
import { git } from "./tables/git.js";
import { interpreters } from "./tables/interpreters.js";
import { network } from "./tables/network.js";
import { nodeTools } from "./tables/node-tools.js";
import { pagersAndEditors } from "./tables/pagers-and-editors.js";
import { pythonTools } from "./tables/python-tools.js";
import { search } from "./tables/search.js";
import { services } from "./tables/services.js";
import { system } from "./tables/system.js";
import type { BinaryTable } from "./table.js";
import { text } from "./tables/text.js";
import { versions } from "./tables/versions.js";

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
export const BINARIES: BinaryTable = Object.fromEntries(TABLES.flatMap((table) => Object.entries(table)));
