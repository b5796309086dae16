/**
 * A process that rotates the keys of a home until it is killed. Arguments: the home, the text of
 * its key file. Says `ready` on stdout.
 */
import { writeSync } from "node:fs";
import { homePaths } from "../src/paths.js";
import { rotateKeys } from "../src/keys.js";

const [dir = "", text = ""] = process.argv.slice(2);
writeSync(1, "ready\n");
for (;;) await rotateKeys(homePaths(dir), { kind: "key-file", text: `${text}\n` });
