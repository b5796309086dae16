/**
 * Templates: the files that `acp init` writes. They are documentation first; both load as they are.
 */

/** `config.yml`. */
export const CONFIG_TEMPLATE = `# ACP configuration. Every key: spec/home.md. Check it by starting \`acp mcp\`.
version: "1"

# Where questions go. prompt: \`acp approve\` in a terminal of yours; or telegram, webhook, or several: [prompt, telegram].
channel: prompt

# telegram:
#   bot_token: "…"              # from @BotFather
#   chat_id: "…"                # your own number: you are the one who may answer
# webhook:
#   url: https://approvals.example.com/acp
#   secret: "whsec_…"

# MCP servers that \`acp mcp\` starts and stands in front of. One server keeps the names of its tools; of several, each tool is
# called server__tool. A command is split into words and never given to a shell.
proxy:
  upstream_servers: []
  #  - name: files
  #    command: npx -y @modelcontextprotocol/server-filesystem /path/to/a/folder
  #  - name: github
  #    command: npx -y @modelcontextprotocol/server-github
  #    env: { GITHUB_TOKEN: "…" }
  # The HTTP proxy, for what an agent does on the network: acp proxy http, or together with acp mcp. See docs/how-to/http-proxy.md.
  # http_port: 8788
  # private_hosts: [localhost:3000]   # hosts of this machine or its own network that it may reach, where the policy allows it

defaults:
  # How long a question waits for an answer. A question that nobody answers is denied.
  timeout_seconds: 120
  # An agent that asks more often is denied until the time is over, so that nobody drowns in questions. Left out: 60 in ten minutes; none: no limit.
  # prompt_limit: 30/hour
  # Left out: policy.yml beside this file.
  # policy: ~/.acp/policy.yml

# The logs. All of it may be left out.
# audit:
#   rotate_megabytes: 64        # a file that is full is kept beside the log
#   keep_days: 90               # how long a full file stays
#   keep_megabytes: 2048        # and how large all logs together get
#   witnesses:                  # who keeps signed checkpoints, so that a cut or replaced log is found
#     - directory: /media/backup/acp
#     - url: https://witness.example/checkpoints

# Tokens need not be here in plain text: acp config encrypt telegram.bot_token (and webhook.secret, a server's env, an agent's token).
`;

/** `policy.yml`. */
export const POLICY_TEMPLATE = `# ACP policy: may this agent do this, now?
#
# Rules are tried from top to bottom and the first match decides: allow, ask or deny. Where none matches, default_action decides.
# Changes take effect at once; a file with a mistake is reported and the rules before it stay in force.
#   acp policy check      does it load?
#   acp policy explain    which rule decides a call, and why
version: "1"
default_action: ask

rules:
  # Looking around on this machine is free: tools called read_…, get_…, list_…, search_… and the like. Not what reaches another host: a GET
  # carries whatever its URL says, so a call with a URL, or a request through the HTTP proxy, is not covered by a category. It asks.
  # Beside these rules a guard, which no rule lifts, denies ACP's own files and asks about ~/.ssh, .env and other places of credentials.
  - id: reads
    match: { kind: tool, category: read }
    action: allow

  # What a server asks of your agent's side is denied unless a rule names it: which folders the agent's client works in (the guard looks at
  # them), an answer of the agent's model, a question to the person at the agent. The names: docs/how-to/server-requests.md.
  - id: roots
    match: { tool: mcp:roots/list }
    action: allow
  - id: sampling
    match: { tool: "mcp:sampling/*" }
    action: ask
    level: high
    reason: the server wants an answer of the agent's model, which may hold what the agent knows
  - id: elicitation
    match: { tool: "mcp:elicitation/*" }
    action: ask
    level: high
    reason: the server wants an answer of the person at the agent, or that they open an address

  # Another host is asked about; your approval can cover it for three minutes. Name the hosts that you trust with whatever the agent knows:
  # - id: trusted-hosts
  #   match: { kind: http, host: docs.example.com, method: GET }
  #   action: allow
  - id: network
    match: { kind: http }
    action: ask
    level: medium
    reason: a request to another host can carry data away, a GET in its URL

  # Deleting, dropping, deploying, running: look twice.
  - id: destructive
    match: { category: system }
    action: ask
    level: high

  # Money: look three times.
  - id: money
    match: { category: financial }
    action: ask
    level: critical

  # Every other change is asked about once.
  - id: writes
    match: { category: write }
    action: ask
    level: medium

  # More you can say (remove the #):
  #
  # - id: trusted-folder              # writes inside one folder need no question
  #   match: { tool: write_file, args: { path: { path: "~/projects/demo/**" } } }
  #   action: allow
  #   rate_limit: 20/minute
  #
  # - id: office-hours                # messages only while you are there to read them
  #   match: { category: communication }
  #   action: ask
  #   conditions: { time_of_day: { after: "09:00", before: "17:00", timezone: Europe/Vienna } }
  #
  # - id: never                       # and some things never
  #   match: { tool: "drop_*" }
  #   action: deny
`;
