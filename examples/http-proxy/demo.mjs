// demo.ts on Node 20: tsx reads the TypeScript. Without the repository's tsconfig @acp/* are the
// built packages, as a user has them.
import { tsImport } from "tsx/esm/api";

await tsImport("./demo.ts", { parentURL: import.meta.url, tsconfig: false });
