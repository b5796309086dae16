/** Tools of compiled languages, and make. */
import { reviewed } from "../table.js";
import { versionRows } from "../shows-version.js";
import type { Binary, BinaryTable } from "../table.js";

const BUILDS = "change: builds or runs code of the project";
const RUNS = "exec: names a program to run";
const CONFIGURES = "exec: changes settings, which name programs to run";

const CARGO_REVIEW = {
  "--config:text": CONFIGURES,
  "-Z:text": CONFIGURES,
  "--manifest-path:path": "exec: takes another project",
  "-C:folder": "exec: takes another project",
  "--git,--index,--registry:text": "exec: takes packages, whose code runs, from elsewhere",
};
const GO_REVIEW = {
  "-exec,--exec:text": RUNS,
  "-toolexec,--toolexec:text": RUNS,
  "-vettool,--vettool:text": RUNS,
  "-ldflags,-gcflags,-asmflags,-gccgoflags,--ldflags,--gcflags:text":
    "exec: passes flags to programs that run others",
  "-overlay,-modfile:path": "read: takes other files",
  "-o:path": "write: writes the file it names",
  "-C:path": "exec: takes another project",
};
/** Since 1.21. */
const TOOLCHAIN = "network: may fetch and run the version of go that go.mod names";
const MAKE_REVIEW = {
  "-f,--file,--makefile:path": "exec: takes its commands from another file",
  "--eval:text": "exec: runs the rules that it is given",
  "-E:text": "exec: runs the rules that it is given",
  "-C,--directory:path": "exec: takes its commands from another folder",
  "-I,--include-dir:path": "exec: takes its commands from another folder",
};
const GCC_REVIEW = {
  "-wrapper:text": RUNS,
  "-fplugin:text": RUNS,
  "-B:path": RUNS,
  "-Wl:text": "exec: passes flags to the linker, which can load programs",
  "-Xlinker,-Xclang,-Xassembler,-Xpreprocessor:text":
    "exec: passes flags to other programs, which can load more",
  "-specs:path": CONFIGURES,
  "--specs:path": CONFIGURES,
  "-o:path": "write: writes the file it names",
};

export const compiledTools: BinaryTable = {
  cargo: {
    style: "first",
    flags: "-q -v",
    reviewFlags: CARGO_REVIEW,
    subcommands: {
      ...cargo(
        "build b check c test t run r bench clippy doc d tree metadata fix fmt clean update add remove rm uninstall vendor new init fetch generate-lockfile package",
        BUILDS,
      ),
      install: reviewed("write: installs outside of the project", "cargo install x"),
      rustc: reviewed(
        "exec: passes flags to the compiler, which name a linker to run",
        "cargo rustc -- -Clinker=./x",
      ),
      rustdoc: reviewed(
        "exec: passes flags to the compiler, which name programs to run",
        "cargo rustdoc -- -Zx",
      ),
      watch: reviewed("exec: runs another program", "cargo watch -x id"),
      ...cargo("search info publish login yank owner", "network: asks the registry"),
    },
    examples: {
      safe: [],
      review: [
        "cargo --version",
        "cargo -V",
        "cargo version",
        "cargo",
        "cargo build",
        "cargo +nightly build",
        "cargo --config x build",
        "cargo -Z x build",
        "cargo tree",
      ],
    },
  },
  rustc: {
    style: "words",
    review: BUILDS,
    reviewFlags: {
      "-C,--codegen:text": "exec: names a linker to run",
      "-o:path": "write: writes the file it names",
      "-Z:text": RUNS,
    },
    examples: {
      safe: [],
      review: ["rustc --version", "rustc -vV", "rustc x.rs", "rustc -C linker=./x a.rs"],
    },
  },
  rustup: {
    subcommands: {
      which: {
        operands: "text",
        examples: { safe: ["rustup which cargo"], review: ["rustup which"] },
      },
      toolchain: {
        subcommands: {
          list: {
            flags: "-v,--verbose",
            examples: { safe: ["rustup toolchain list"], review: ["rustup toolchain list x"] },
          },
        },
        examples: { safe: ["rustup toolchain list"], review: ["rustup toolchain install x"] },
      },
      target: {
        subcommands: {
          list: {
            flags: "--installed --toolchain:text",
            examples: {
              safe: ["rustup target list --installed"],
              review: ["rustup target list x"],
            },
          },
        },
        examples: { safe: ["rustup target list"], review: ["rustup target add x"] },
      },
      run: {
        review: "exec: runs another program",
        examples: { safe: [], review: ["rustup run stable x"] },
      },
    },
    examples: {
      safe: ["rustup toolchain list"],
      review: ["rustup --version", "rustup update", "rustup run nightly x"],
    },
  },
  go: {
    subcommands: {
      env: {
        style: "words",
        review: TOOLCHAIN,
        reviewFlags: { "-w,-u": CONFIGURES },
        examples: { safe: [], review: ["go env GOPATH", "go env -w GOFLAGS=-toolexec=./x"] },
      },
      version: reviewed(TOOLCHAIN, "go version"),
      doc: reviewed(TOOLCHAIN, "go doc fmt"),
      help: reviewed(TOOLCHAIN, "go help build"),
      install: reviewed(
        "write: installs outside of the project",
        "go install x",
        "go install x.example/a@latest",
      ),
      telemetry: reviewed("write: changes settings outside of the project", "go telemetry on"),
      ...Object.fromEntries(
        "build test run vet list get generate mod work fmt clean fix tool"
          .split(" ")
          .map((name) => [
            name,
            {
              style: "words",
              review: BUILDS,
              reviewFlags: GO_REVIEW,
              examples: { safe: [], review: [`go ${name} x`] },
            } as const,
          ]),
      ),
    },
    examples: {
      safe: [],
      review: [
        "go",
        "go test -exec ./x",
        "go build -toolexec=./x",
        "go vet -vettool=./x",
        "go test ./...",
      ],
    },
  },
  gofmt: {
    style: "words",
    flags: "-l -d -e -s -r:text",
    reviewFlags: {
      "-w": "write: changes files in place",
      "-cpuprofile:path": "write: writes a file",
    },
    operands: "path*",
    examples: { safe: ["gofmt -l .", "gofmt -d a.go"], review: ["gofmt -w .", "gofmt -l /x"] },
  },
  java: {
    style: "words",
    alone: "-version -fullversion",
    review: "change: runs a program",
    reviewFlags: {
      "-jar:path": "exec: runs a program",
      "-cp,-classpath,--class-path:text": "exec: runs a program",
      "-agentlib,-agentpath,-javaagent:text": "exec: loads code",
    },
    examples: {
      safe: ["java -version", "java --version"],
      review: ["java X", "java -jar x.jar", "java -cp . X"],
    },
  },
  mvn: builder("mvn", "-v --version", {
    "-f,--file:path": "exec: takes another project",
    "-s,--settings:path": CONFIGURES,
    "-D:text": CONFIGURES,
    "-P:text": CONFIGURES,
    "-gs,--global-settings:path": CONFIGURES,
  }),
  gradle: builder("gradle", "-v --version", {
    "-I,--init-script:path": "exec: runs the script it names",
    "-b,--build-file:path": "exec: takes another project",
    "-c,--settings-file:path": CONFIGURES,
    "-p,--project-dir:path": "exec: takes another project",
    "-D,--system-prop:text": CONFIGURES,
    "-g,--gradle-user-home:path": CONFIGURES,
    "--include-build:path": "exec: takes another project",
  }),
  make: {
    alone: "-v",
    review: BUILDS,
    reviewFlags: MAKE_REVIEW,
    operands: "target*",
    examples: {
      safe: ["make --version"],
      review: [
        "make",
        "make -n",
        "make test",
        "make -f x",
        "make SHELL=./x",
        "make --eval='$(shell id)'",
        "make -C x",
      ],
    },
  },
  gmake: { ...builder("gmake", "-v --version", MAKE_REVIEW), operands: "target*" },
  nmake: reviewed(BUILDS, "nmake"),
  just: {
    ...builder("just", "--version -V", {
      "-f,--justfile:path": "exec: takes its commands from another file",
      "--shell:text": RUNS,
      "--set:text:text": RUNS,
    }),
    operands: "target*",
  },
  gcc: compiler("gcc"),
  "g++": compiler("g++"),
  cc: compiler("cc"),
  "c++": compiler("c++"),
  clang: compiler("clang"),
  "clang++": compiler("clang++"),
  gdb: builder("gdb", "--version -v", {
    "-ex,-eval-command,-iex:text": RUNS,
    "-x,-command:path": RUNS,
    "--args": RUNS,
  }),
  dotnet: {
    review: BUILDS,
    examples: { safe: [], review: ["dotnet --version", "dotnet build", "dotnet exec x", "dotnet"] },
  },
  gem: {
    flags: "-v,--version",
    subcommands: {
      list: {
        flags: "-l,--local -a,--all -d,--details -i,--installed",
        operands: "text*",
        examples: { safe: ["gem list"], review: ["gem list -r"] },
      },
    },
    examples: { safe: ["gem --version", "gem list"], review: ["gem install x"] },
  },
  bundle: builder("bundle", "--version -v", {}),
  ldd: reviewed("exec: may run the program that it examines", "ldd ./x"),
  nm: binutil(
    "nm",
    "-a -A -B -C,--demangle?:text -D,--dynamic -f,--format:text -g,--extern-only -l -n -p -P -r -s -S -t:text -u,--undefined-only -V --defined-only --size-sort --special-syms -j -m -U",
  ),
  size: binutil("size", "-A -B -G -t --format:text --common -d -o -x -V -h"),
  readelf: binutil(
    "readelf",
    "-a,--all -h,--file-header -l,--program-headers -S,--section-headers -g -t -e,--headers -s,--syms,--symbols --dyn-syms -n,--notes -r,--relocs -u -d,--dynamic -V,--version-info -A -D -x:text -p:text -R:text -W,--wide -I -C --version",
  ),
  objdump: binutil(
    "objdump",
    "-a -f -p -h,--section-headers -x,--all-headers -d,--disassemble -D -s -g -t,--syms -T -r -R -j:text -M:text -C,--demangle?:text -w,--wide -z -l -F -m:text --no-show-raw-insn --start-address:text --stop-address:text -v --version -L -H",
  ),
};

function cargo(names: string, review: string): BinaryTable {
  const entry = (name: string): Binary => ({
    review,
    reviewFlags: CARGO_REVIEW,
    examples: { safe: [], review: [`cargo ${name} x`] },
  });
  return Object.fromEntries(names.split(" ").map((name) => [name, entry(name)]));
}

function builder(
  name: string,
  version: string,
  reviewFlags: Readonly<Record<string, string>>,
): Binary {
  const rows = versionRows(name, version.split(" "));
  return {
    style: "words",
    alone: rows.alone,
    review: BUILDS,
    reviewFlags,
    examples: { safe: rows.safe, review: [...rows.review, name, `${name} x`] },
  };
}

function compiler(name: string): Binary {
  const rows = versionRows(name, [
    "--version",
    "-v",
    "-dumpversion",
    "-dumpmachine",
    "-print-search-dirs",
  ]);
  return {
    style: "words",
    readsArgumentFiles: true,
    alone: rows.alone,
    review: BUILDS,
    reviewFlags: GCC_REVIEW,
    examples: {
      safe: rows.safe,
      review: [
        ...rows.review,
        `${name} x.c`,
        `${name} -wrapper ./x a.c`,
        `${name} --version -wrapper ./x`,
      ],
    },
  };
}

function binutil(name: string, flags: string): Binary {
  return {
    flags,
    reviewFlags: { "--plugin:path": "exec: loads a library and runs what is in it" },
    operands: "path*",
    readsArgumentFiles: true,
    examples: {
      safe: [`${name} a.o`, `${name} ./*.o`],
      review: [
        `${name} /bin/ls`,
        `${name} --what a.o`,
        `${name} @a`,
        `${name} @/etc/passwd`,
        `${name} *.o`,
      ],
    },
  };
}
