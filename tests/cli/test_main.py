"""How a run begins and ends: help, suggestions, exit codes, pipes, interrupts, bugs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from saturation.cli import HELP
from saturation.cli.failure import problem_records, wants_json
from saturation.errors import Problem

BARE = {"PATH": os.environ["PATH"]}
"""An environment without HOME, LANG or a terminal's width."""


def run(*words, env=None, **settings):
    return subprocess.run(
        [sys.executable, "-m", "saturation", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=BARE | (env or {}),
        check=False,
        timeout=60,
        **settings,
    )


def with_command(body):
    """A program whose ``saturation metrics`` does what ``body`` says."""
    return textwrap.dedent(
        """
        import sys, types, click
        from saturation.errors import DataError, Problem, UsageError

        @click.command("metrics")
        @click.option("--format")
        def command(format):
        {body}

        module = types.ModuleType("saturation.cli.metrics")
        module.command = command
        sys.modules["saturation.cli.metrics"] = module
        from saturation.cli import main
        main()
        """
    ).replace("{body}", textwrap.indent(textwrap.dedent(body), "    "))


def run_body(body, *words):
    return subprocess.run(
        [sys.executable, "-c", with_command(body), "metrics", *words],
        capture_output=True,
        text=True,
        env=BARE,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_names_every_command(words):
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"  {name} " in done.stdout for name in HELP)
    assert "_SATURATION_COMPLETE=bash_source" in done.stdout


def test_no_command_shows_the_help_and_is_a_usage_error():
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:" in done.stderr


def test_version():
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == "saturation"


@pytest.mark.parametrize(
    ("word", "hint"),
    [("evaluat", "did you mean evaluate"), ("curv", "did you mean curve"), ("xyz", "commands: check, convert")],
)
def test_unknown_command(word, hint):
    done = run(word)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"no such command '{word}'" in done.stderr
    assert hint in done.stderr


def test_unknown_option_is_named():
    done = run("evaluate", "--vote", "x.csv")
    assert done.returncode == 2
    assert "--votes" in done.stderr


def test_missing_option_is_named():
    done = run("evaluate", "--predictions", "x.csv")
    assert done.returncode == 2
    assert "--votes" in done.stderr
    assert "saturation evaluate --help" in done.stderr


@pytest.mark.parametrize("words", [["evaluate", "--format", "json"], ["evaluate", "--out=x.json"]])
def test_usage_errors_are_json_in_json_mode(words):
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    error = json.loads(done.stderr)["error"]
    assert list(error) == ["kind", "message", "problems"]
    assert error["kind"] == "usage"
    assert "--votes" in error["message"]


def test_data_errors_of_people():
    done = run_body('raise DataError([Problem("V04", "label is empty", file="v.csv", row=3, item="q7")])')
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: [V04] v.csv, row 3, item 'q7': label is empty\n"


def test_data_errors_of_programs_list_twenty_a_rule():
    done = run_body('raise DataError([Problem("V04", "empty", row=n) for n in range(1, 26)])', "--format", "json")
    assert (done.returncode, done.stdout) == (2, "")
    error = json.loads(done.stderr)["error"]
    assert error["kind"] == "data"
    # 25 problems: 20 are listed, one row says that 25 - 20 = 5 more exist.
    assert len(error["problems"]) == 21
    assert error["problems"][0] == {"file": None, "row": 1, "item": None, "rule": "V04", "message": "empty"}
    assert error["problems"][-1] == {"file": None, "row": None, "item": None, "rule": "V04", "message": "and 5 more"}


def test_twenty_is_not_too_many():
    assert len(problem_records([Problem("A", "a")] * 20)) == 20


def test_bug_shows_a_traceback_and_asks_to_report_it():
    done = run_body("1 / 0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "please report" in done.stderr


def test_bug_in_json_mode_is_json():
    done = run_body("1 / 0", "--format", "json")
    assert done.returncode == 1
    error = json.loads(done.stderr)["error"]
    assert error["kind"] == "bug"
    assert "ZeroDivisionError" in error["message"]
    assert "please report" in error["message"]


def test_a_plain_value_error_is_a_bug_and_not_the_users_fault():
    assert run_body('raise ValueError("ours")').returncode == 1


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "click.Abort"])
def test_interrupt(error):
    done = run_body(f"raise {error}")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "interrupted; nothing was written"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_from_outside():
    program = with_command('click.echo("up"); sys.stdout.flush(); import time; time.sleep(30)')
    child = subprocess.Popen(
        [sys.executable, "-c", program, "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=BARE
    )
    assert child.stdout.readline() == "up\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, stderr = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "Traceback" not in stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize("body", ['click.echo("x" * 10_000_000)', 'for _ in range(200_000): click.echo("row")'])
def test_closed_pipe_is_silent(body):
    child = subprocess.Popen(
        [sys.executable, "-c", with_command(body), "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=BARE
    )
    child.stdout.read(10)
    child.stdout.close()
    stderr = child.stderr.read()
    child.stderr.close()
    assert (child.wait(timeout=20), stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_behind_stdout_is_no_bug():
    words = [sys.executable, "-m", "saturation", "metrics"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, env=BARE, check=False, timeout=60)
    assert (done.returncode, done.stderr.count("no space left")) == (2, 1)
    assert "Traceback" not in done.stderr


def test_a_closed_stdout_is_no_bug():
    command = f"{sys.executable} -m saturation metrics >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, env=BARE, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}])
def test_a_terminal_without_unicode_is_no_reason_to_fail(env):
    done = subprocess.run(
        [sys.executable, "-c", with_command('click.echo("\\u00e9 \\u2500 \\u2264")'), "metrics"],
        capture_output=True,
        env=BARE | env,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell):
    done = run(env={"_SATURATION_COMPLETE": f"{shell}_source"})
    assert done.returncode == 0
    assert "_SATURATION_COMPLETE" in done.stdout


def test_completion_knows_the_commands():
    words = {"_SATURATION_COMPLETE": "bash_complete", "COMP_WORDS": "saturation la", "COMP_CWORD": "1"}
    assert run(env=words).stdout.split() == ["plain,label-curve"]


@pytest.mark.parametrize(
    ("words", "json_mode"),
    [
        (["curve", "--format", "json"], True),
        (["curve", "--format=json"], True),
        (["curve", "--out", "a.JSON"], True),
        (["curve", "--out=dir/a.json", "--quiet"], True),
        (["curve", "--format", "csv"], False),
        (["curve", "--votes", "a.json"], False),
        (["convert", "json"], False),
        ([], False),
        (["--format"], False),
    ],
)
def test_json_mode_is_seen_before_parsing(words, json_mode):
    assert wants_json(words) is json_mode


def test_the_console_script_and_the_module_are_one(tmp_path):
    script = os.path.join(os.path.dirname(sys.executable), "saturation")
    done = subprocess.run([script, "--help"], capture_output=True, text=True, env=BARE, check=True)
    assert done.stdout == run("--help").stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--version"], 0, "inference "),
        (["--help"], 0, "predict"),
        ([], 2, "Usage: inference"),
        (["predict"], 2, "Missing option '--items'"),
        (["study", "plan", "nowhere.toml"], 2, "error: cannot read nowhere.toml"),
    ],
)
def test_the_model_side_has_a_door_of_its_own(words, code, said):
    done = subprocess.run(
        [sys.executable, "-c", "from inference.cli import main; main()", *words],
        capture_output=True,
        text=True,
        env=BARE,
        check=False,
    )
    assert done.returncode == code
    assert said in (done.stdout if code == 0 else done.stderr)
    assert "Traceback" not in done.stderr
