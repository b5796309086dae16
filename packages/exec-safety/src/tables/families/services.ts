/**
 * Containers, clouds and databases: they act on something shared, so that only a few lists are
 * safe, of the daemon and the cluster that this user has anyway. What destroys or runs is never
 * lifted.
 */
import { reviewed } from "../table.js";
import { versionRows } from "../shows-version.js";
import type { Binary, BinaryTable } from "../table.js";

const REACHES = "exec: lets a container reach out of itself";
const ELSEWHERE = "exec: talks to another machine or account than the usual one";

interface Service {
  readonly names: string;
  readonly what: string;
  /** Flags that ask for its version. */
  readonly version: string;
  readonly elsewhere: string;
  /** Flags with which what runs in a container reaches out of it. */
  readonly reach?: string;
  readonly review: readonly string[];
  /** Flags before the verb that change nothing but what is listed. */
  readonly flags?: string;
  /** Verbs that only list. */
  readonly lists?: BinaryTable;
}

const LISTS_CONTAINERS: Binary = {
  flags:
    "-a,--all -f,--filter:text --format:text -n,--last:number -l,--latest --no-trunc -q,--quiet -s,--size",
  operands: "",
  examples: {
    safe: ["docker ps", "docker ps -a --format '{{.Names}}'"],
    review: ["docker ps x", "docker -H x ps", "docker ps --what"],
  },
};
const LISTS_IMAGES: Binary = {
  flags: "-a,--all --digests -f,--filter:text --format:text --no-trunc -q,--quiet --tree",
  operands: "text?",
  examples: {
    safe: ["docker images", "docker images -q x"],
    review: ["docker images a b", "docker --context x images"],
  },
};
const SHOWS_LOG: Binary = {
  flags: "--details --since:text -n,--tail:text -t,--timestamps --until:text",
  reviewFlags: { "-f,--follow": "endless: does not end by itself" },
  operands: "text",
  examples: {
    safe: ["docker logs x", "docker logs --tail 50 x"],
    review: ["docker logs", "docker logs -f x", "docker logs --fol x"],
  },
};
/**
 * What it says of itself and of the daemon. `inspect` and `top` show what a container was started
 * with, secrets among it.
 */
const ASKS = "network: asks the container daemon";
const DOCKER_LISTS: BinaryTable = {
  ps: LISTS_CONTAINERS,
  images: LISTS_IMAGES,
  logs: SHOWS_LOG,
  container: {
    review: ASKS,
    operands: "verb*",
    subcommands: {
      ls: under(LISTS_CONTAINERS, " ps", " container ls"),
      logs: under(SHOWS_LOG, " logs", " container logs"),
    },
    examples: { safe: [], review: ["docker container x", "docker container inspect x"] },
  },
  image: {
    review: ASKS,
    operands: "verb*",
    subcommands: { ls: under(LISTS_IMAGES, " images", " image ls") },
    examples: { safe: [], review: ["docker image x", "docker image inspect x"] },
  },
};

/** The same under its longer name. */
function under(binary: Binary, short: string, long: string): Binary {
  const renamed = (line: string): string => line.replace(short, long);
  const { safe, review } = binary.examples;
  return { ...binary, examples: { safe: safe.map(renamed), review: review.map(renamed) } };
}

const CLUSTER_FLAGS = `-A,--all-namespaces -n,--namespace:text -l,--selector:text --field-selector:text --show-labels --show-kind --no-headers
  -o,--output:overview`;
/** Of the cluster's objects those that hold no settings; `-o yaml` shows the variables of a pod. */
const RESOURCES = `pod pods po deployment deployments deploy service services svc node nodes no namespace namespaces ns event events ev replicaset
  replicasets rs statefulset statefulsets sts daemonset daemonsets ds job jobs cronjob cronjobs cj ingress ingresses ing pvc pv hpa endpoints ep`;
const CLUSTER = "--context --server -s --kubeconfig --token --as --as-group --cluster --user";
const CLUSTER_ELSEWHERE: Readonly<Record<string, string>> = {
  ...flagged(CLUSTER, ":text", ELSEWHERE),
  "--raw:text": "secret: asks for any address of the cluster",
};
const CLUSTER_LISTS: BinaryTable = {
  version: reviewed(
    "network: asks the cluster for its version; the kubectl of Google's tools does even with --client",
    "kubectl version",
    "kubectl version --client",
  ),
  get: {
    review: "network: asks a cluster",
    flags: CLUSTER_FLAGS,
    reviewFlags: CLUSTER_ELSEWHERE,
    operands: "verb*",
    subcommands: Object.fromEntries(
      RESOURCES.split(/\s+/).map((name) => [name, listsResource(name)]),
    ),
    examples: {
      safe: ["kubectl get -n x pods"],
      review: [
        "kubectl get",
        "kubectl get secrets",
        "kubectl get configmaps",
        "kubectl get cm x",
        "kubectl get all",
        "kubectl get pods,secrets",
        "kubectl get secret/x",
        "kubectl get --raw /x",
        "kubectl get -f x.yaml",
        "kubectl get -k x",
      ],
    },
  },
};

function listsResource(name: string): Binary {
  return {
    flags: CLUSTER_FLAGS,
    reviewFlags: {
      ...CLUSTER_ELSEWHERE,
      "-w,--watch,--watch-only": "endless: does not end by itself",
    },
    operands: "name*",
    examples: {
      safe: [`kubectl get ${name}`, `kubectl -n x get ${name} y -o wide`],
      review: [
        `kubectl get ${name} -o yaml`,
        `kubectl get ${name} -o jsonpath='{.items}'`,
        `kubectl get ${name} -w`,
        `kubectl get ${name} --context x`,
        `kubectl --kubeconfig=x get ${name}`,
      ],
    },
  };
}

const DAEMON: Omit<Service, "names"> = {
  what: "asks the container daemon",
  version: "-v --version",
  elsewhere: "-H --host -c --context --config --tlscacert --url",
  reach:
    "--privileged --cap-add --device --mount -v --volume --volumes-from --pid --ipc --userns --security-opt --cgroupns --uts",
  review: [
    "compose up -v",
    "compose down -v",
    "--version run x",
    "rm x",
    "system prune -f",
    "-H x ps",
    "container exec x id",
    "run --privileged -v /:/host x",
    "create --privileged x",
  ],
};

const SERVICES: readonly Service[] = [
  {
    ...DAEMON,
    names: "docker",
    lists: DOCKER_LISTS,
    review: [...DAEMON.review, "inspect x", "top x", "logs x -f", "container inspect x"],
  },
  {
    ...DAEMON,
    names: "podman nerdctl docker-compose podman-compose",
    review: [...DAEMON.review, "ps", "images", "logs x"],
  },
  {
    names: "kubectl",
    flags: "-n,--namespace:text",
    lists: CLUSTER_LISTS,
    what: "asks a cluster",
    version: "--version",
    elsewhere: CLUSTER,
    review: [
      "api-resources",
      "get secret x",
      "get secrets",
      "delete pod x",
      "--kubeconfig=x get pods",
      "--kubec=x get pods",
      "describe pod x",
    ],
  },
  {
    names: "oc",
    what: "asks a cluster",
    version: "--version",
    elsewhere: CLUSTER,
    review: ["get pods", "get secrets", "delete pod x"],
  },
  {
    names: "helm istioctl argocd k9s kubens kubectx",
    what: "asks a cluster",
    version: "--version",
    elsewhere: "--kube-context --kubeconfig --kube-apiserver --kube-token --post-renderer",
    review: ["list", "uninstall x", "--kubeconfig x list"],
  },
  {
    names: "terraform tofu terragrunt pulumi",
    what: "reads or changes infrastructure",
    version: "-v --version -version",
    elsewhere: "-chdir -var-file --config-file",
    review: ["plan", "apply", "destroy"],
  },
  {
    names: "aws gcloud gsutil az doctl flyctl fly heroku vercel netlify wrangler firebase",
    what: "asks a cloud service",
    version: "--version",
    elsewhere: "--profile --endpoint-url --account --configuration --access-token-file",
    review: ["s3 ls", "ec2 terminate-instances x", "--profile x y", "s3 rm x"],
  },
  {
    names: "psql mysql mariadb redis-cli mongosh mongo clickhouse-client",
    what: "asks a database",
    version: "--version",
    elsewhere: "",
    review: ["x"],
  },
];

function serviceOf(
  name: string,
  { what, version, elsewhere, reach, review, flags, lists }: Service,
): Binary {
  const rows = versionRows(name, version.split(" "));
  return {
    review: `network: ${what}`,
    alone: rows.alone,
    reviewFlags: {
      ...flagged(elsewhere, ":text", ELSEWHERE),
      ...flagged(reach, "?:text", REACHES),
    },
    operands: "verb*",
    ...(flags === undefined ? {} : { flags }),
    ...(lists === undefined ? {} : { subcommands: lists }),
    examples: {
      safe: rows.safe,
      review: [...rows.review, ...review.map((line) => `${name} ${line}`)],
    },
  };
}

function flagged(
  names: string | undefined,
  value: string,
  why: string,
): Readonly<Record<string, string>> {
  return names === undefined || names === ""
    ? {}
    : { [`${names.split(" ").join(",")}${value}`]: why };
}

export const services: BinaryTable = {
  ...Object.fromEntries(
    SERVICES.flatMap((service) =>
      service.names.split(" ").map((name) => [name, serviceOf(name, service)] as const),
    ),
  ),
  sqlite3: reviewed(
    "exec: runs programs with `.shell`, and changes databases",
    "sqlite3 a.db .tables",
  ),
};
