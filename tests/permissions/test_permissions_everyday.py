"""What developers type every day is allowed under plain rules, and what reaches further is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness_tui.core.seams import GateDecision

Decide = Callable[..., GateDecision]

PROGRAMS = """
git status | git diff | git log | git add | git commit | git switch | git checkout | git show | git branch |
git stash | git fetch | git pull | git push | npm test | npm run | npm ci | npm install | pnpm test | yarn
test | cargo build | cargo test | go test | go build | go vet | make | uv run | uv sync | pytest | ruff | ls |
cat | head | tail | wc | grep | rg | find | sed | awk | cut | sort | uniq | tr | echo | printf | cd | pwd |
true | test | [ | which | mkdir | touch | cp | mv | rm | python | python3 | node | npx | tsc | eslint | docker
ps | docker compose | curl | date | env | xargs | diff | tree | jq | tee | export | sleep | kill | ps | du |
df | file | stat | basename | dirname | realpath | seq | source | set | black | mypy | pip install | chmod |
ln | tar | command -v | type | timeout | id | whoami | uname | md5sum | sha256sum | xxd | od | nl | column |
comm | paste | ruby | bundle exec | mvn | gradle | ./gradlew | ./run.sh
"""

RULES = (
    *(f"bash {' '.join(name.split())} * allow" for name in PROGRAMS.split("|")),
    *(f"edit {pattern} allow" for pattern in ("out/*", "build/*", "*.log", "src/*")),
)

ALLOWED = [
    "git status",
    "git status -s",
    "git status --short --branch",
    "git diff",
    "git diff --stat HEAD~1",
    "git diff HEAD -- src/a.py",
    "git log --oneline -n 5",
    "git log --oneline | head -20",
    "git log --format='%h %s' -n 3",
    "git log --since=\"2 weeks ago\" --author='A B'",
    "git add -A",
    "git add src/a.py tests",
    'git commit -m "Fix: a (b)"',
    'git commit -m "it\'s done; really"',
    "git commit -am 'x'",
    "git commit -m \"$(cat <<'EOF'\nSubject\n\nBody\nEOF\n)\"",
    "git switch -c feature/x",
    "git checkout -b x",
    "git checkout -- src/a.py",
    "git show HEAD:src/a.py | head -50",
    "git branch -a",
    "git stash && git pull && git stash pop",
    "git fetch origin main",
    "git push -u origin HEAD",
    "git push origin main 2>&1 | tail -5",
    "git diff > out/x.patch",
    "npm test",
    "npm test -- --watch=false",
    "npm run build",
    "npm run build && npm test",
    "npm run lint -- --fix",
    "npm ci",
    "npm install --save-dev left-pad",
    "pnpm test",
    "yarn test",
    "cargo test --all",
    "cargo build --release 2>&1 | tail -20",
    "cargo test foo::bar -- --nocapture",
    "go test ./...",
    "go test -run TestX ./pkg/...",
    "go build -o out/x ./cmd/x",
    "go vet ./... && go test -race ./...",
    "make",
    "make test",
    "make -j4 all",
    "make -s lint 2>/dev/null",
    "FOO=1 make test",
    'FOO=1 BAR="x y" make test',
    "CI=true npm test",
    "NODE_ENV=test npm test",
    "DEBUG=1 pytest -x",
    "uv run pytest -q",
    "uv sync --all-extras",
    "pytest -q",
    "pytest -q tests/test_a.py::test_x",
    'pytest -q -k "a and not b"',
    "pytest -x --tb=short 2>&1 | tail -30",
    "pytest tests/ -v --maxfail=1",
    "cd sub && pytest -q",
    "cd src; ls",
    "(cd src && ls -la)",
    "ruff check .",
    "ruff check --fix src",
    "ruff format --check .",
    "ls -la",
    "ls -la src/ tests/",
    "ls *.md",
    "ls src/**/*.py",
    "ls -1 | wc -l",
    "cat README.md",
    "cat README.md | head -n 20",
    "cat package.json src/*.py",
    "head -100 README.md",
    "tail -n +10 README.md",
    "tail -5 log.txt",
    "wc -l src/*.py",
    'grep -rn "def " src',
    "grep -rn 'TODO\\|FIXME' --include='*.py' .",
    'grep -n "^import" src/a.py | sort | uniq -c | sort -rn | head',
    'grep -E "a|b" README.md',
    "grep -c x README.md || true",
    'rg "foo" src',
    "rg -n --glob '*.py' 'class \\w+'",
    "rg -l TODO | wc -l",
    'find . -name "*.py"',
    "find . -name '*.py' -not -path './.venv/*'",
    "find . -type f -name '*.py' | head",
    "find . -name '*.py' -exec wc -l {} +",
    "sed -n '1,40p' src/a.py",
    "sed -n 10p src/a.py",
    "sed -e 's/a/b/' src/a.py",
    "sed -n '/def/,/return/p' src/a.py",
    "awk '{print $1}' README.md",
    "awk -F: '{print $1, $3}' README.md",
    "awk 'NR>10 && NR<20' README.md",
    "cut -d: -f1 README.md | sort -u",
    "tr a-z A-Z < README.md",
    "sort README.md > out/s.txt",
    "echo hello",
    'echo "a: $HOME"',
    'echo "exit: $?"',
    "echo done > out/done.txt",
    "echo a >> build.log",
    "echo $PATH",
    "printf '%s\\n' a b",
    "pwd",
    "which python",
    "command -v python3",
    "type ls",
    "mkdir -p out/a/b",
    "touch out/x",
    "cp README.md out/",
    "cp src/a.py src/c.py",
    "mv src/a.py src/d.py",
    "rm src/b.py",
    "rm -f out/x out/y",
    "rm -rf build/tmp",
    "python -m pytest -q",
    'python -c "print(1)"',
    "python3 -c 'import sys; print(sys.version)'",
    "python script.py --x 1 > out/log.txt 2>&1",
    "python - <<'EOF'\nprint(1)\nEOF",
    'node -e "console.log(1)"',
    "npx tsc --noEmit",
    "npx eslint src --ext .ts",
    "tsc -p .",
    "docker ps -a",
    "docker compose up -d",
    "curl -s http://localhost:8000/health",
    "curl -sS -X POST -H 'Content-Type: application/json' -d '{\"a\": 1}' http://localhost:8000/x",
    "curl -s https://example.com/x.json | jq '.a.b'",
    "jq '.scripts' package.json",
    "jq -r '.dependencies | keys[]' package.json",
    "date +%Y-%m-%d",
    "diff -u README.md src/a.py",
    "tree -L 2 -I node_modules",
    "make 2>&1 | tee out/make.log",
    "make > /dev/null 2>&1 && echo ok",
    "set -e; make; make test",
    "set -euo pipefail; make",
    'for f in a b c; do echo "$f"; done',
    "for i in $(seq 1 3); do echo $i; done",
    "if [ -f package.json ]; then npm test; else make test; fi",
    "[ -d node_modules ] || npm ci",
    "test -f README.md && cat README.md",
    "[[ -f a ]] && echo yes",
    "sleep 1; ls",
    "sleep 5 && curl -s localhost:3000",
    "timeout 60 pytest -q",
    "time make test",
    "nohup npm run dev > out/dev.log 2>&1 &",
    "npm run dev &",
    "export FOO=1 && make",
    'echo "$(git log -1 --format=%h)"',
    "echo $((1 + 2))",
    "ps aux | grep node | head",
    "kill 1234",
    "du -sh src",
    "df -h",
    "file src/a.py",
    "stat README.md",
    "basename src/a.py .py",
    "chmod +x src/run.sh",
    "cat .env",
    "./gradlew test",
    "./run.sh a",
    "mvn -q test",
    "bundle exec rspec",
    "git --no-pager diff",
    "git --no-pager log -n 3",
    "env | sort",
    "env FOO=1 make",
    "cat a.txt b.txt 2>/dev/null",
    "ls nonexistent 2>/dev/null || echo none",
    "echo \"a\" | sed 's/a/b/'",
    "cat <<EOF > out/x.txt\nhello $USER\nEOF",
    "diff <(sort README.md) <(sort src/a.py)",
    "echo {1..3}",
    "echo a b   c",
    "make test&&make lint",
    "docker compose logs --tail=50 web",
    "git log --graph --all --decorate",
    "git log -p -S'foo' -- src",
    "md5sum README.md",
    "xxd README.md | head",
    "black --check .",
    "mypy src --strict",
    "pip install -e '.[dev]'",
    "npm run test:unit -- -t 'my test'",
    'pytest "tests/test_a.py::test[a-b]"',
]

ASKED = [
    "git diff --name-only | xargs -r ruff check",
    "PYTHONPATH=src pytest",
    "find . -name '*.py' -print0 | xargs -0 wc -l",
    "mkdir -p build && cd build && make",
    "cp -r src out/src",
    "rm -rf out/*",
    "make test || exit 1",
    'for f in src/*.py; do echo "$f"; wc -l "$f"; done',
    'while read -r line; do echo "$line"; done < README.md',
    'export PATH="$PWD/node_modules/.bin:$PATH" && tsc',
    "N=$((N+1)); echo $N",
    "cat /etc/passwd",
    "cat ~/.ssh/id_rsa",
    "cat $HOME/.ssh/id_rsa",
    "ls /tmp",
    "ls ~",
    "ls ..",
    "cd .. && ls",
    "cat ../x",
    "echo a > /tmp/x",
    "echo a > ~/x",
    "tar -xzf x.tgz",
    "ln -s a b",
    "source .venv/bin/activate && pytest",
    ".venv/bin/python -m pytest",
    "git -C sub status",
]


@pytest.fixture
def everyday(project):
    for name in ("package.json", "src/a.py", "src/b.py", "tests/test_a.py", "README.md", "sub/x.txt", "log.txt"):
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text("x\n")
    (project.root / "out").mkdir()
    return project


@pytest.mark.parametrize("command", ALLOWED)
def test_an_everyday_command_is_allowed(decide: Decide, everyday, command: str) -> None:
    decision = decide("bash", command, RULES)
    assert decision.action == "allow", [part for part in decision.parts if part.decision == "ask"]


@pytest.mark.parametrize("command", ASKED)
def test_a_command_that_reaches_further_is_asked(decide: Decide, everyday, command: str) -> None:
    assert decide("bash", command, RULES).action == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "sed -e 'w PWNED' a",
        "sed -e p -e '1e touch PWNED' a",
        "sed -n -e",
        "sed p -i a",
        "sed -f a a",
        "sed '/a/w PWNED' a",
        "sed '/[/]/w PWNED' a",
        "sed 's/a/b/;w PWNED' a",
        "sed 's/a/b/e' a",
        "sed -n '/a/,/b/{p}' a",
        "awk 'BEGIN { system(\"touch PWNED\") }'",
        "awk '{ print > \"PWNED\" }' a",
        'awk \'{ print (";") > "PWNED" }\' a',
        "awk '{ print $1 \\\n > \"PWNED\" }' a",
        "awk '{ print | \"sh\" }' a",
        "awk 'BEGIN { \"touch PWNED\" | getline }'",
        "awk 'BEGIN { while ((getline A < \"/etc/passwd\") > 0) print A }'",
        "awk 'BEGIN { ARGV[1] = \"/etc/passwd\"; ARGC = 2 } { print }'",
        "awk '@load \"x\"; { print }'",
        'awk \'BEGIN { extension("./x", "x") }\'',
        "awk -f a a",
        "awk -i inplace '{ print }' a",
        "awk -v A=1 -f a",
        "awk -v",
        'awk "$A" a',
        "awk '{ print }' /etc/passwd",
        "uniq a PWNED",
        "grep a /etc/passwd",
        "grep -f /etc/passwd a",
        "grep -e a /etc/passwd",
        "grep -rn a ..",
        "grep --file=/etc/passwd a",
        "grep -R a .",
        "grep -nR a",
        "rg -L a",
        "rg --follow a .",
        "git commit -F /etc/passwd",
        "git commit -m $(echo a)",
        'git commit -m "$@"',
        'git commit -m "$(echo a)"$B"(b)"',
        'git log -m "$A"',
        "git --no-pager push",
        "git --no-pager -c a.b=c diff",
        "git --no-pager diff --ext-diff",
        "cp -T a out",
        "cp a newname",
        "mv src/a.py newname",
    ],
)
def test_a_filter_that_does_more_is_asked(decide: Decide, everyday, command: str) -> None:
    (everyday.root / "link").symlink_to("/etc")
    rules = [rule for rule in RULES if not rule.startswith("bash git push")]
    assert decide("bash", command, tuple(rules)).action == "ask"


def test_links_that_stay_inside_are_followed(decide: Decide, everyday) -> None:
    (everyday.root / "link").symlink_to("src")
    assert decide("bash", "grep -Rn a .", RULES).action == "allow"


def test_an_offer_leaves_out_what_changes_nothing(decide: Decide) -> None:
    offers = decide("bash", "git --no-pager diff --stat").offers
    assert [rule.pattern for rule in offers[1].rules] == ["git diff *"]
