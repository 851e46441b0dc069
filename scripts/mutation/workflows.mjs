/**
 * `npm run test:mutation:workflows`: what the guards of `workflows/agent-run` and `workflows/worktree` are worth. Each mutant
 * replays the recorded histories, and one that no history notices meets the live tests of its workflow. Survivors are
 * printed; a score below the one of `stryker.config.mjs` fails.
 *
 * Arguments: parts of file names to be measured, `--every <n>` for every n-th mutant only, and `--replays` for what the histories
 * alone find, which takes seconds a mutant.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import stryker from '../../stryker.config.mjs';
import { workflowMutants } from './workflow-mutants.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cache = join(root, '.cache');
const bundle = join(cache, 'mutation-workflow-bundle.js');
const directory = join(root, 'test', 'replay', 'histories');
/** Workflows with tests over live ones; of the others, replays alone would prove nothing about their messages. */
const flows = ['agent-run', 'worktree'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' }, replays: { type: 'boolean', default: false } },
});
const every = Number(values.every);
const replaysOnly = values.replays;

Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });
const histories = readdirSync(directory).map((name) => ({
  workflowId: name.replace('.json', ''),
  history: JSON.parse(readFileSync(join(directory, name), 'utf8')),
}));

/** The first history of the flow that the code does not replay, if there is one. */
async function contradicted(code, flow) {
  const own = histories.filter(({ workflowId }) => workflowId.startsWith(flow));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code } }, own)) {
    if (error) {
      return workflowId;
    }
  }
  return undefined;
}

/** Whether the tests over live workflows fail with the code, when they are to be run; one that hangs has failed. */
function failsLive(code, flow) {
  if (replaysOnly) {
    return false;
  }
  writeFileSync(bundle, code);
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '--bail', `test/workflows/${flow}`],
    {
      cwd: root,
      env: { ...process.env, TEST_WORKFLOW_BUNDLE: bundle },
      stdio: 'ignore',
      timeout: 180_000,
    },
  );
  return status !== 0;
}

const flowOf = (file) => flows.find((flow) => file.startsWith(`workflows/${flow}/`));
const { mutants, only } = await workflowMutants(join(cache, 'mutation-workflows'));
for (const flow of flows) {
  if ((await contradicted(only(), flow)) !== undefined || failsLive(only(), flow)) {
    throw new Error(`The tests of ${flow} fail without any mutant.`);
  }
}
const wanted = mutants
  .filter(({ file }) => flowOf(file) !== undefined)
  .filter(({ file }) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .filter((_, index) => index % every === 0);
let found = 0;
for (const { id, file, line, column, replacement } of wanted) {
  const flow = flowOf(file);
  const by = (await contradicted(only(id), flow)) ?? (failsLive(only(id), flow) ? `test/workflows/${flow}` : undefined);
  if (by !== undefined) {
    found += 1;
  }
  const text = replacement.replace(/\s+/g, ' ').slice(0, 80);
  process.stdout.write(`${by === undefined ? 'SURVIVED' : 'found   '} ${file}:${line}:${column} ${text} ${by ?? ''}\n`);
}
const score = (100 * found) / wanted.length;
process.stdout.write(`${found} of ${wanted.length} mutants found: ${score.toFixed(1)} %\n`);
process.exit(!replaysOnly && score < stryker.thresholds.break ? 1 : 0);
