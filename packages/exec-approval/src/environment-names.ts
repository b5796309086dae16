/**
 * Names of variables that never reach an approved command: each makes a shell or a program run
 * code, read options or look elsewhere than the judged text says. Data.
 */

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Whole names. */
export const DROPPED_NAMES: ReadonlySet<string> = new Set(
  words(`
    ENV SHELLOPTS BASHOPTS PS0 PS4 PROMPT_COMMAND CDPATH GLOBIGNORE EXECIGNORE FIGNORE IFS POSIXLY_CORRECT TMOUT FUNCNEST INPUTRC HISTFILE
    PWD OLDPWD SHLVL _
    PAGER MANPAGER SYSTEMD_PAGER BAT_PAGER BAT_CONFIG_PATH EDITOR VISUAL BROWSER SSH_ASKPASS SUDO_ASKPASS
    RIPGREP_CONFIG_PATH TAR_OPTIONS GREP_OPTIONS ACK_OPTIONS ACKRC AWKPATH AWKLIBPATH MANOPT ZIPOPT UNZIP UNZIPOPT GZIP BZIP BZIP2 XZ_OPT
    XZ_DEFAULTS FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS CURL_HOME WGETRC SYSTEM_WGETRC
    NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS BUN_OPTIONS DENO_DIR JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH GOFLAGS GOENV
    RUSTC_WRAPPER RUSTFLAGS CARGO_BUILD_RUSTC_WRAPPER MAKEFLAGS MAKEFILES GNUMAKEFLAGS MFLAGS PHPRC PHP_INI_SCAN_DIR LUA_INIT LUA_PATH
    LUA_CPATH R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER DOTNET_STARTUP_HOOKS
    GCONV_PATH LOCPATH NLSPATH HOSTALIASES RES_OPTIONS LOCALDOMAIN TERMINFO TERMINFO_DIRS TERMCAP SSLKEYLOGFILE OPENSSL_CONF
    OPENSSL_MODULES OPENSSL_ENGINES GCC_EXEC_PREFIX COMPILER_PATH LIBRARY_PATH`),
);

/**
 * Beginnings of names. `BASH_` holds `BASH_ENV`, and `BASH_FUNC_` with which a function takes a
 * program's place.
 */
export const DROPPED_PREFIXES: readonly string[] = words(
  "BASH_ LD_ DYLD_ PYTHON PERL RUBY GIT_ LESS MALLOC_ LUA_INIT_ npm_config_ NPM_CONFIG_",
);

/**
 * What is set instead: nothing asks back, nothing is paged, git writes no lock for a look, and no
 * tool asks for a newer version of itself.
 */
export const SET_VARIABLES: Readonly<Record<string, string>> = {
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  NO_UPDATE_NOTIFIER: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
};

/** The search path where none is left: bash's own would do as it was built to. */
export const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";
