/**
 * `npm run test:mutation:workflows`: what the guards of `workflows/agent-run` and `workflows/worktree` are worth. Each mutant
 * replays the recorded histories; those that no history notices meet the live tests of their file, all in one run of jest.
 * Prints the survivors and a table; a score below the one of `stryker.config.mjs` fails.
 *
 * Arguments: parts of file names to be measured, `--every <n>` for every n-th mutant only, `--replays` for what the histories
 * alone find, `--again` to run only what earlier runs have not found, `--minutes <n>` to end the live tests after that time (`--again`
 * continues), and `--table` for the table of earlier runs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import stryker from '../../stryker.config.mjs';
import { removeStale, runDirectory } from './stale.mjs';
import { markerOf, workflowMutants } from './workflow-mutants.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cache = join(root, '.cache');
const work = runDirectory(cache);
const bundle = join(work, 'bundle.js');
const measured = join(cache, 'mutation', 'workflows.json');
const reported = join(work, 'live.jsonl');
const directory = join(root, 'test', 'replay', 'histories');

/** Workflows with tests over live ones; of the others, replays alone would prove nothing about their messages. */
const flows = ['agent-run', 'worktree'];

/** The live tests of each file. What other ones would find does not count. */
const tests = {
  'agent-run/admission.ts': ['queue'],
  'agent-run/approvals.ts': ['approvals'],
  'agent-run/commands.ts': ['commands'],
  'agent-run/complete.ts': ['recovery'],
  'agent-run/ending.ts': ['recovery', 'callback', 'stop', 'timeout'],
  'agent-run/ensure-worktree.ts': ['worktree'],
  'agent-run/operator-view.ts': ['approvals'],
  'agent-run/orphan.ts': ['orphan'],
  'agent-run/phases.ts': ['phases'],
  'agent-run/prepare-launch.ts': ['launch', 'worktree'],
  'agent-run/proxies.ts': ['launch'],
  'agent-run/run-agent.ts': ['recovery', 'stop', 'timeout', 'launch'],
  'agent-run/run-messages.ts': ['callback', 'stop', 'timeout', 'launch'],
  'agent-run/workflow.ts': ['orphan', 'callback', 'launch', 'queue', 'timeout', 'commands'],
  'worktree/workflow.ts': ['operations', 'messages', 'unfinished'],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '600' },
    ...Object.fromEntries(['replays', 'again', 'table'].map((name) => [name, { type: 'boolean', default: false }])),
  },
});

removeStale(cache);
Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });
const histories = readdirSync(directory).map((name) => ({
  workflowId: name.replace('.json', ''),
  history: JSON.parse(readFileSync(join(directory, name), 'utf8')),
}));

const { mutants: all, code } = await workflowMutants(work);
const mutants = all
  .filter(({ file }) => flows.some((flow) => file.startsWith(`workflows/${flow}/`)))
  .map((mutant) => ({
    ...mutant,
    marker: markerOf(mutant.id),
    file: mutant.file.replace('workflows/', ''),
    text: mutant.replacement.replace(/\s+/g, ' '),
  }))
  .map((mutant) => ({ ...mutant, key: `${mutant.file}:${mutant.line}:${mutant.column} ${mutant.text}` }));
const selected = mutants
  .filter(({ file }) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .filter((_, index) => index % Number(values.every) === 0);

/** What has found each mutant, by its key: false when no history has, null when nothing has. */
const foundBy = existsSync(measured) ? JSON.parse(readFileSync(measured, 'utf8')) : {};
const wanted = values.table ? [] : selected;
const left = () => wanted.filter(({ key }) => typeof foundBy[key] !== 'string');
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
if (!values.again) {
  for (const { key } of wanted) {
    Reflect.deleteProperty(foundBy, key);
  }
}

function save() {
  // Another run measures other files meanwhile.
  const stored = existsSync(measured) ? JSON.parse(readFileSync(measured, 'utf8')) : {};
  const own = Object.fromEntries(wanted.map(({ key }) => [key, foundBy[key]]));
  mkdirSync(dirname(measured), { recursive: true });
  writeFileSync(measured, `${JSON.stringify({ ...stored, ...own }, undefined, 1)}\n`);
}

/** Every history without a mutant, then with each one that no history before it has found. */
async function* replays() {
  for (const { workflowId, history } of histories) {
    const flow = flows.find((name) => workflowId.startsWith(name));
    for (const { key, file, marker } of flow === undefined
      ? []
      : [{ key: '', file: flow, marker: 'none' }, ...wanted]) {
      if (file.startsWith(flow) && foundBy[key] === undefined) {
        yield { workflowId: `${marker}/${workflowId}`, history };
      }
    }
  }
}

async function replay() {
  const byMarker = new Map(wanted.map((mutant) => [mutant.marker, mutant]));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code } }, replays())) {
    const [marker, history] = workflowId.split('/');
    if (error && !byMarker.has(marker)) {
      throw new Error(`${history} does not replay without any mutant: ${error.message}`);
    }
    if (error) {
      foundBy[byMarker.get(marker).key] = history;
    }
  }
  for (const { key } of wanted) {
    if (foundBy[key] === undefined) {
      foundBy[key] = false;
    }
  }
}

/** Runs the tests of all mutants that are left; one that hangs has failed when its time is up. */
function runLive() {
  const byFile = {};
  for (const { file, marker } of left()) {
    for (const test of tests[file] ?? []) {
      (byFile[`${dirname(file)}/${test}`] ??= []).push(marker);
    }
  }
  const paths = Object.keys(byFile).map((test) => `test/workflows/${test}.test.ts`);
  if (paths.length === 0) {
    return;
  }
  writeFileSync(bundle, code);
  const environment = {
    ...process.env,
    TEST_WORKFLOW_BUNDLE: bundle,
    TEST_MUTANTS: JSON.stringify(byFile),
    TEST_MUTANT_RESULTS: reported,
  };
  const options = ['--env', join(root, 'scripts/mutation/mutants-environment.cjs'), '--testTimeout', '20000'];
  spawnSync(process.execPath, ['node_modules/jest/bin/jest.js', ...options, '--runTestsByPath', ...paths], {
    cwd: root,
    env: environment,
    stdio: 'ignore',
    timeout: Number(values.minutes) * 60_000,
  });
}

/** Reads what the live tests have reported so far. A mutant is measured when it was found, or all of its files have ended. */
function readLive() {
  const lines = existsSync(reported) ? readFileSync(reported, 'utf8').trim().split('\n').filter(Boolean) : [];
  const results = lines.map((line) => JSON.parse(line));
  if (results.length === 0 && left().length > 0) {
    throw new Error('The live tests have not run: see `npx jest test/workflows`.');
  }
  const failing = results.find(({ mutant }) => mutant === null);
  if (failing) {
    throw new Error(`${failing.file} fails without any mutant: ${failing.test}`);
  }
  for (const { key, file, marker } of left()) {
    const own = results.filter(({ mutant }) => mutant === marker);
    const found = own.find(({ test }) => test !== null);
    if (found) {
      foundBy[key] = `${found.file}: ${found.test}`;
    } else if (own.length === tests[file]?.length) {
      foundBy[key] = null;
    }
  }
}

await replay();
save();
if (!values.replays && wanted.length > 0) {
  runLive();
  readLive();
  save();
}

const isMeasured = ({ key }) => typeof foundBy[key] === 'string' || foundBy[key] === null;
const rows = Object.keys(tests).map((file) => {
  const own = selected.filter((mutant) => mutant.file === file && isMeasured(mutant));
  const survived = own.filter(({ key }) => foundBy[key] === null);
  const live = own.filter(({ file: of, key }) => foundBy[key]?.startsWith(`${dirname(of)}/`));
  return {
    file,
    guards: own.length,
    histories: own.length - survived.length - live.length,
    live: live.length,
    survived,
  };
});
for (const { key } of rows.flatMap(({ survived }) => survived)) {
  process.stdout.write(`SURVIVED ${key.slice(0, 160)}\n`);
}
const sum = (figure) => rows.reduce((total, row) => total + figure(row), 0);
const whole = {
  file: 'all',
  ...{
    guards: sum(({ guards }) => guards),
    histories: sum(({ histories }) => histories),
    live: sum(({ live }) => live),
  },
  survived: { length: sum(({ survived }) => survived.length) },
};
const percent = ({ guards, survived }) => (guards === 0 ? 100 : (100 * (guards - survived.length)) / guards);
const line = (cells) => `${cells.map((cell, at) => (at === 0 ? cell.padEnd(32) : cell.padStart(10))).join('')}\n`;
process.stdout.write(line(['file', 'guards', 'histories', 'live', 'survived', 'score']));
for (const row of [...rows.filter(({ guards }) => guards > 0), whole]) {
  const figures = [row.guards, row.histories, row.live, row.survived.length].map(String);
  process.stdout.write(line([row.file, ...figures, `${percent(row).toFixed(1)} %`]));
}
const unmeasured = selected.filter((mutant) => !isMeasured(mutant)).length;
if (unmeasured > 0) {
  process.stdout.write(`${unmeasured} mutants are not measured.\n`);
}
process.exit(!values.replays && (unmeasured > 0 || percent(whole) < stryker.thresholds.break) ? 1 : 0);
