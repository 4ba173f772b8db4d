#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks in tools/ must find what they are for: each is run on a small project with one offence."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1))


def run(tool, *words):
    done = subprocess.run([sys.executable, TOOLS / tool, *map(str, words)], capture_output=True,
                          text=True, timeout=20)
    return done.returncode, done.stdout + done.stderr


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for i in range(20):
            self.write(f"src/base/b{i}.h", "#include <stdio.h>\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_includes(self):
        self.write("src/servers/s.c", '#include "base/b1.h"\n')
        self.assertEqual(run("check_includes.py", self.root)[0], 0)
        self.write("src/load/l.h", "")
        offences = {
            "src/base/up.c": '#include "servers/s.c"\n',
            "src/servers/across.c": '#include "load/l.h"\n',
            "src/ui/graph.c": "#include <ncurses.h>\n",
            "src/ui/wide.c": "#include <ncursesw/curses.h>\n",
            "src/net/gone.c": '#include "gone.h"\n',
            "src/extra/e.c": '#include "base/b1.h"\n',
            "src/ui/load.c": '#include "load/l.h"\n',
        }
        for name, text in offences.items():
            path = self.write(name, text)
            status, out = run("check_includes.py", self.root)
            self.assertEqual(status, 1, name)
            self.assertIn(name.removeprefix("src/"), out)
            path.unlink()
        self.write("src/ui/term.c", "#include <curses.h>\n")
        self.assertEqual(run("check_includes.py", self.root)[0], 0)

    def test_sizes(self):
        self.write("src/base/f.c", "int f(void)\n{\n" + "    ;\n" * 76 + "    return 0;\n}\n")
        status, out = run("check_sizes.py", self.root)
        self.assertEqual(status, 0, out)
        self.assertIn("max  80", out)
        self.write("src/base/f.c", "int f(void)\n{\n" + "    ;\n" * 77 + "    return 0;\n}\n")
        status, out = run("check_sizes.py", self.root)
        self.assertEqual(status, 1)
        self.assertIn("f: 81 lines", out)
        self.write("src/base/f.c", "int f(void)\n{\n    return 0;\n}\n" + "\n" * 497)
        status, out = run("check_sizes.py", self.root)
        self.assertEqual(status, 1)
        self.assertIn("501 lines", out)

    def test_tables(self):
        fake = self.write("iodash", "#!/bin/sh\necho \"| $2 |\"\n")
        fake.chmod(0o755)
        page = self.write("README.md", "a\n<!-- iodash list keys -->\n<!-- end -->\nb\n")
        self.assertEqual(run("tables.py", "--check", fake, page)[0], 1)
        self.assertEqual(run("tables.py", fake, page)[0], 0)
        self.assertEqual(page.read_text(),
                         "a\n<!-- iodash list keys -->\n\n| keys |\n\n<!-- end -->\nb\n")
        self.assertEqual(run("tables.py", "--check", fake, page)[0], 0)
        fake.write_text("#!/bin/sh\nexit 2\n")
        self.assertNotEqual(run("tables.py", "--check", fake, page)[0], 0)
        page.write_text("no table\n")
        self.assertNotEqual(run("tables.py", "--check", fake, page)[0], 0)


if __name__ == "__main__":
    unittest.main()
