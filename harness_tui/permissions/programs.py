"""What is known of programs: which touch no file, which write the files they are given, which options do more.

Only what is in a table here is believed. The tables speak of GNU, BSD and bash's own programs alike.
"""

from __future__ import annotations

import re
from typing import Final

from harness_tui.core.record import record


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NO_FILES: Final = _names(
    "echo printf : true false exit return break continue shift pwd sleep seq expr basename dirname uname whoami id "
    "nproc arch tty times umask ulimit type which kill yes factor command test ["
)
"""Programs that open no file, whatever their arguments are."""

DANGEROUS_VARIABLE: Final = re.compile(
    r"PATH|LD_.*|DYLD_.*|BASH.*|ENV|SHELL.*|PS[0-9]|PROMPT_COMMAND|CDPATH|GLOBIGNORE|POSIXLY_CORRECT|HOME|TMPDIR|XDG_.*"
    r"|.*PAGER|LESS.*|EDITOR|VISUAL|.*_EDITOR|BROWSER|.*_?ASKPASS.*|GIT_.*|SSH_.*|GPG_.*|GNUPGHOME|CVS_.*|SVN_.*|HG.*"
    r"|PYTHON(?!UNBUFFERED\b|DONTWRITEBYTECODE\b|HASHSEED\b).*|PERL.*|RUBY.*|NODE_(?!ENV\b).*|NPM_.*|npm_.*|YARN_.*|PNPM_.*|BUN_.*|DENO_.*|JAVA.*|_JAVA_.*|JDK_.*|MAVEN_.*|GRADLE_.*"
    r"|CLASSPATH|GO(?!OS\b|ARCH\b|MAXPROCS\b)[A-Z0-9]*|CGO_(?!ENABLED\b).*|CARGO.*|RUST(?!_BACKTRACE\b|_LOG\b).*|CC|CXX|CPP|LD|AR|AS|FC|.*FLAGS|MAKE.*|CMAKE_.*|PKG_CONFIG.*|CONFIG_SHELL"
    r"|PYTEST_.*|COVERAGE_.*|UV_.*|PIP_.*|PIPX_.*|VIRTUAL_ENV|CONDA_.*|POETRY_.*|RUFF_.*|MYPY.*|TOX_.*|GEM_.*|BUNDLE_.*"
    r"|.*_PROXY|.*_proxy|CURL_.*|WGETRC|DOCKER_(?!BUILDKIT\b).*|KUBE.*|AWS_.*|GOOGLE_.*|AZURE_.*|GCONV_PATH|LOCPATH|NLSPATH|TERMINFO.*"
    r"|TERMCAP|HOSTALIASES|RES_OPTIONS|LOCALDOMAIN|MALLOC_.*|GLIBC_.*|OPENSSL_.*|SSL_.*|TAR_OPTIONS|GREP_OPTIONS|XARGS_.*"
    r"|RIPGREP_CONFIG_PATH|FZF_.*|INPUTRC|IFS|TEXTDOMAIN.*|TIMEFORMAT|EXECIGNORE|TMOUT|HARNESS_.*|HELP_COMMAND|MAN.*|FPATH|ZDOTDIR|FCEDIT|EXINIT"
    # What is given to these is computed by the shell, and to compute can run commands.
    r"|S?RANDOM|SECONDS|OPT[A-Z]+|LINENO|HIST.*|EPOCH.*|GROUPS|DIRSTACK|FUNC.*|E?UID|PPID|PIPESTATUS|COMP.*|COPROC|_"
)
"""Variables that decide which program runs, what it loads, or where it writes, or whose value is computed."""


@record
class Options:
    """Options of a program that do more than its name says.

    ``runs`` start a program or load code; ``writes`` are followed by a file that is written. Names of long options may
    be cut short where the program allows it.
    """

    runs: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()


_GIT: Final = Options(
    _names(
        "--config --config-env --exec-path --ext-diff --textconv --open-files-in-pager -O --upload-pack"
        " --receive-pack --exec --extcmd --tool --strategy --template --git-dir --work-tree --separate-git-dir"
        " --upload-archive"
    ),
    _names("--output --output-directory"),
)
GIT_FOLDER_OPTIONS: Final = _names("-c -C")
"""What these options in front of git's sub-command are given decides what runs, or in which folder."""
GIT_HARMLESS: Final = _names("--no-pager -P --no-optional-locks --literal-pathspecs")
"""Options in front of git's sub-command that change nothing about what it does."""
GIT_VALUED: Final = _names("-c -C --git-dir --work-tree --namespace --exec-path --super-prefix --config-env")
"""Options in front of git's sub-command that are followed by a value."""
GIT_RUNNERS: Final = _names(
    "config submodule bisect filter-branch difftool mergetool send-email instaweb for-each-repo hook maintenance "
    "daemon shell credential gui citool web--browse remote-ext upload-pack receive-pack upload-archive"
)
"""Sub-commands of git that run programs which they are told, or set which are run."""
GIT_OPTIONS: Final = {
    "clone": Options(_names("-c -u")),
    "rebase": Options(_names("-x")),
    "format-patch": Options(writes=_names("-o")),
    "archive": Options(writes=_names("-o")),
}
"""Short options of git's sub-commands, whose letters mean something else in others."""
_NODE: Final = Options(
    _names("--script-shell --prefix -C --dir --cwd --node-options --globalconfig --userconfig --exec")
)

RISKY_OPTIONS: Final = {
    "git": _GIT,
    "npm": _NODE,
    "pnpm": _NODE,
    "yarn": _NODE,
    "cargo": Options(_names("--config -Z --manifest-path -C"), _names("--target-dir --out-dir --artifact-dir")),
    "go": Options(
        _names("-exec -toolexec -vettool -modfile -overlay -C -ldflags -gcflags -asmflags -gccgoflags -compiler"),
        _names("-o -outputdir -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -pkgdir"),
    ),
    "make": Options(
        _names("-f --file --makefile -C --directory -I --include-dir --eval -E -e --environment-overrides")
    ),
    "uv": Options(
        _names(
            "--with --index --default-index -i --extra-index -f --find-links --directory --project --config-file"
            " --python -p --env-file --script -s --module -m --from"
        ),
        _names("--cache-dir --output-file -o --target --prefix"),
    ),
    "pytest": Options(
        _names("-p -c --config-file --rootdir -o --override-ini --confcutdir --pdbcls --pastebin --import-mode --pdb"),
        _names("--basetemp --junitxml --junit-xml --log-file --debug --cov-report --resultlog --result-log"),
    ),
    "ruff": Options(_names("--config"), _names("--output-file -o --cache-dir")),
    "sort": Options(_names("--compress-program --files0-from"), _names("-o --output -T --temporary-directory")),
    "rg": Options(_names("--pre --hostname-bin --search-zip -z")),
    "tree": Options(writes=_names("-o")),
    "diff": Options(writes=_names("--output")),
    "curl": Options(
        _names("-K --config -O --remote-name --remote-name-all -J --remote-header-name"),
        _names("-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --output-dir"),
    ),
    "wget": Options(
        _names("--use-askpass --config -e --execute"),
        _names("-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies"),
    ),
    "find": Options(_names("-delete -files0-from"), _names("-fprint -fprint0 -fprintf -fls")),
    "date": Options(_names("-s --set")),
    "ls": Options(),
    "wc": Options(_names("--files0-from")),
    "du": Options(_names("--files0-from")),
    "head": Options(),
    "tail": Options(),
}
"""Per program: what asks even where the program itself is allowed."""

MAY_SHORTEN: Final = frozenset(RISKY_OPTIONS) - {"go", "pytest", "ruff", "cargo", "uv", "yarn"}
"""Programs that take ``--outp`` for ``--output``."""


@record
class Writer:
    """A program that writes the files it is given.

    ``flags`` are its harmless short options; any other option is not known. ``skip``: so many words before the files
    are none (a mode). ``sources``: all files but the last are read. ``deep`` are the flags that reach into folders.
    """

    flags: str = ""
    long: frozenset[str] = frozenset()
    skip: int = 0
    sources: bool = False
    moves: bool = False
    deep: str = ""


_VERBOSE: Final = _names("--verbose --force --interactive --no-clobber --update --parents --recursive --preserve-root")

WRITERS: Final = {
    "touch": Writer("acmh", _names("--no-create")),
    "mkdir": Writer("pv", _VERBOSE),
    "rmdir": Writer("pv", _VERBOSE),
    "rm": Writer("firRvdI", _VERBOSE, deep="rR"),
    "unlink": Writer(),
    "cp": Writer("finuvpHLPT", _VERBOSE, sources=True),
    "mv": Writer("finuvT", _VERBOSE, sources=True, moves=True, deep="finuvT"),
    "tee": Writer("aip", _names("--append --ignore-interrupts")),
    "truncate": Writer("c", _names("--no-create")),
    "mkfifo": Writer(),
    "chmod": Writer("cfvR", _VERBOSE, skip=1, deep="R"),
    "chown": Writer("cfvRhHLP", _VERBOSE, skip=1, deep="R"),
    "chgrp": Writer("cfvRhHLP", _VERBOSE, skip=1, deep="R"),
}
"""Programs whose files are decided like those of an edit."""

UNSEEN_WRITERS: Final = _names(
    "ln link install dd shred split csplit patch tar unzip zip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z "
    "7za cpio rsync scp sftp ar pax mktemp mknod sponge ed ex vi vim nvim nano emacs awk gawk mawk nawk sed uniq"
)
"""Programs that write files which their arguments do not simply name; links and scripts of their own among them."""

STATEFUL: Final = _names(
    "alias unalias shopt enable bind complete compgen compopt fc history let hash mapfile readarray getopts source . "
    "caller disown suspend pushd popd dirs logout jobs wait"
)
"""Builtins that change what later words mean, or run what they are given."""

DECLARERS: Final = _names("export declare typeset local readonly")
SHELLS: Final = _names("sh bash dash")
OTHER_SHELLS: Final = _names("zsh ksh mksh ash fish csh tcsh rbash busybox pwsh elvish nu xonsh yash")

OFFERED: Final = {
    "git": _names(
        "add blame branch cat-file commit describe diff fetch grep log ls-files ls-tree merge-base rev-list rev-parse "
        "shortlog show stash status switch tag"
    ),
    "npm": _names("test ci ls outdated view"),
    "pnpm": _names("test ls outdated why"),
    "yarn": _names("test list outdated why"),
    "cargo": _names("build check test clippy fmt doc tree metadata bench"),
    "go": _names("build test vet fmt list doc mod version"),
    "uv": _names("sync lock tree"),
    "ruff": _names("check format"),
    "pytest": frozenset[str](),
    "ls": frozenset[str](),
    "wc": frozenset[str](),
    "head": frozenset[str](),
    "tail": frozenset[str](),
}
"""Programs that a wider approval is offered for, with their sub-commands; without any the program alone."""

OFFERED_SCRIPTS: Final = {"npm": "run", "pnpm": "run", "yarn": "run", "uv": "run"}
"""Programs whose sub-command of this name is offered with the word after it."""
