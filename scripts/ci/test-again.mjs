/**
 * Runs once more, alone, the few test files that failed beside others, and names those that pass then: they depend on how busy the
 * machine is, and are to be mended. A result that shows more failures, or none, fails.
 *
 *   npm test -- --json --outputFile=results.json || node scripts/ci/test-again.mjs change results.json
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

/** More than these are no accident. */
const most = 3;

const [tier, file] = process.argv.slice(2);
const { testResults } = JSON.parse(readFileSync(file, 'utf8'));
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
if (failed.length === 0 || failed.length > most) {
  process.exit(1);
}

const line = (text) => process.stderr.write(`== ${text}\n`);
line(`failed beside others, run once more alone: ${failed.join(', ')}`);
const jest = resolve('node_modules/jest/bin/jest.js');
const config = `test/tiers/${tier}.config.cjs`;
const { status } = spawnSync(
  process.execPath,
  [jest, '--config', config, '--runInBand', '--runTestsByPath', ...failed],
  {
    stdio: 'inherit',
  },
);
if (status !== 0) {
  process.exit(1);
}
for (const name of failed) {
  line(`UNSTABLE: ${name} failed beside others and passed alone; see its failure above, and mend it.`);
}
