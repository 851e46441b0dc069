import type { Worker } from 'node:worker_threads';
import { DefaultLogger } from '@temporalio/worker';
import { ThreadedVMWorkflowCreator } from '@temporalio/worker/lib/workflow/threaded-vm';

/** As little as a bundle of workflows must be. */
const bundle =
  'globalThis.__webpack_module_cache__; globalThis.__TEMPORAL__ = { api: { destroy: () => undefined }, preloadModules: () => undefined };';

const create = (code: string) =>
  ThreadedVMWorkflowCreator.create({
    threadPoolSize: 1,
    workflowBundle: {
      code,
      sourceMap: { version: 3, sources: [], names: [], mappings: '' } as never,
      filename: 'bundle.js',
    },
    isolateExecutionTimeoutMs: 5_000,
    reuseV8Context: true,
    registeredActivityNames: new Set(),
    logger: new DefaultLogger('ERROR'),
  });

const clientOf = (creator: ThreadedVMWorkflowCreator) => creator['workerThreadClients'][0]!;
const threadOf = (creator: ThreadedVMWorkflowCreator): Worker => clientOf(creator)['workerThread'];

/** Runs a bundle and answers its thread; a thread that other tests have used up, and that ends with this bundle, is replaced. */
const createReused = async (code: string): Promise<Worker> => {
  const creator = await create(code);
  const thread = threadOf(creator);
  await creator.destroy();
  return thread.threadId === -1 ? createReused(code) : thread;
};

describe('workflow threads', () => {
  it('run the bundle of each worker in a sandbox of its own', async () => {
    const thread = await createReused(`${bundle} globalThis.left = 'by the first'; Object.prototype.added = true;`);
    const second = await create(
      `${bundle} if (globalThis.left || {}.added) throw new Error('the sandbox is not new');`,
    );

    expect(threadOf(second) === thread).toBe(true);
    await second.destroy();
    await expect(create(`${bundle} throw new Error('another bundle');`)).rejects.toThrow('another bundle');
  });

  it('are not shared by workers that run at the same time', async () => {
    const [first, second] = await Promise.all([create(bundle), create(bundle)]);
    expect(threadOf(first) === threadOf(second)).toBe(false);
    await Promise.all([first.destroy(), second.destroy()]);
  });

  it('refuse what an ended worker sends', async () => {
    const creator = await create(bundle);
    await creator.destroy();
    await expect(clientOf(creator).send({ type: 'destroy' })).rejects.toThrow('after worker thread exited');
  });

  it('end with a worker that leaves a workflow', async () => {
    const creator = await create(bundle);
    const thread = threadOf(creator);
    clientOf(creator)['activeWorkflowCount'] = 1;
    await creator.destroy();
    expect(thread.threadId).toBe(-1);
  });
});
