#!/usr/bin/env node
// In the repository as it is, so that a first install can link it before anything is built.
import { runProcess } from "../dist/index.js";

await runProcess();
