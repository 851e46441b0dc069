import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { setRunTime } from '../../support/run-time';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
/** Long enough for an agent to begin on a busy machine. */
const runTimeMs = 8_000;

describe('time limit of a run', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_RUN_RETRIES: '1' });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      { ...scriptAgent('worker-bee', '1', '600000'), type: 'slow' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
    await setRunTime({ dataDir: stack.env.BOARD_DATA_DIR, mongoUrl: stack.env.MONGODB_URL }, runTimeMs);
  });
  afterAll(() => stack.close());

  test('a run that takes longer than the setting allows is ended as a timeout, wherever its agent is', async () => {
    const here = await stack.call.createTask({ title: 'Here', agent: 'slow', git: { repo: 'sample' } });
    const elsewhere = await stack.call.createTask({ title: 'Elsewhere', agent: 'elsewhere' });
    const runs = await Promise.all(
      [here, elsewhere].map(async ({ id }) => {
        const { attemptId } = await stack.call.start(id);
        // Read before the end of either: the latest attempt is its retry then.
        const { runLaunchManifest } = await stack.call.status(id);
        return { taskId: id, attemptId, runLaunchManifest };
      }),
    );
    for (const { taskId, attemptId, runLaunchManifest } of runs) {
      const url = `/api/agents/${taskId}`;
      expect(runLaunchManifest.resources.timeoutMs).toBe(runTimeMs);
      const completion = await eventually(
        async () => {
          const { attempts } = await stack.call.ok('GET', `${url}/attempts`);
          const found = attempts.find(({ id }: { id: string }) => id === attemptId);
          expect(found.state).toBe('ended');
          return found.completion;
        },
        { everyMs: 200 },
      );
      expect(completion).toMatchObject({
        status: 'failed',
        error: 'The run took longer than 8 s and was ended.',
        harness: { ended: 'timeout' },
      });
      // What the agent had written by then must not be repeated over; a run without traces is simply retried.
      const failureClass = taskId === here.id ? 'partial-side-effect' : 'timeout';
      expect(await stack.call.ok('GET', `${url}/recovery`)).toMatchObject({ attemptId, failureClass });
      const reservation = await stack.call.ok('GET', `/api/admission/${attemptId}`);
      expect(reservation).toMatchObject({ state: 'released', release: { reason: 'failed' } });
    }
  });
});
