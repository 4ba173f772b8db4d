#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/setup.sh with an apt-get of our own in front: what is installed, when, and what is said."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1))
THERE = "make build command:sh a thing that is there\n"


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("tools", "bin", "build"):
            (self.root / name).mkdir()
        shutil.copy(TOOLS / "setup.sh", self.root / "tools")
        self.log = self.root / "log"
        self.log.touch()

    def apt(self, body):
        self.program("apt-get", f'echo "$*" >>{self.log}\n{body}')

    def program(self, name, body):
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def run_sh(self, script, packages, path=None):
        (self.root / "tools/packages").write_text(packages)
        self.program("sudo", 'exec "$@"')
        env = {**os.environ, "PATH": path or f"{self.root}/bin:{os.environ['PATH']}"}
        done = subprocess.run(["/bin/sh", "-euc", f". tools/setup.sh; {script}; echo went on"],
                              cwd=self.root, env=env, capture_output=True, text=True, timeout=20)
        return done.returncode, done.stdout, done.stderr, self.log.read_text()

    def test_nothing_missing_asks_nobody(self):
        self.apt("exit 1")
        status, out, err, log = self.run_sh("need build; want_optional; need test",
                                            f"# a word\n{THERE}x test file:/ the root\n")
        self.assertEqual((status, out, err, log), (0, "went on\n", "", ""))

    def test_installs_what_is_missing_and_says_so(self):
        self.apt(f"case $* in *install*) touch {self.root}/got ;; esac")
        packages = THERE + f"libx-dev build file:{self.root}/got reads the X files\n"
        status, out, err, log = self.run_sh("need build", packages)
        self.assertEqual((status, out), (0, "went on\n"), err)
        self.assertIn("libx-dev", err)
        self.assertIn("reads the X files", err)
        self.assertEqual(len([x for x in log.splitlines() if "update" in x]), 1)
        self.assertIn("install --no-install-recommends libx-dev", log)
        self.assertNotIn("make", log)
        self.assertEqual(self.run_sh("need build", packages)[3], log, "asked again")

    def test_failed_install_names_the_package(self):
        self.apt('case $* in *" bad") exit 100 ;; *bad*) exit 100 ;; esac')
        status, out, err, _ = self.run_sh(
            "need build", "good build file:/nowhere a\nbad build file:/nowhere b\n")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("could not install: bad ", err)
        self.assertIn("apt-get install bad", err)

    def test_optional_goes_on_and_is_tried_once(self):
        self.apt("exit 100")
        packages = "liby optional file:/nowhere why\n"
        status, out, err, log = self.run_sh("want_optional", packages)
        self.assertEqual((status, out), (0, "went on\n"))
        self.assertIn("going on without liby", err)
        status, out, err, again = self.run_sh("want_optional", packages)
        self.assertEqual((status, out, err, again), (0, "went on\n", "", log))

    def test_other_systems_are_told_what_is_needed(self):
        for name in ("cc", "make", "cmake", "pkg-config"):
            self.program(name, "exit 0")
        for name in ("id", "cat"):
            (self.root / "bin" / name).symlink_to(shutil.which(name))
        path = f"{self.root}/bin"
        packages = "libz-dev build file:/nowhere squeezes\n"
        status, out, err, _ = self.run_sh("need build", packages, path)
        self.assertEqual((status, out), (0, "went on\n"), err)
        self.assertIn("libz-dev", err)
        self.assertIn("no apt-get", err)
        (self.root / "bin/cmake").unlink()
        status, out, err, _ = self.run_sh("need build", packages, path)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("cannot build without cmake", err)

    def test_every_probe_of_the_list_is_understood(self):
        for line in (TOOLS / "packages").read_text().splitlines():
            if line and not line.startswith("#"):
                _, stage, probe, purpose = line.split(None, 3)
                self.assertIn(stage, ("build", "optional", "test"))
                self.assertIn(probe.split(":")[0], ("command", "file", "header", "pc"))
                self.assertTrue(purpose)


if __name__ == "__main__":
    unittest.main()
