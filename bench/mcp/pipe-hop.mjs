// The floor of every hop: a process that starts the server and passes bytes on, unread.
import { spawn } from "node:child_process";

const child = spawn(process.execPath, [process.argv[2]], { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.on("exit", () => process.exit(0));
