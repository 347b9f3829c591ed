"use strict";
const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const test = require("node:test");
const { problemsOf } = require("./problems");

test("a log becomes problems at lines", () => {
  const log = JSON.parse(readFileSync(process.env.POSSIBLY_SARIF, "utf8"));
  const [problem, ...others] = problemsOf(log);
  assert.deepStrictEqual(others, []);
  assert.strictEqual(problem.file, "examples/mutex/mutex.py");
  assert.strictEqual(problem.line, 23);
  assert.strictEqual(problem.severity, "error");
  assert.strictEqual(problem.rule, "mutex");
});

test("a log without results has no problems", () => {
  assert.deepStrictEqual(problemsOf({ runs: [{ results: [] }] }), []);
  assert.deepStrictEqual(problemsOf({}), []);
});
