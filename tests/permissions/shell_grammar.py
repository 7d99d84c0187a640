"""Makes shell texts: some that only do what the rules of the recorders allow, some that try to do more."""

from __future__ import annotations

import random

GOOD = [
    "echo",
    "echo a",
    "echo -n a b",
    "cat a.txt",
    "cat -n a.txt b.txt",
    "cat",
    "printf %s a",
    "printf '%s\\n' a b",
    "git status",
    "git status -s",
    "git diff --stat",
    "ls",
    "ls -l src",
    "wc -l a.txt",
    "true",
    "[ -f a.txt ]",
    "test -n a",
    "cd src",
    "set -e",
    "unset A",
    "read -r A",
    "touch out/x",
    "touch out/x out/y",
    "tee out/t",
    "tee -a out/t",
    "cp a.txt out/c",
    "mkdir -p out/d",
    "find . -name a.txt",
    "find src -type f -exec echo {} \\;",
    "cd out",
    "cd .",
    "cat src/a.txt",
    "cat *.txt",
    "ls src/*",
    "ls .*",
    "export A=b",
    'export A="$B"',
    "xargs echo",
    "xargs -I {} echo {} b",
]
WORDS = [
    "a",
    "-n",
    "'x;y'",
    '"a && b"',
    '"x y"',
    "'a b'\\''c'",
    "$A",
    '"$A"',
    "${A}",
    "${A:-d}",
    '"${A%x}"',
    "${#A}",
    "$1",
    "$@",
    "$?",
    "$((1+2))",
    "$'a\\n'",
    '$"a"',
    "{a,b}",
    "{1..3}",
    "*",
    "*.txt",
    "~",
    "a#b",
    "\\;",
    "\\\\",
    "é",
    "x=1",
    "[a]",
    "'#'",
    "$",
    '""',
    "''",
    "a\\ b",
    "%",
    "^",
    "!",
    "@",
    "~nobody",
    "~+",
    "a=~/b",
    "{a,b}{c,d}",
    "a{,b}",
    "'a'\"b\"$'c'",
    "$'\\x41'",
    '"$(echo "a b" \'c\')"',
    "${A#a}",
    "${A/a/b}",
    "${A:0:1}",
    "${A^}",
    '"\\$A"',
    "--",
    "-",
    "+",
    "a,b",
    "a\\\tb",
    "'a\nb'",
]
EVIL_WORDS = [
    "PWNED",
    "'$(touch PWNED)'",
    "'a[$(touch PWNED)]'",
    "${A:=PWNED}",
    "${A@P}",
    "$((A))",
    "$(<a.txt)",
    "\\`touch PWNED\\`",
    '"$(touch PWNED)"',
    "`touch PWNED`",
    "$(touch PWNED)",
    "<(touch PWNED)",
    ">(touch PWNED)",
    "${A:-$(touch PWNED)}",
    "$[1]",
    "-v",
    "-exec",
    "${!A}",
    "${A[0]}",
    "${A[$(touch PWNED)]}",
    "$(( A[0] ))",
    "${A:-`touch PWNED`}",
    "${A/a/$(touch PWNED)}",
    "$'\\'; touch PWNED; '",
    "$(cat <<E\n$(touch PWNED)\nE\n)",
    "!(a)",
    "@(a|b)",
    "../a",
    "~/x",
    "$HOME/x",
    "file://$HOME/x",
    "out/../x",
    "link/x",
    "/proc/self/cwd/x",
    ".env",
    "*/../.env",
    "-I",
    "-n1",
    "--ext-diff",
    "--output=PWNED",
    "-oPWNED",
    "--files0-from=a.txt",
    "\u00a0",
    "\u3000touch",
    "\r",
    "\x0b",
]
EVIL = [
    "touch PWNED",
    "\\touch PWNED",
    't"ou"ch PWNED',
    "$'touch' PWNED",
    "{touch,PWNED}",
    "$A PWNED",
    "tee PWNED",
    "rm a.txt",
    "alias echo='touch PWNED'",
    "trap 'touch PWNED' EXIT",
    "export PATH=.",
    "PATH=. cat",
    "coproc touch PWNED",
    "eval $A",
    "A='touch PWNED'",
    "A='a[$(touch PWNED)]'",
    "a[$(touch PWNED)]=1",
    "((A=1))",
    "let A=1",
    "printf -v A x",
    "read 'a[$(touch PWNED)]'",
    "[ -v 'a[$(touch PWNED)]' ]",
    "[[ 1 -eq A ]]",
    "declare -i A=a",
    "source a.txt",
    ". ./a.txt",
    "exec touch PWNED",
    "command touch PWNED",
    "unset -f echo",
    "hash -p /usr/bin/touch cat",
    "shopt -s expand_aliases",
    "bash a.txt",
    "touch\tPWNED",
    "RANDOM='a[$(touch PWNED)0]'",
    "SECONDS='a[$(touch PWNED)0]'",
    "export OPTIND='a[$(touch PWNED)0]'",
    "read -r SRANDOM <<<'a[$(touch PWNED)0]'",
    "for SECONDS in 'a[$(touch PWNED)0]'; do echo; done",
    "PS4='$(touch PWNED)'; set -x",
    "unset 'a[$(touch PWNED)0]'",
    "f",
    "touch src/x",
    "touch ../x",
    "cp a.txt src",
    "mkdir src/d",
    "cd ..",
    "cd -",
    "cd $A",
    "cd src/..",
    "command cd src",
    "command -- builtin -- cd src",
    "A='x PATH=.'; command export B=$A",
    "A=cd; $A src",
    "IFS=u",
    "enable -n echo",
    "hash -r",
    "set -- touch PWNED",
    "$@",
    "exec >PWNED",
    "exec 3>PWNED",
    "mapfile -C 'touch PWNED' A",
    "getopts a A",
    "wait -p A",
    "env -S 'touch PWNED'",
    "env -u PATH cat",
    "env - touch PWNED",
    "xargs touch",
    "xargs -I {} touch {}",
    "xargs -I zz -L 1 cat",
    "find . -exec touch {} \\;",
    "find . -exec touch + PWNED \\;",
    "find src -execdir touch out/x \\;",
    "find . -fprint PWNED",
    "find . -ok touch PWNED \\;",
    "git -c alias.x='!touch PWNED' x",
    "git -C .. status",
    "git --exec-path=. status",
    "git statusx",
    "git config core.pager x",
    "git difftool -x 'touch PWNED'",
    "git fetch --upload-pack='touch PWNED' .",
    "make -f a.txt",
    "make SHELL=x",
    "npm exec touch PWNED",
    "tar -cf out/x --to-command=touch a.txt",
    "time -o PWNED cat",
    "coproc A { touch PWNED; }",
    "select A in a; do touch PWNED; done",
    "for ((;;)); do touch PWNED; done",
    "\u00a0touch PWNED",
    "touch\u2003PWNED",
    "e'c'ho a",
]
REDIRECTIONS = [" >/dev/null", " 2>&1", " <a.txt", " 2>/dev/null", " <<<a", " >&2", " </dev/null", " 2>&-", " 3<a.txt"]
REDIRECTIONS += [
    " >out/r",
    " >>out/r",
    " 2>out/e",
    " >|out/r",
    " &>out/r",
    " 3>&1 1>&2 2>&3",
    " 2>&1 >/dev/null",
    " <src/a.txt",
]
EVIL_REDIRECTIONS = [
    " >PWNED",
    " >>PWNED",
    " >|PWNED",
    " &>PWNED",
    " >&PWNED",
    " <>PWNED",
    " 2>PWNED",
    " >$A",
    " {fd}>PWNED",
    " &>>PWNED",
    " 3>&1 4>PWNED",
    " 1<>PWNED",
    " >'PWNED'",
    " > out/../PWNED",
    " >$HOME/x",
    " >~/x",
    " <../a",
    " <.env",
    " >{a,PWNED}",
    " >*",
    " >/dev/tcp/127.0.0.1/9",
    " 2>&1>PWNED",
    " >&$A",
    " <<<$(touch PWNED)",
]
SEPARATORS = ["; ", " && ", " || ", " | ", " & ", "\n", ";", "&&", "|", "\n\n", " |& ", " &\n", " # c\n", " \\\n&& "]
SEPARATORS += [" ;\n", " # 'c\n", " # $(c\n", "\r\n", " \\\n", " && \\\n", "&&\n", " |\n# c\n"]
WRAPPERS = ["env B=1", "timeout 5", "nice -n 5", "nohup", "command", "builtin", "exec", "xargs"]
WRAPPERS += ["command -p", "builtin command", "command --", "env -i", "stdbuf -oL", "timeout -k 1 5s", "xargs -n 1"]
HERE_ENDS = ["E", "'E'", '"E"', "\\E", "-E", "~", "$HOME", "E ", "$'E'", "E\\\n"]
CUTS = [
    *"\"'`$(){}[]<>;&|\\\n #!~*?=\t-+^%@:",
    "$(",
    "<<E\n",
    "\nE\n",
    "${",
    "&&",
    "\\\n",
    "touch PWNED",
    "PWNED",
]


class Grammar:
    """Makes texts from ``rng``. ``evil`` is how often something that is not allowed is put in."""

    def __init__(self, rng: random.Random, evil: float) -> None:
        self._rng = rng
        self._evil = evil

    def text(self, depth: int = 3) -> str:
        """Return a list of commands."""
        parts = [self.command(depth)]
        while self._rng.random() < 0.45:
            parts += [self._rng.choice(SEPARATORS), self.command(depth)]
        return "".join(parts)

    def command(self, depth: int) -> str:
        """Return one command, simple or compound."""
        if depth <= 0 or self._rng.random() < 0.6:
            return self.simple(depth)
        inner = self.text(depth - 1)
        quoted = inner.replace("'", "'\\''")
        return self._rng.choice(
            [
                f"({inner})",
                f"{{ {inner}; }}",
                f"{{ {inner}\n}} 2>/dev/null",
                f"! {inner}",
                f"if {inner}; then {self.text(depth - 1)}; fi",
                f"if [[ -f a.txt && $A == b* ]]; then {inner}; else {self.text(depth - 1)}; fi",
                f"for A in a b; do {inner}; done",
                f"for A in {self.word(depth - 1)}\ndo\n{inner}\ndone",
                f"until true; do {inner}; done",
                f"case $A in a|b*) {inner};; (*) {self.text(depth - 1)};; esac",
                f"f() {{ {inner}; }}",
                f"function f {{ {inner}; }}",
                f'echo "$({inner})"',
                f"echo $({inner})",
                f"echo `{inner}`",
                f"cat <({inner})",
                f"cat <<E\na $({inner}) $A\nE\n",
                f"cat <<'E'\na $({inner}) `x`\nE\n",
                f"cat <<-E\n\ta\n\tE\n{inner}",
                f"bash -c '{quoted}'",
                f"sh -c '{quoted}'",
                f"eval '{quoted}'",
                f"time {inner}",
                f"trap '{quoted}' EXIT",
                f"{self._rng.choice(WRAPPERS)} {inner}",
                f"{self._rng.choice(('echo', 'cat', 'ls', 'true', 'cd'))}() {{ {inner}; }}; {self.text(depth - 1)}",
                f"cat <<{self._rng.choice(HERE_ENDS)} | wc\na\n~\n$HOME\n{inner}\nE\n",
                f'echo "$(cat <<E\n{inner}\nE\n)"',
                f"while {inner}; do break; done",
                f"select A in a; do {inner}; break; done",
                f"find src -name a.txt -exec {inner} \\;",
                f"find src -name a.txt -execdir {inner} \\;",
                f"sh -c 'eval \"{inner}\"'",
                f"env A=1 bash -c '{quoted}' a b",
                f"echo a | while read -r A; do {inner}; done",
                f"echo /etc/hostname PWNED | {inner}",
                f"! time {inner}",
                f"A=({self.word(depth - 1)} b); {inner}",
            ]
        )

    def simple(self, depth: int) -> str:
        """Return one simple command with words and redirections."""
        evil = self._rng.random() < self._evil
        text = self._rng.choice(EVIL if evil else GOOD)
        if self._rng.random() < 0.15:
            text = f"B={self.word(depth)} {text}"
        if self._rng.random() < 0.4:
            text += f" {self.word(depth)}"
        if self._rng.random() < 0.25:
            text += self._rng.choice(EVIL_REDIRECTIONS if self._rng.random() < self._evil else REDIRECTIONS)
        return text

    def word(self, depth: int) -> str:
        """Return one word."""
        if depth > 0 and self._rng.random() < 0.2:
            return self._rng.choice(['"$({})"', "$({})", "<({})", '"a$({})b"']).format(self.text(depth - 2))
        return self._rng.choice(EVIL_WORDS if self._rng.random() < self._evil else WORDS)

    def broken(self, text: str) -> str:
        """Return ``text`` with a few pieces put in, taken out or doubled."""
        for _ in range(self._rng.randint(1, 3)):
            at = self._rng.randint(0, len(text))
            match self._rng.randint(0, 3):
                case 0:
                    text = text[:at] + text[at + 1 :]
                case 1:
                    text = text[:at] + text[at : at + 4] + text[at:]
                case _:
                    text = text[:at] + self._rng.choice(CUTS) + text[at:]
        return text


def shell_text(rng: random.Random) -> str:
    """Return one text: a third of them harmless, a third with something evil, a third broken."""
    kind = rng.randint(0, 2)
    grammar = Grammar(rng, 0.0 if kind == 0 else rng.choice([0.0, 0.1, 0.4]))
    text = grammar.text()
    return grammar.broken(text) if kind == 2 else text
