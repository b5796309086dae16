/**
 * fetch-patch: `node --import @acp/proxy-http/fetch-patch agent.mjs` sends requests of fetch,
 * node:http and node:https through the proxy that HTTP_PROXY and HTTPS_PROXY name. It is a
 * convenience for cooperative programs and isolates nothing. Limits: docs/how-to/http-proxy.md.
 */
import { readEnvironment } from "./fetch-patch/environment.js";
import { patchAgents } from "./fetch-patch/patch-agents.js";
import { patchFetch } from "./fetch-patch/patch-fetch.js";

const proxyOf = readEnvironment(process.env);
patchAgents(proxyOf);
patchFetch(proxyOf);
