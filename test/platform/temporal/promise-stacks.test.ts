import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '..', '..', '..');
const preload = join(root, 'dist', 'platform', 'processes', 'parts', 'preload.js');

/** A bundle whose workflows report whether the stacks of their promises are recorded. */
const bundle = `globalThis.__webpack_module_cache__; globalThis.__TEMPORAL__ = { preloadModules: () => undefined, api: {
  destroy: () => undefined,
  initRuntime: ({ stackTracesEnabled }) => { throw new Error('recorded: ' + stackTracesEnabled); },
} };`;

/** Begins a workflow in a thread of a process that is started as a part of the service. */
function begin(settings: Record<string, string>): string {
  const code = `
    (async () => {
      const workflowBundle = {
        code: ${JSON.stringify(bundle)},
        sourceMap: { version: 3, sources: [], names: [], mappings: '' },
        filename: 'bundle.js',
      };
      const created = await ${inThread};
      const end = (text) => { require('node:fs').writeSync(1, text); process.exit(); };
      created.createWorkflow({ info: { runId: 'run', unsafe: {} } }).then(() => end('begun'), (error) => end(error.message));
    })();`;
  return execFileSync(process.execPath, ['--require', preload, '-e', code], {
    cwd: root,
    env: { ...process.env, ...settings },
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

describe('stacks of the promises of workflows', () => {
  it.each([
    ['are not recorded', {}, 'recorded: false'],
    ['are not recorded where they are turned off', { TEMPORAL_CALL_STACKS: 'false' }, 'recorded: false'],
    ['are recorded where they are turned on', { TEMPORAL_CALL_STACKS: 'true' }, 'recorded: true'],
  ])('%s', (_, settings, reported) => {
    expect(begin(settings)).toBe(reported);
  });
});
