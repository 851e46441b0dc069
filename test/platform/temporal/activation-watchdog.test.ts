import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '..', '..', '..');
const preload = join(root, 'dist', 'platform', 'processes', 'parts', 'preload.js');
const limitMs = 400;

/** A bundle whose workflows take a part of the limit in each call of an activation, or have an endless loop. */
const bundle = `globalThis.__webpack_module_cache__;
const until = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
let takes = 0;
const hasNone = () => false;
globalThis.__TEMPORAL__ = { preloadModules: () => undefined, api: {
  destroy: () => undefined,
  initRuntime: ({ info }) => {
    globalThis.__TEMPORAL_ACTIVATOR__ = {
      info, mutateWorkflowInfo: () => undefined, addKnownFlags: () => undefined, hasFlag: hasNone, getAndResetSinkCalls: () => [],
      errorToFailure: ({ message }) => ({ message }),
    };
  },
  activate: ({ jobs }) => { takes = jobs[0].fireTimer.seq; until(takes); },
  tryUnblockConditions: () => (until(takes), 0),
  concludeActivation: () => (until(takes), { runId: 'run', successful: {} }),
} };`;

/** Activates a workflow once for each number: so many milliseconds are taken by each call into it. */
function activate(taken: number[]): unknown {
  const code = `
    (async () => {
      const created = await require('@temporalio/worker/lib/workflow/threaded-vm').ThreadedVMWorkflowCreator.create({
        threadPoolSize: 1,
        workflowBundle: {
          code: ${JSON.stringify(bundle)},
          sourceMap: { version: 3, sources: [], names: [], mappings: '' },
          filename: 'bundle.js',
        },
        isolateExecutionTimeoutMs: ${limitMs},
        reuseV8Context: true,
        registeredActivityNames: new Set(),
        logger: new (require('@temporalio/worker').DefaultLogger)('ERROR'),
      });
      const workflow = await created.createWorkflow({ info: { runId: 'run', unsafe: {} } });
      const ended = [];
      for (const seq of ${JSON.stringify(taken)}) {
        ended.push(await workflow.activate({ runId: 'run', timestamp: { nanos: 0 }, jobs: [{ fireTimer: { seq } }] }));
      }
      return JSON.stringify(ended);
    })().then((text) => { require('node:fs').writeSync(1, text); process.exit(); });`;
  return JSON.parse(
    execFileSync(process.execPath, ['--require', preload, '-e', code], {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
    }),
  );
}

const over = { runId: 'run', failed: { failure: { message: `Script execution timed out after ${limitMs}ms` } } };
const done = { runId: 'run', successful: {} };

describe('the time of an activation of a workflow', () => {
  it('is limited as a whole, and the thread runs the next activation', () => {
    expect(activate([0, limitMs / 2, 0, 600_000, 0])).toEqual([done, over, done, over, done]);
  });
});
