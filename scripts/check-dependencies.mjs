/**
 * Checks the packages that package-lock.json names: known advisories, licences, install scripts, integrity;
 * and that package.json allows those install scripts only. It needs nothing installed, so that it can refuse a package
 * before that package's install script has run.
 *
 * `node scripts/check-dependencies.mjs [directory]`: exits with 1 when something is wrong, and names it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allowScriptsProblems, auditProblems, lockfileProblems } from './dependency-rules.mjs';

const directory = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));

/** The audit of the lockfile by npm; an object without `vulnerabilities` when it cannot. */
function audit() {
  const args = ['audit', '--json', '--package-lock-only', '--loglevel=silent', '--fetch-retries=2'];
  const { stdout, error } = spawnSync('npm', args, {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error) {
    return { message: error.message };
  }
  try {
    return JSON.parse(stdout);
  } catch {
    return { message: 'npm audit printed no JSON' };
  }
}

const read = (name) => JSON.parse(readFileSync(join(directory, name), 'utf8'));
const lockfile = read('package-lock.json');
const advisories = auditProblems(audit(), lockfile);
if (advisories.unavailable) {
  console.warn(
    'WARNING: advisories WERE NOT CHECKED. The configured registry has no audit endpoint, as mirrors often have not. ' +
      'This alone does not fail; run the check where npm is configured with a registry that answers audits.',
  );
}
const problems = [...lockfileProblems(lockfile), ...allowScriptsProblems(read('package.json')), ...advisories.problems];
for (const problem of new Set(problems)) {
  console.error(`- ${problem}`);
}
if (problems.length > 0) {
  process.exitCode = 1;
} else {
  const checked = advisories.unavailable ? '' : 'advisories, ';
  console.log(`Dependencies pass: ${checked}licences, install scripts, integrity.`);
}
