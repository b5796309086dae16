/** @acp/home: the ~/.acp directory: config, policy, pause. Private and atomic. */
export { createFileAtomic, writeFileAtomic } from "./atomic.js";
export { DEFAULT_CONFIG, parseConfig, readConfig } from "./config.js";
export type { Config } from "./config.js";
export type { ChannelName, TelegramConfig, WebhookConfig } from "./config-channels.js";
export type { CommandServer, UpstreamServer, UrlServer } from "./config-servers.js";
export { initHome, openHome } from "./home.js";
export type { Home, InitReport } from "./home.js";
export { homePaths, resolveHome, resolvePath } from "./paths.js";
export type { HomePaths, HomeSources, PathOrigins } from "./paths.js";
export { clearPause, readPause, setPause } from "./pause.js";
export type { PauseEnd } from "./pause.js";
export { readPolicyFile } from "./policy-file.js";
export { watchPolicyFile } from "./policy-watch.js";
export type { PolicyWatch, PolicyWatchOptions } from "./policy-watch.js";
export { splitWords } from "./words.js";
export type { SplitWords } from "./words.js";
