// Preloaded: kills its own process at the n-th call that changes the file system, which
// ACP_TEST_KILL_AT names. Before the call with an even number, after it with an odd one.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const at = Number(process.env.ACP_TEST_KILL_AT ?? "0");
let calls = 0;
const die = () => process.kill(process.pid, "SIGKILL");
for (const name of [
  "mkdir",
  "open",
  "rename",
  "link",
  "unlink",
  "rm",
  "cp",
  "copyFile",
  "symlink",
]) {
  const real = fs.promises[name];
  fs.promises[name] = async (...words) => {
    const isChange =
      name !== "open" || (words[1] !== "r" && words[1] !== undefined && words[1] !== 0);
    if (!isChange) return real(...words);
    calls += 1;
    if (calls * 2 === at) die();
    const result = await real(...words);
    if (calls * 2 + 1 === at) die();
    return result;
  };
}
syncBuiltinESMExports();
process.on("exit", () => {
  if (process.env.ACP_TEST_CALLS === "1") fs.writeSync(2, `calls ${calls}\n`);
});
