/**
 * Own program: what a command of this very installation is started as. The build puts all code into
 * the files of one folder, so this path holds from each of them.
 */
import { fileURLToPath } from "node:url";

/** `acp` of this installation, for Node.js to run. */
export const OWN_PROGRAM: string = fileURLToPath(new URL("../bin/acp.cjs", import.meta.url));
