# RIGHT: a Python program that is asked and answers
import subprocess
import sys

answer = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True)
assert answer.stdout.strip() == "42"
