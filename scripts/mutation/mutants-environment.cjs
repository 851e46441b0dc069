/**
 * Repeats every test of a file for each mutant of `TEST_MUTANTS`, on the workers that the file has started once. What a test
 * makes while `TEST_MUTANT` names a mutant has that mutant active. Once one test has failed with a mutant, the others are skipped
 * for it. `TEST_MUTANT_RESULTS` names a file, to which a line is appended for each mutant once it was found, or all tests have
 * passed with it.
 */
const { appendFileSync, existsSync, readFileSync } = require('node:fs');
const { basename, dirname } = require('node:path');
const OneRealmEnvironment = require('../../test/environment/environment.cjs');

const mutants = JSON.parse(process.env.TEST_MUTANTS ?? '{}');
const results = process.env.TEST_MUTANT_RESULTS ?? '';

module.exports = class MutantsEnvironment extends OneRealmEnvironment {
  constructor(config, context) {
    super(config, context);
    this.file = `${basename(dirname(context.testPath))}/${basename(context.testPath, '.test.ts')}`;
    this.mutants = mutants[this.file] ?? [];
    this.found = new Set();
    this.left = new Map(this.mutants.map((mutant) => [mutant, 0]));
  }

  handleTestEvent({ name, test }, { rootDescribeBlock }) {
    if (name === 'run_start') {
      this.repeat(rootDescribeBlock);
    }
    if (name === 'test_start') {
      if (process.env.TEST_MUTANT !== (test.mutant ?? '')) {
        process.env.TEST_MUTANT = test.mutant ?? '';
        this.addFoundElsewhere();
      }
      if (this.found.has(test.mutant)) {
        test.mode = 'skip';
      }
    }
    if (name === 'test_done' && test.errors.length > 0 && !this.found.has(test.mutant)) {
      this.found.add(test.mutant);
      this.report(test.mutant, test.name);
    }
    if (name === 'test_done' && test.mutant !== undefined) {
      const left = this.left.get(test.mutant) - 1;
      this.left.set(test.mutant, left);
      if (left === 0 && !this.found.has(test.mutant)) {
        this.report(test.mutant, null);
      }
    }
  }

  /** Once without a mutant: a file whose tests fail then proves nothing about mutants. */
  repeat(block) {
    block.children = block.children.flatMap((child) => {
      if (child.type !== 'test') {
        this.repeat(child);
        return [child];
      }
      this.left.forEach((count, mutant) => this.left.set(mutant, count + 1));
      return [undefined, ...this.mutants].map((mutant) => ({
        ...child,
        errors: [],
        invocations: 0,
        retryReasons: [],
        unhandledRejectionErrorByPromise: new Map(),
        mutant,
      }));
    });
    // All tests of one mutant after another, so that the first failure spares the rest.
    const at = ({ mutant }) => this.mutants.indexOf(mutant);
    block.children.sort((one, other) => at(one) - at(other));
    block.tests = block.children.filter(({ type }) => type === 'test');
  }

  /** Adds what other files, whose tests run beside these, have found meanwhile. */
  addFoundElsewhere() {
    const reported = existsSync(results) ? readFileSync(results, 'utf8').split('\n').slice(0, -1) : [];
    for (const { mutant, test } of reported.map((line) => JSON.parse(line))) {
      if (test !== null) {
        this.found.add(mutant);
      }
    }
  }

  report(mutant, test) {
    const { file } = this;
    appendFileSync(results, `${JSON.stringify({ file, mutant: mutant ?? null, test })}\n`);
  }
};
