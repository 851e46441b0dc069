import { eventually } from '../../../platform/testing/eventually';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';
import { callerSettings, type Reply, tokenOf } from './service-under-test';

const runs = 8;
const graph = (number: number): string => `digraph Killed {
  start -> p; p [shape=component]; j [shape=tripleoctagon]
  p -> a -> j; p -> w -> j; j -> b -> exit
  a [prompt="one of ${number}"]; w [type=wait, duration="1s"]; b [prompt="two: \${a_output}"]
}`;

describe('workflow runs after kills', () => {
  test('a run that was accepted ends once, with every stage done once, whatever is killed in between', async () => {
    let service: Service | undefined;
    try {
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', ...callerSettings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const { serviceUrls } = running;
      const kill = (): boolean => killPart(running, 'workflow-runs');
      const call = async (method: string, path: string, body?: unknown): Promise<Pick<Reply, 'status' | 'body'>> => {
        const response = await fetch(`${serviceUrls['workflow-runs']}${path}`, {
          method,
          headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: await response.json() };
      };
      const accepted: string[] = [];
      for (let number = 1; number <= runs; number += 1) {
        await eventually(
          async () => {
            const { status, body } = await call('POST', '/runs', { dot_source: graph(number) });
            expect(status).toBe(201);
            accepted.push(body.id);
          },
          { everyMs: 200 },
        );
        // Now and then in the middle of what the ones before are at.
        if (number % 3 === 0) {
          kill();
        }
      }
      await eventually(
        async () => {
          for (const id of accepted) {
            expect((await call('GET', `/runs/${id}`)).body.status).toBe('completed');
          }
        },
        { everyMs: 250 },
      );
      for (const id of accepted) {
        const { data } = (await call('GET', `/runs/${id}/stages`)).body;
        const done = data.map(({ id: stage, status }: { id: string; status: string }) => `${stage} ${status}`);
        expect([...done].sort()).toEqual(
          ['a', 'b', 'exit', 'j', 'p', 'start', 'w'].map((stage) => `${stage} completed`),
        );
      }
    } finally {
      await service?.close();
    }
  });
});
