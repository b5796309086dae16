/** Opens the webhook channel of a home, and listens for its answers where the file says so. */
import { type RequestListener, createServer } from "node:http";
import { createWebhookChannel, toNodeHandler } from "@acp/channel-webhook";
import { ConsentError } from "@acp/core";
import { type ListenAddress, openWebhookConfig } from "@acp/home";
import { onFile } from "../../failure.js";
import { type ChannelParts, type OpenChannel, sectionOf, subjectsOf } from "./channel-row.js";

/** @throws ConsentError `key_locked`, `vault_invalid`, `config_invalid`, naming the file. */
export async function openWebhook({
  source: { file, config },
  keys,
  notices,
  claims,
}: ChannelParts): Promise<OpenChannel> {
  const settings = sectionOf(config, "webhook");
  const channel = await onFile(file, () => {
    const { url, secret, linkUrl, allowPrivateHosts } = openWebhookConfig(settings, keys);
    return createWebhookChannel({
      url,
      secret,
      claims,
      ...subjectsOf(config, "webhook"),
      ...(linkUrl === undefined ? {} : { linkUrl }),
      ...(allowPrivateHosts === undefined ? {} : { allowPrivateHosts }),
      warn: (text) => notices.tell("channel_warning", text),
    });
  });
  const { listen: address } = settings;
  if (address === undefined) return channel;
  const listener = await onFile(file, () => listen(toNodeHandler(channel.handler), address));
  return {
    name: channel.name,
    deliver: (request, session) => channel.deliver(request, session),
    async [Symbol.asyncDispose]() {
      await channel.close();
      await listener[Symbol.asyncDispose]();
    },
  };
}

/** Where answers come in. */
async function listen(
  handler: RequestListener,
  { host, port }: ListenAddress,
): Promise<AsyncDisposable> {
  const server = createServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: Error) =>
      reject(
        new ConsentError(
          "config_invalid",
          `Cannot listen on ${host} port ${port}: ${cause.message}`,
          { cause },
        ),
      ),
    );
    server.listen({ host, port, exclusive: true }, resolve);
  });
  return {
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
