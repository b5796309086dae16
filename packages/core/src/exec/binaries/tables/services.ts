/** Containers, clouds and databases: nothing is safe, since they act on something shared. What destroys or runs is never lifted. */
import { reviewed } from "../table.js";
import type { Binary, BinaryTable } from "../table.js";

const ELSEWHERE = "exec: talks to another machine or account than the usual one";

interface Service {
  readonly names: string;
  readonly what: string;
  /** Flags that ask for its version. */
  readonly version: string;
  /** Flags with which its subcommand `version` asks nobody. */
  readonly versionOffline?: string;
  readonly elsewhere: string;
  readonly review: readonly string[];
}

const SERVICES: readonly Service[] = [
  {
    names: "docker podman nerdctl docker-compose podman-compose",
    what: "asks the container daemon",
    version: "-v --version",
    elsewhere: "-H --host -c --context --config --tlscacert --url",
    review: [
      "compose up -v",
      "compose down -v",
      "--version run x",
      "ps",
      "images",
      "logs x",
      "rm x",
      "system prune -f",
      "-H x ps",
      "container exec x id",
    ],
  },
  {
    names: "kubectl oc",
    what: "asks a cluster",
    version: "--version",
    versionOffline: "--client",
    elsewhere: "--context --server -s --kubeconfig --token --as --as-group --cluster --user",
    review: ["get pods", "get secret x", "get secrets", "delete pod x", "--kubeconfig=x get pods", "--kubec=x get pods", "describe pod x"],
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

function serviceOf(name: string, { what, version, versionOffline, elsewhere, review }: Service): Binary {
  const why = `network: ${what}`;
  return {
    review: why,
    alone: version,
    ...(elsewhere === "" ? {} : { reviewFlags: { [`${elsewhere.split(" ").join(",")}:text`]: ELSEWHERE } }),
    operands: "verb*",
    ...(versionOffline === undefined ? {} : { subcommands: { version: offlineVersion(name, versionOffline, why) } }),
    examples: {
      safe: version.split(" ").map((flag) => `${name} ${flag}`),
      review: review.map((line) => `${name} ${line}`),
    },
  };
}

function offlineVersion(name: string, flag: string, otherwise: string): Binary {
  return {
    flags: `${flag} -o,--output:text`,
    requires: flag,
    otherwise,
    examples: { safe: [`${name} version ${flag}`], review: [`${name} version`, `${name} version ${flag} x`] },
  };
}

export const services: BinaryTable = {
  ...Object.fromEntries(SERVICES.flatMap((service) => service.names.split(" ").map((name) => [name, serviceOf(name, service)] as const))),
  sqlite3: reviewed("exec: runs programs with `.shell`, and changes databases", "sqlite3 a.db .tables"),
};
