/**
 * Ordinary files: what every project has, so that a command has something to read. Data, and
 * archives made from it.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const LINES = Array.from({ length: 400 }, (_, at) => `line ${at} of a long text`).join("\n");
const TEXT = "one 1\ntwo 2\nthree 3\n";
const NAMES =
  "a b c f x y a.txt b.txt f.txt x.txt file file.txt notes.txt docs/guide.md src/a.ts src/b.ts src/index.ts lib/a.js test/a.test.js README.txt";

export const ORDINARY_FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NAMES.split(" ").map((name) => [name, TEXT])),
  "README.md": "# Project\n\nAn ordinary one.\n",
  "long.txt": `${LINES}\n`,
  "a.json": '{"a":[1,2,{"b":"x"}]}\n',
  "data.json": '{"name":"x","items":[1,2]}\n',
  "data.csv": "name,size\na,1\nb,2\n",
  "a.csv": "name,size\na,1\nb,2\n",
  "a.yaml": "a:\n  b: [1, 2]\n",
  "a.yml": "a:\n  b: [1, 2]\n",
  "a.toml": 'a = "x"\n',
  "a.xml": "<a><b>x</b></a>\n",
  "a.html": "<p>x</p>\n",
  "a.c": "int main(void) { return 0; }\n",
  "a.1": ".TH A 1\n.SH NAME\na \\- nothing\n",
  "app.log": "INFO start\nERROR stop\n",
};

const MAKES = `
tar -cf a.tar a.txt b.txt; tar -czf a.tgz a.txt; cp a.tgz a.tar.gz
gzip -k a.txt; gzip -kc b.txt >b.gz; bzip2 -kc a.txt >a.bz2; xz -kc a.txt >a.xz; zstd -qc a.txt >a.zst
zip -q a.zip a.txt b.txt; cp a.zip a.jar
cc -o a.out a.c; cc -c -o a.o a.c; ar rc a.a a.o
sqlite3 a.db "create table t (x)"
openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -out cert.pem -subj /CN=x
for kind in tar zip gz bz2 xz zst tgz jar; do for name in x f file; do cp "a.$kind" "$name.$kind"; done; done
`;

/** Archives and binaries of the ordinary files, those whose program is here. */
export async function makeArchives(project: string): Promise<void> {
  await promisify(execFile)("bash", ["-c", `${MAKES}\nexit 0`], { cwd: project }).catch(
    (error: unknown) => {
      throw new Error("Cannot lay out a world: bash failed", { cause: error });
    },
  );
}
