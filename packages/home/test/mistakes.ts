/** Configurations that do not load: what is wrong with each, its text, and a part of the message. */

/** A configuration with one server, which is written like this. */
export const oneServer = (rest: string): string => `proxy: { upstream_servers: [{ ${rest} }] }`;
const server = oneServer;

/** Name, text, and a part of the message. */
export const CONFIG_MISTAKES: readonly (readonly [string, string, string])[] = [
  ["an empty file", "", "the file is empty"],
  ["a list", "- a", "expected a map"],
  ["a misspelt key", "chanel: prompt", 'unknown key "chanel"; did you mean channel?'],
  [
    "a misspelt key further down",
    "proxy: { upstream_server: [] }",
    "did you mean upstream_servers?",
  ],
  ["another version", 'version: "2"', 'did you mean "1"?'],
  ["a version that is a number", "version: 1", 'did you mean "1"?'],
  ["another channel", "channel: telegraf", "did you mean telegram?"],
  [
    "a channel without its settings",
    "channel: webhook",
    'the section "webhook" with its settings is missing',
  ],
  ["no channel at all", "channel: []", "it lists no channel"],
  ["a channel twice", "channel: [prompt, terminal]", "twice"],
  [
    "a channel beside an escalation",
    "channel: prompt\nescalation: [{ channel: prompt }]",
    'so remove "channel"',
  ],
  ["an escalation without stages", "escalation: []", "does not have 1 to 16 stages"],
  ["a stage without a channel", "escalation: [{ after_seconds: 5 }]", '"channel" is missing'],
  [
    "a first stage that waits",
    "escalation: [{ channel: prompt, after_seconds: 5 }]",
    "starts at once",
  ],
  [
    "stages out of order",
    "escalation: [{ channel: prompt }, { channel: prompt }]",
    "not in ascending order",
  ],
  [
    "approvers in some stages",
    "approvers: [{ id: a, channel: terminal, subject: s }]\nescalation: [{ channel: prompt }, { channel: prompt, after_seconds: 5, approvers: [a] }]",
    "some stages name approvers",
  ],
  [
    "a stage for nobody known",
    "escalation: [{ channel: prompt, approvers: [bob] }]",
    "no approver and no group",
  ],
  [
    "a stage's channel without its settings",
    "escalation: [{ channel: telegram }]",
    'the section "telegram" with its settings is missing',
  ],
  [
    "a port that is none",
    "webhook: { url: 'https://h', secret: s, listen: 70000 }",
    "neither a port",
  ],
  [
    "an address without a port",
    "webhook: { url: 'https://h', secret: s, listen: localhost }",
    "neither a port",
  ],
  [
    "links without a listener",
    "webhook: { url: 'https://h', secret: s, link_url: 'https://l' }",
    "does nothing",
  ],
  ["half the settings of a channel", "telegram: { chat_id: '1' }", '"bot_token" is missing'],
  ["a chat that is a number", "telegram: { bot_token: a, chat_id: 17 }", 'did you mean "17"?'],
  ["a webhook that is no URL", "webhook: { url: example, secret: a }", "not a URL"],
  [
    "a webhook of another scheme",
    "webhook: { url: 'file:///x', secret: a }",
    "not an http or https URL",
  ],
  [
    "a webhook with a password",
    "webhook: { url: 'https://a:b@c', secret: a }",
    "must not contain a username or password",
  ],
  ["a port beyond all", "proxy: { port: 65536 }", "from 1 to 65535"],
  ["half a port", "proxy: { http_port: 80.5 }", "whole number"],
  ["a timeout of nothing", "defaults: { timeout_seconds: 0 }", "from 1 to 604800"],
  ["a timeout beyond a week", "defaults: { timeout_seconds: 604801 }", "from 1 to 604800"],
  ["a timeout in quotes", "defaults: { timeout_seconds: '60' }", "did you mean 60?"],
  ["an empty path", "defaults: { policy: '' }", "the string is empty"],
  ["another user's path", "defaults: { policy: ~bob/p.yml }", 'works only alone or as "~/"'],
  ["a server without a name", server("command: x"), '"name" is missing'],
  [
    "a server of both kinds",
    server("name: a, command: x, url: 'http://h'"),
    'either "command" or "url"',
  ],
  ["a server of no kind", server("name: a"), 'either "command" or "url"'],
  [
    "arguments of a URL",
    server("name: a, url: 'http://h', args: []"),
    '"args" works only with "command"',
  ],
  ["a shell's command", server("name: a, command: 'x | y'"), "there is no shell"],
  ["a name in capitals", server("name: Files, command: x"), "lowercase letters"],
  ["a name with two underscores", server("name: a__b, command: x"), "single underscores"],
  [
    "two servers of one name",
    "proxy: { upstream_servers: [{ name: a, command: x }, { name: a, command: y }] }",
    'another server is called "a"',
  ],
  ["a variable that is a number", server("name: a, command: x, env: { A: 1 }"), "put it in quotes"],
  ["a variable with a NUL", server('name: a, command: x, env: { A: "b\\0c" }'), "NUL character"],
  [
    "a variable of a strange name",
    server("name: a, command: x, env: { 'A=B': '1' }"),
    "a variable's name",
  ],
  [
    "an approver without a subject",
    "approvers: [{ id: a, channel: telegram }]",
    '"subject" is missing',
  ],
  [
    "one subject twice",
    "approvers: [{ id: a, channel: t, subject: '1' }, { id: b, channel: t, subject: '1' }]",
    "same channel and subject",
  ],
  [
    "two spellings of one subject",
    "approvers: [{ id: a, channel: t, subject: bo }, { id: b, channel: t, subject: 'Bo ' }]",
    "same channel and subject",
  ],
  [
    "a channel's name in capitals",
    "approvers: [{ id: a, channel: T, subject: '1' }]",
    "lowercase letters",
  ],
  [
    "two spellings of one name",
    "approvers: [{ id: ann, channel: t, subject: '1' }, { id: 'Ann ', channel: t, subject: '2' }]",
    "are the same name",
  ],
  [
    "a name that nobody sees",
    'approvers: [{ id: "\u200b", channel: t, subject: x }]',
    "no visible character",
  ],
  [
    "two groups of one name",
    "approvers: [{ id: a, channel: t, subject: '1' }]\ngroups: { ops: [a], OPS: [a] }",
    "another group has the same name",
  ],
  ["a group of strangers", "groups: { g: [ada] }", 'no approver with the id "ada"'],
  [
    "a group named like an approver",
    "approvers: [{ id: a, channel: t, subject: '1' }]\ngroups: { a: [a] }",
    "the same name",
  ],
  [
    "an encrypted text where none is opened",
    server("name: a, command: x, args: ['encrypted:abc']"),
    "only telegram.bot_token, webhook.secret",
  ],
  ["an encrypted chat", "telegram: { bot_token: a, chat_id: encrypted:abc }", "can be encrypted"],
  ["a key twice", "channel: prompt\nchannel: prompt", "appears twice"],
  ["an alias", "channel: &a prompt\ngroups: *a", "anchor"],
];
