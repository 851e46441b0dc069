import { eventually } from '../../../../platform/testing/eventually';
import { killPart, type Service, soonAgain, startService } from '../../../support/stack/service';
import { aPresetsFile } from '../commands-under-test';
import { callerSettings, tokenOf } from '../service-under-test';

const list = [0, 1, 2, 3, 4, 5].map(String);
const child = `digraph Child { start -> c -> w -> exit
  c [type=command, command="printf %s/ \${item}"]; w [type=wait, duration="400ms"] }`;
const schema = '{\\"type\\":\\"array\\"}';
const graph = `digraph Killed { start -> l -> m -> n -> exit
  l [type=command, command="printf %s '${JSON.stringify(list).replaceAll('"', '\\"')}'", output_schema="${schema}"]
  m [type=map, items=l_output, each=command, concurrency=2, command="sh -c 'sleep 0.3; echo $0' \${item}"]
  n [type=map, items=m_output, each=child, workflow=child, concurrency=2, vars="thing=item", output=c_output] }`;

describe('maps and child runs after kills', () => {
  it('end with every item done once, in order, whatever is killed in between', async () => {
    const presets = await aPresetsFile();
    let service: Service | undefined;
    try {
      service = await startService(
        { WORKFLOW_RUNS_PORT: '0', WORKFLOW_RUNS_CONCURRENCY: '2', ...callerSettings, ...presets.settings },
        { services: ['workflow-runs'], restart: soonAgain },
      );
      const running = service;
      const { serviceUrls } = running;
      const call = async (path: string, body?: unknown) => {
        const response = await fetch(`${serviceUrls['workflow-runs']}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${tokenOf('ann')}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: (await response.json()) as Answer };
      };
      const start = (dot_source: string, vars?: object): Promise<string> =>
        eventually(async () => {
          const { status, body } = await call('/runs', { dot_source, ...(vars && { vars }) });
          expect(status).toBe(201);
          return body.id;
        });
      const untilStatus = (id: string, status: string) =>
        eventually(async () => expect((await call(`/runs/${id}`)).body).toMatchObject({ status }), { everyMs: 100 });
      await untilStatus(await start(child.replace('${item}', '${thing}'), { thing: 'x' }), 'completed');
      const id = await start(graph);
      const stages = async () => (await call(`/runs/${id}/stages?page[limit]=100`)).body.data;
      const ended = async (parent: string): Promise<number> =>
        (await stages()).filter((stage) => stage.parent === parent && stage.status === 'completed').length;
      for (const parent of ['m', 'n']) {
        for (const done of [1, 4]) {
          await eventually(async () => expect(await ended(parent)).toBeGreaterThanOrEqual(done), { everyMs: 50 });
          killPart(running, 'workflow-runs');
        }
      }
      await untilStatus(id, 'completed');
      const { body: context } = await call(`/runs/${id}/context`);
      expect(context).toMatchObject({ m_output: list, n_output: list.map((item) => `${item}/`) });
      const items = (await stages()).filter((stage) => stage.parent !== undefined);
      expect(items.map((stage) => `${stage.id} ${stage.status}`).sort()).toEqual(
        ['m', 'n'].flatMap((parent) => list.map((index) => `${parent}:${index} completed`)),
      );
      const children = (await call(`/runs?parent=${id}&page[limit]=100`)).body.data;
      expect(children.map(({ status }) => status)).toEqual(list.map(() => 'completed'));
      expect(new Set(items.flatMap((stage) => stage.child_run ?? []))).toEqual(new Set(children.map((run) => run.id)));
    } finally {
      await service?.close();
      await presets.close();
    }
  });
});

interface Answer {
  id: string;
  data: { id: string; status: string; parent?: string; child_run?: string }[];
}
