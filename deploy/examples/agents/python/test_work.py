import importlib
import threading
import unittest

clerk = importlib.import_module("clerk")


class Work(unittest.TestCase):
    def work(self, words):
        said = []
        return clerk.work({"description": words}, lambda percentage, told: said.append((percentage, told)), threading.Event()), said

    def test_writes_in_capital_letters(self):
        self.assertEqual(self.work("shout hooray"), ("SHOUT HOORAY", []))

    def test_tells_how_far_it_is(self):
        self.assertEqual(self.work("in 1 seconds"), ("IN 1 SECONDS", [(0, "1 seconds to go")]))

    def test_fails_where_there_is_nothing_to_write(self):
        with self.assertRaisesRegex(clerk.Hopeless, "There is no letter in it."):
            self.work("2 + 2")


if __name__ == "__main__":
    unittest.main()
