/**
 * Load all: what a resident otherwise loads only when somebody needs it. It runs for days, and its
 * files may be replaced by those of another version meanwhile, of which it must not load any.
 */
import { warmSchemas } from "@acp/proxy-mcp";

/** What sessions load late. Only what opens commands is left out: a resident runs none. */
export async function loadAll(): Promise<void> {
  await Promise.all([
    import("@acp/core/exec"),
    import("@acp/proxy-mcp/oauth"),
    import("@acp/channel-web"),
    import("@acp/sandbox-linux"),
    import("picomatch"),
    import("../gate/channels/telegram.js"),
    import("../gate/channels/webhook.js"),
    import("../home/key-clock.js"),
    import("../logs/vault-log.js"),
  ]);
  // A turn of its own: it takes some milliseconds.
  await new Promise((resolve) => setImmediate(resolve));
  warmSchemas();
}
