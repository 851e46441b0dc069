import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '..', '..', '..');
const preload = join(root, 'dist', 'platform', 'processes', 'parts', 'preload.js');

/** A bundle whose workflows report whether the stacks of their promises are recorded. */
const bundle = `globalThis.__webpack_module_cache__; globalThis.__TEMPORAL__ = { preloadModules: () => undefined, api: {
  destroy: () => undefined,
  initRuntime: ({ stackTracesEnabled }) => { throw new Error('recorded: ' + stackTracesEnabled); },
} };`;

/** Begins a workflow in a process that is started as a part of the service, by a creator of workflows of the SDK. */
function begin(creator: string): string {
  const code = `
    (async () => {
      const workflowBundle = {
        code: ${JSON.stringify(bundle)},
        sourceMap: { version: 3, sources: [], names: [], mappings: '' },
        filename: 'bundle.js',
      };
      const created = await ${creator};
      const end = (text) => { require('node:fs').writeSync(1, text); process.exit(); };
      created.createWorkflow({ info: { runId: 'run', unsafe: {} } }).then(() => end('begun'), (error) => end(error.message));
    })();`;
  return execFileSync(process.execPath, ['--require', preload, '-e', code], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
}

const inThread = `require('@temporalio/worker/lib/workflow/threaded-vm').ThreadedVMWorkflowCreator.create({
  threadPoolSize: 1,
  workflowBundle,
  isolateExecutionTimeoutMs: 5_000,
  reuseV8Context: true,
  registeredActivityNames: new Set(),
  logger: new (require('@temporalio/worker').DefaultLogger)('ERROR'),
})`;

const inMainThread = `require('@temporalio/worker/lib/workflow/reusable-vm').ReusableVMWorkflowCreator.create(
  workflowBundle, 5_000, new Set())`;

describe('stacks of the promises of workflows', () => {
  it.each([
    ['are not recorded in a thread of workflows', inThread, 'recorded: false'],
    ['are recorded in the main thread, where workflows run to be debugged', inMainThread, 'recorded: true'],
  ])('%s', (_, creator, reported) => {
    expect(begin(creator)).toBe(reported);
  });
});
