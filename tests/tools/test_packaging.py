#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is installed and packaged: the program from there finds its data, the manual is whole, bash
completes, and the .deb holds the same files. Usage: test_packaging.py BUILD SOURCE"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
PLAIN = {k: v for k, v in os.environ.items() if not k.startswith("IODASH_")}


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=100,
                          check=False, env=PLAIN, **more)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="iodash-packaging-"))
        done = run("cmake", "--install", BUILD, "--prefix", cls.folder / "usr")
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def iodash(self, *words):
        done = run(self.folder / "usr/bin/iodash", *words, cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_finds_its_data(self):
        for table, word in (("plans", "accept-queue"), ("claims", "edge-faster")):
            self.assertIn(word, self.iodash("list", table))

    def test_the_manual_is_whole(self):
        page = (self.folder / "usr/share/man/man1/iodash.1").read_text(encoding="utf-8")
        plain = page.replace("\\-", "-").replace("\\", "")
        for head in ("COMMANDS", "OPTIONS", "KEYS", "EXIT STATUS"):
            self.assertRegex(page, rf'\.SH "?{head}')
        for table in ("params", "models", "workloads", "verdicts", "metrics"):
            for line in self.iodash("list", table, "--format", "csv").splitlines()[1:]:
                self.assertIn(line.split(",")[0].strip('"'), plain)

    def complete(self, *words):
        """What bash offers for the last word."""
        script = self.folder / "usr/share/bash-completion/completions/iodash"
        exe = self.folder / "usr/bin/iodash"
        line = " ".join(f"'{w}'" for w in (exe, *words))
        done = run("bash", "-euc", f"""source '{script}'
            COMP_WORDS=({line}) COMP_CWORD={len(words)} COMPREPLY=()
            _iodash '{exe}' || true
            printf '%s\\n' "${{COMPREPLY[@]}}" """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("comp"), ["compare"])
        self.assertIn("--connections", self.complete("run", "--conn"))
        self.assertEqual(self.complete("run", "-m", "select,epoll-l"), ["select,epoll-lt"])
        self.assertEqual(self.complete("run", "-w", "idle"), ["idle-mix"])
        self.assertEqual(self.complete("run", "--plan", "=", "accept"), ["accept-queue"])
        self.assertIn("quick", self.complete("run", "--plan", "="))
        self.assertIn("target:nginx", self.complete("run", "-m", "tar"))
        for before in ("target", "select,target"):  # bash takes the : for a word
            self.assertEqual(self.complete("run", "-m", before, ":", "ngi"), ["nginx"])
            self.assertIn("redis", self.complete("run", "-m", before, ":"))
        self.assertEqual(self.complete("run", "-m", "select,target:ngi"), ["select,target:nginx"])
        self.assertEqual(self.complete("run", "--plan", "accept"), ["accept-queue"])
        self.assertIn("metrics", self.complete("list", "me"))
        self.assertIn("markdown", self.complete("run", "--format", "m"))
        self.assertEqual(self.complete("--no-such"), [])


class Package(unittest.TestCase):
    def test_deb(self):
        with tempfile.TemporaryDirectory(prefix="iodash-deb-") as name:
            folder = pathlib.Path(name)
            done = run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", folder,
                       cwd=folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            deb, = folder.glob("*.deb")
            self.assertRegex(deb.name, r"^iodash_[0-9.]+_[a-z0-9]+\.deb$")
            fields = run("dpkg-deb", "-f", deb).stdout
            self.assertRegex(fields, r"Depends: .*libncursesw6")
            self.assertRegex(fields, r"Description: \S+")
            run("dpkg-deb", "-x", deb, folder / "root")
            files = {str(p.relative_to(folder / "root"))
                     for p in (folder / "root").rglob("*") if p.is_file()}
            for wanted in ("usr/bin/iodash", "usr/share/iodash/plans/quick.ini",
                           "usr/share/bash-completion/completions/iodash"):
                self.assertIn(wanted, files)
            self.assertTrue([f for f in files if re.match("usr/share/man/man1/iodash.1", f)], files)
            self.assertFalse([f for f in files if not f.startswith("usr/")], files)
            version = run(folder / "root/usr/bin/iodash", "--version").stdout
            self.assertRegex(version, r"^iodash [0-9.]+\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
