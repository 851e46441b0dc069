/**
 * `npm run test:mutation [-- <group> …]`: what the guards of each group of `groups.json` are worth. Stryker runs once a group,
 * since each mutant costs the loading of all tests that it is given. Prints a table; a score below the bar of
 * `stryker.config.mjs` fails, as does a group that Stryker does not come to the end of.
 *
 * `--again` takes from the last report of a group what its tests found, and runs what survived with tests that are new.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import stryker from '../../stryker.config.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const groups = JSON.parse(readFileSync(join(root, 'scripts/mutation/groups.json'), 'utf8'));
const { values, positionals: requested } = parseArgs({
  allowPositionals: true,
  options: { again: { type: 'boolean', default: false } },
});
const names = requested.length === 0 ? Object.keys(groups) : requested;

const unknown = names.filter((name) => !(name in groups));
if (unknown.length > 0) {
  process.stderr.write(`No such group: ${unknown.join(', ')}. There are ${Object.keys(groups).join(', ')}.\n`);
  process.exit(2);
}

/** A mutant whose guard was passed too often for its tests to end, which the time of a loaded machine does not decide. */
const isEndless = ({ status, statusReason = '' }) => status === 'Timeout' && statusReason.startsWith('Hit limit');

/** The figures of a group: a mutant that no test reaches has survived; one that fails to load is none. */
function measure(name) {
  const report = join(root, '.cache', 'mutation', `${name}.json`);
  const last = join(root, '.cache', 'mutation', `${name}.last.json`);
  if (existsSync(report)) {
    renameSync(report, last);
  }
  const incremental = values.again ? ['--incremental', '--incrementalFile', last] : [];
  spawnSync(process.execPath, ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', ...incremental], {
    cwd: root,
    env: { ...process.env, MUTATION_GROUP: name },
    stdio: 'inherit',
  });
  if (!existsSync(report)) {
    process.stderr.write(`Stryker did not come to the end of ${name}.\n`);
    process.exit(1);
  }
  const { files } = JSON.parse(readFileSync(report, 'utf8'));
  const mutants = Object.values(files).flatMap((file) => file.mutants);
  const count = (test) => mutants.filter(test).length;
  const timeout = count((mutant) => mutant.status === 'Timeout' && !isEndless(mutant));
  const killed = count((mutant) => mutant.status === 'Killed' || isEndless(mutant));
  const survived = count(({ status }) => status === 'Survived' || status === 'NoCoverage');
  return { group: name, guards: killed + survived + timeout, killed, survived, timeout };
}

const percent = ({ guards, killed, timeout }) => (guards === 0 ? 100 : (100 * (killed + timeout)) / guards);

const measured = [];
for (const name of names) {
  process.stdout.write(`\n${name} (${measured.length + 1} of ${names.length})\n`);
  measured.push(measure(name));
}
const sum = (key) => measured.reduce((total, each) => total + each[key], 0);
const whole = {
  group: 'all',
  ...Object.fromEntries(['guards', 'killed', 'survived', 'timeout'].map((key) => [key, sum(key)])),
};
const columns = ['group', 'guards', 'killed', 'survived', 'timeout', 'score'];
const row = (cells) => `${cells.map((cell, at) => (at === 0 ? cell.padEnd(20) : cell.padStart(9))).join('')}\n`;
process.stdout.write(`\n${row(columns)}`);
for (const each of [...measured, whole]) {
  process.stdout.write(
    row(columns.map((key) => (key === 'score' ? `${percent(each).toFixed(1)} %` : String(each[key])))),
  );
}
process.exit(percent(whole) < stryker.thresholds.break ? 1 : 0);
