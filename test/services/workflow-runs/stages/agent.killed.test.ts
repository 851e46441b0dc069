import { eventually } from '../../../../platform/testing/eventually';
import { scriptAgent } from '../../../support/caller';
import { aRepository } from '../../../support/git/repository';
import { killPart, type Service, soonAgain, startService } from '../../../support/stack/service';
import { type Stack, startStack } from '../../../support/stack/stack';
import { callerSettings, tokenOf } from '../service-under-test';

describe('agents of workflow runs after kills', () => {
  it('are launched once and waited for, whenever the service is killed', async () => {
    const board: Stack = await startStack();
    let service: Service | undefined;
    try {
      await board.call.addRepository('sample', await aRepository(board.dir));
      // It works for some seconds.
      await board.call.configureAgents([scriptAgent('worker-bee', '30', '200')]);
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', WORKFLOW_RUNS_BOARD_URL: board.url, ...callerSettings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const call = async (path: string, body?: unknown) => {
        const response = await fetch(`${running.serviceUrls['workflow-runs']}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return (await response.json()) as Answer;
      };
      const { id } = await call('/runs', {
        dot_source: 'digraph { start -> a -> exit; a [type=agent, repository=sample, prompt="Work"] }',
      });
      const stage = async () => (await call(`/runs/${id}/stages`)).data.find((each) => each.id === 'a');
      // Around the launch, and while the agent works.
      await eventually(async () => expect(await stage()).toBeDefined(), { everyMs: 20 });
      killPart(running, 'workflow-runs');
      const launched = await eventually(async () => {
        const { agent } = (await stage()) ?? {};
        expect(agent).toBeDefined();
        return agent!;
      });
      killPart(running, 'workflow-runs');
      await eventually(async () => expect(await call(`/runs/${id}`)).toMatchObject({ status: 'completed' }));
      expect(await stage()).toMatchObject({ status: 'completed', agent: launched, retries: 0 });
      const tasks = await board.call.ok('GET', '/api/tasks');
      expect(JSON.stringify(tasks).match(/"title":"a"/g)).toHaveLength(1);
      const { attempts } = await board.call.ok('GET', `/api/agents/${launched.task_id}/attempts`);
      expect(attempts).toMatchObject([{ id: launched.attempt_id, completion: { status: 'success' } }]);
    } finally {
      await service?.close();
      await board.close();
    }
  });
});

interface Answer {
  id: string;
  data: { id: string; agent?: { task_id: string; attempt_id: string } }[];
}
